#include <sys/resource.h>
#include <sys/wait.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/child_process.h"
#include "host/base/time_units.h"
#include "tests/bench/workloads/json_fields.h"
#include "tests/bench/workloads/measure.h"

namespace berth::bench {
namespace {

using host::Result;
using host::Status;

// The time limit of a run. A workload with a million nodes takes less.
constexpr int64_t kLimitNs = host::kHour;

uint64_t PeakRssBytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

std::string ErrorText(std::string_view message) {
  return nlohmann::json{{"error", message}}.dump(-1, ' ', false,
                                                 nlohmann::json::error_handler_t::replace);
}

// Returns the result or error of `measure` as JSON. Called in the child process.
std::string MeasureToJson(const std::function<Result<Measurement>()>& measure) {
  try {
    Result<Measurement> found = measure();
    if (!found.ok()) return ErrorText(found.status().message());
    found->peak_rss_bytes = PeakRssBytes();
    return FieldWriter::Write(*found).dump();
  } catch (const std::exception& error) {
    return ErrorText(error.what());
  }
}

std::string DescribeEnd(const host::ChildResult& end) {
  if (end.is_late) return "did not finish within an hour";
  if (WIFSIGNALED(end.status)) return "was ended by " + host::SignalText(WTERMSIG(end.status));
  return "ended with exit status " + std::to_string(WEXITSTATUS(end.status));
}

}  // namespace

Result<Measurement> MeasureApart(const std::function<Result<Measurement>()>& measure,
                                 const std::function<int64_t()>& steady_ns) {
  const auto end = host::RunInChild(
      [&](int pipe) { host::WriteToParent(pipe, MeasureToJson(measure)); }, kLimitNs, steady_ns);
  if (!end.ok()) return end.status();
  if (end->is_late || !WIFEXITED(end->status) || WEXITSTATUS(end->status) != EXIT_SUCCESS) {
    return Status::Internal("the measuring process " + DescribeEnd(*end));
  }
  const auto json = nlohmann::json::parse(end->text, nullptr, false);
  if (json.is_object() && json.contains("error")) {
    return Status::Internal(json["error"].get<std::string>());
  }
  Measurement found;
  const std::string error = FieldReader::Read(json, "", found);
  if (!error.empty()) return Status::Internal("the measuring process returned no result");
  return found;
}

}  // namespace berth::bench
