// Validation of label keys and label values. Decoding validates selectors, so that matching does
// not have to.
#ifndef BERTH_HOST_API_SELECTOR_H_
#define BERTH_HOST_API_SELECTOR_H_

#include <string_view>

namespace berth::host {

// Returns whether `key` is a valid label key: "name" or "prefix.example.com/name" (apimachinery:
// IsQualifiedName).
bool IsLabelKey(std::string_view key);

// Returns whether `value` is a valid label value: empty, or at most 63 characters of
// [-A-Za-z0-9_.] that begin and end with an alphanumeric character (apimachinery:
// IsValidLabelValue).
bool IsLabelValue(std::string_view value);

}  // namespace berth::host

#endif  // BERTH_HOST_API_SELECTOR_H_
