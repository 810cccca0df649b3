// Test helpers that write streams for `berth replay` and read its output.
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

// Returns the content of a file; empty if it does not exist.
inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns a line of a stream. `after`: "1s"; empty: the event is due at once.
inline std::string Line(const std::string& type, const std::string& object,
                        const std::string& after = "") {
  const std::string time = after.empty() ? "" : R"("after":")" + after + R"(",)";
  return R"({"type":")" + type + R"(",)" + time + R"("object":)" + object + "}\n";
}

// Returns "2 Bound web b" for each line of JSON output; without a node, the message instead of it.
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
