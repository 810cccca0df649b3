#include "host/process/replay/recording.h"

#include <simdjson.h>

#include <cerrno>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/process/assemble/cluster_files.h"

namespace berth::host {
namespace {

// Removes the white space, so that the object is on one line.
std::string Minify(std::string_view json) {
  std::string text(json.size() + simdjson::SIMDJSON_PADDING, '\0');
  size_t size = 0;
  const auto error = simdjson::minify(json.data(), json.size(), text.data(), size);
  BERTH_ASSERT_MSG(!error, "%s", simdjson::error_message(error));
  text.resize(size);
  return text;
}

}  // namespace

Result<std::unique_ptr<Recording>> Recording::Create(const std::string& path) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return SystemError(path, errno);
  return std::unique_ptr<Recording>(new Recording(path, std::move(file)));
}

Recording::Recording(std::string path, std::ofstream file)
    : path_(std::move(path)), file_(std::move(file)) {}

void Recording::AddEvent(StreamType type, int64_t after_ns, std::string_view object_json) {
  file_ << R"({"type":")" << StreamTypeName(type) << '"';
  if (after_ns > 0) file_ << R"(,"after":")" << FormatDuration(after_ns) << '"';
  file_ << R"(,"object":)" << Minify(object_json) << "}\n";
}

void Recording::AddAttempt(int64_t after_ns) { AddEvent(StreamType::kAttempt, after_ns, "{}"); }

void Recording::AddDecision(const DecisionLine& line) {
  file_ << R"({"type":"DECISION","object":)" << DumpJson(ToJson(line)) << "}\n";
}

Status Recording::Flush() {
  file_.flush();
  return status();
}

Status Recording::status() const {
  if (file_) return {};
  return Status::Unavailable(path_ + ": the recording could not be written");
}

}  // namespace berth::host
