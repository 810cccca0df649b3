// Texts: between the boundary's form and ours, and joined to messages.
#ifndef BERTH_HOST_BASE_TEXT_H_
#define BERTH_HOST_BASE_TEXT_H_

#include <span>
#include <string>
#include <string_view>

#include <berth/abi.h>

namespace berth::host {

// Both borrow. Lifetime: that of what they are made from.
constexpr std::string_view Text(berth_str text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

constexpr berth_str AsStr(std::string_view text) { return {text.data(), text.size()}; }

// "a, b, c", with `separator` between the texts.
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
