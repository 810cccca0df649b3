#include "host/config/toml_limits.h"

#include <algorithm>

namespace berth::host {
namespace {

class Scanner {
 public:
  Scanner(std::string_view text, size_t max_depth, size_t max_key_parts)
      : text_(text), max_depth_(max_depth), max_key_parts_(max_key_parts) {}

  std::optional<TomlExcess> Scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        SkipString(c);
        continue;
      }
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      ++at_;
      if (c == '.' && ++dots_ >= max_key_parts_) return TomlExcess{line_, true};
      if (c == '[' || c == '{') {
        // The two brackets of [[header]] count too, so allow one more.
        if (++depth_ > max_depth_ + 1) return TomlExcess{line_, false};
      } else if (c == ']' || c == '}') {
        if (depth_ > 0) --depth_;
      }
      if (c == '\n') ++line_;
      if (c == '\n' || c == ',' || c == '=' || c == '[' || c == '{') dots_ = 0;
    }
    return std::nullopt;
  }

 private:
  bool AtQuotes(char quote, size_t count) const {
    if (text_.size() - at_ < count) return false;
    return std::ranges::all_of(text_.substr(at_, count), [quote](char c) { return c == quote; });
  }

  // A single-line string that is not closed ends with its line: the parser reports that error.
  void SkipString(char quote) {
    const bool many_lines = AtQuotes(quote, 3);
    at_ += many_lines ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        if (!many_lines) return;
        ++line_;
      } else if (c == '\\' && quote == '"') {
        SkipEscaped(many_lines);
      } else if (c == quote && (!many_lines || AtQuotes(quote, 3))) {
        SkipEnd(quote, many_lines);
        return;
      }
    }
  }

  // The end of a line is not escaped by a backslash.
  void SkipEscaped(bool many_lines) {
    if (at_ + 1 >= text_.size() || text_[at_ + 1] == '\n') return;
    if (many_lines || text_[at_ + 1] != '\r') ++at_;
  }

  // Skips the end of a string. A multi-line string may end with one or two quotes of its own
  // directly before the three closing quotes.
  void SkipEnd(char quote, bool many_lines) {
    at_ += many_lines ? 3 : 1;
    for (int i = 0; many_lines && i < 2 && AtQuotes(quote, 1); ++i) ++at_;
  }

  std::string_view text_;
  size_t max_depth_;
  size_t max_key_parts_;
  size_t at_ = 0;
  size_t depth_ = 0;
  size_t dots_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

std::optional<TomlExcess> FindTomlExcess(std::string_view text, size_t max_depth,
                                         size_t max_key_parts) {
  return Scanner(text, max_depth, max_key_parts).Scan();
}

}  // namespace berth::host
