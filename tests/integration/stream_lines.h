// Lines of a stream for `berth run`, and what it printed, for the tests of it.
#ifndef BERTH_TESTS_INTEGRATION_STREAM_LINES_H_
#define BERTH_TESTS_INTEGRATION_STREAM_LINES_H_

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace berth::host {

inline std::string NodeJson(const std::string& name, const std::string& cpu,
                            const std::string& meta = "") {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name + '"' + meta +
         R"(},"status":{"allocatable":{"cpu":")" + cpu + R"(","memory":"16Gi","pods":"110"}}})";
}

inline std::string PodJson(const std::string& name, const std::string& cpu,
                           const std::string& meta = "", const std::string& spec = "") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + '"' + meta +
         R"(},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":")" + cpu +
         R"("}}}])" + spec + "}}";
}

// Empty where there is no such file.
inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A line of a stream. `after`: "1s"; empty: at once.
inline std::string Line(const std::string& type, const std::string& object,
                        const std::string& after = "") {
  const std::string time = after.empty() ? "" : R"("after":")" + after + R"(",)";
  return R"({"type":")" + type + R"(",)" + time + R"("object":)" + object + "}\n";
}

// "2 Bound web b", one per line of JSON output; the message where there is no node.
inline std::vector<std::string> Decisions(const std::string& out) {
  std::vector<std::string> decisions;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json decision = nlohmann::json::parse(line);
    std::ostringstream text;
    const std::string pod = decision["pod"];
    text << decision["time"].get<double>() << ' ' << decision["type"].get<std::string>() << ' '
         << pod.substr(pod.find('/') + 1) << ' '
         << (decision.contains("node") ? decision["node"] : decision["message"]).get<std::string>();
    decisions.push_back(text.str());
  }
  return decisions;
}

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_STREAM_LINES_H_
