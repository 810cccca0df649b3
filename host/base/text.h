// Conversions between berth_str and std::string_view, and the joining of texts.
#ifndef BERTH_HOST_BASE_TEXT_H_
#define BERTH_HOST_BASE_TEXT_H_

#include <span>
#include <string>
#include <string_view>

#include <berth/abi.h>

namespace berth::host {

// Text and AsStr return views without copying.
// Lifetime: that of the argument's characters.
constexpr std::string_view Text(berth_str text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

constexpr berth_str AsStr(std::string_view text) { return {text.data(), text.size()}; }

// Returns the texts with `separator` between them, such as "a, b, c".
inline std::string Join(std::span<const std::string> texts, std::string_view separator) {
  std::string joined;
  for (const std::string& text : texts) {
    if (&text != texts.data()) joined += separator;
    joined += text;
  }
  return joined;
}

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_TEXT_H_
