// What selectors may say. Decoding checks it, so that whoever matches need not.
#ifndef BERTH_HOST_API_SELECTOR_H_
#define BERTH_HOST_API_SELECTOR_H_

#include <string_view>

namespace berth::host {

// A label's key: "name" or "prefix.example.com/name" (apimachinery: IsQualifiedName).
bool IsLabelKey(std::string_view key);

// A label's value: at most 63 of [-A-Za-z0-9_.], alphanumeric at both ends, or empty
// (apimachinery: IsValidLabelValue).
bool IsLabelValue(std::string_view value);

}  // namespace berth::host

#endif  // BERTH_HOST_API_SELECTOR_H_
