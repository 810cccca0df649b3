#include "host/base/count_text.h"

namespace berth::host {

std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string CountOf(size_t count, std::string_view noun) {
  return WithCommas(count).append(1, ' ').append(noun).append(count == 1 ? "" : "s");
}

}  // namespace berth::host
