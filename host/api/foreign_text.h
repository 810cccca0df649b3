// Recognizes texts that are no objects of Kubernetes, but that users pass as such by mistake.
#ifndef BERTH_HOST_API_FOREIGN_TEXT_H_
#define BERTH_HOST_API_FOREIGN_TEXT_H_

#include <string_view>

namespace berth::host {

// Returns what a text is that is neither JSON nor YAML, for a message: "an HTML page", "an XML
// document", "a gzip file", "a table that kubectl prints", "the output of kubectl describe" or "an
// error message of kubectl". Returns "" if the beginning of the text shows none of these.
std::string_view RecognizeForeignText(std::string_view text);

// Returns true if the first line with content cannot be the first line of a YAML document that is a
// mapping or a sequence.
bool IsPlainText(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_API_FOREIGN_TEXT_H_
