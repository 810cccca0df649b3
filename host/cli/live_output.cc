#include "host/cli/live_output.h"

#include <cerrno>
#include <string>

#include "host/base/assert.h"
#include "host/base/json_text.h"

namespace berth::host {

bool LiveOutput::Write(std::string_view text) {
  errno = 0;
  out_.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (options_.is_live) out_.flush();
  return KeepError();
}

bool LiveOutput::WriteDocument(const nlohmann::ordered_json& document) {
  BERTH_ASSERT(!is_table());
  if (options_.format == OutputFormat::kJson) return Write(DumpJson(document) + "\n");
  std::string text = "---\n";
  AppendDocument(document, OutputFormat::kYaml, text);
  return Write(text);
}

bool LiveOutput::Flush() {
  errno = 0;
  out_.flush();
  return KeepError();
}

bool LiveOutput::KeepError() {
  if (out_) return true;
  if (!error_.has_value()) error_ = errno;
  return false;
}

}  // namespace berth::host
