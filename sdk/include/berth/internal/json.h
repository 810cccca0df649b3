// Writes JSON at compile time: the same code runs twice, once to count the characters and once to
// write them.
#ifndef BERTH_INTERNAL_JSON_H_
#define BERTH_INTERNAL_JSON_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::internal {

class JsonWriter {
 public:
  constexpr JsonWriter() = default;  // Only counts.
  constexpr explicit JsonWriter(char* to) : to_(to) {}

  constexpr std::size_t size() const { return size_; }
  constexpr void Raw(std::string_view text) {
    for (const char c : text) Put(c);
  }
  constexpr void String(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    Put('"');
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20) {
        const auto code = static_cast<unsigned char>(c);
        Raw("\\u00");
        Put(kHex[code >> 4U]);
        Put(kHex[code & 15U]);
        continue;
      }
      if (c == '"' || c == '\\') Put('\\');
      Put(c);
    }
    Put('"');
  }
  constexpr void Integer(int64_t value) {
    char digits[20] = {};
    std::size_t count = 0;
    uint64_t rest = value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
    do {
      digits[count++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (value < 0) Put('-');
    while (count-- > 0) Put(digits[count]);
  }
  // Writes at most six decimals. REQUIRES: |value| < 2^63.
  constexpr void Float(double value) {
    constexpr int64_t kScale = 1'000'000;
    if (value < 0) {
      Put('-');
      value = -value;
    }
    auto whole = static_cast<int64_t>(value);
    // Not std::lround, which is not constexpr. The rounded value is not negative.
    // NOLINTBEGIN(bugprone-incorrect-roundings)
    auto rest = static_cast<int64_t>(
        (value - static_cast<double>(whole)) * static_cast<double>(kScale) + 0.5);
    // NOLINTEND(bugprone-incorrect-roundings)
    if (rest == kScale) {
      ++whole;
      rest = 0;
    }
    Integer(whole);
    if (rest == 0) return;
    Put('.');
    for (int64_t unit = kScale / 10; rest != 0; unit /= 10) {
      Put(static_cast<char>('0' + rest / unit));
      rest %= unit;
    }
  }
  constexpr void Bool(bool value) { Raw(value ? "true" : "false"); }

 private:
  constexpr void Put(char c) {
    if (to_ != nullptr) to_[size_] = c;
    ++size_;
  }

  char* to_ = nullptr;
  std::size_t size_ = 0;
};

// Returns the length of the text that `write(JsonWriter&)` writes.
template <class Write>
constexpr std::size_t JsonSize(const Write& write) {
  JsonWriter out;
  write(out);
  return out.size();
}

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_JSON_H_
