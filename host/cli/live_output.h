// The output of a command that prints while it runs.
#ifndef BERTH_HOST_CLI_LIVE_OUTPUT_H_
#define BERTH_HOST_CLI_LIVE_OUTPUT_H_

#include <optional>
#include <ostream>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/cli/output.h"

namespace berth::host {

// Keeps the errno of the first failure.
// Threading: one thread.
class LiveOutput {
 public:
  struct Options {
    OutputFormat format = OutputFormat::kTable;
    TerminalWidth width = {};
    bool is_live = true;  // Flush the output after each text.
  };

  // `out` must outlive this object.
  LiveOutput(std::ostream& out, Options options) : out_(out), options_(options) {}

  // Returns false if the output has failed. This applies to the next two methods too.
  bool Write(std::string_view text);
  // Writes the document on one line, or as one document of YAML.
  // REQUIRES: the format is kJson or kYaml.
  bool WriteDocument(const nlohmann::ordered_json& document);
  bool Flush();

  bool is_table() const { return options_.format == OutputFormat::kTable; }
  TerminalWidth width() const { return options_.width; }
  // The errno of the first failure; 0 if it is not known.
  int error() const { return error_.value_or(0); }

 private:
  bool KeepError();

  std::ostream& out_;
  const Options options_;
  std::optional<int> error_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_LIVE_OUTPUT_H_
