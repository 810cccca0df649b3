// Reads label selectors as `kubectl get -l` does. The host and the test kit share this reader; the
// caller checks keys and values.
#ifndef BERTH_INTERNAL_SELECTOR_TEXT_H_
#define BERTH_INTERNAL_SELECTOR_TEXT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

namespace berth::internal {

struct TextRequirement {
  std::string key;
  uint32_t op = 0;                  // BERTH_OP_*
  std::vector<std::string> values;  // Sorted, each once.
};

// apimachinery: pkg/labels/selector.go, Lexer and Parser.
class SelectorText {
 public:
  explicit SelectorText(std::string_view text) : text_(text) {}

  // Reads the whole text. Returns false after an error, which error() describes.
  bool Read() {
    Next();
    while (token_ != Token::kEnd) {
      if (token_ != Token::kWord && token_ != Token::kNot) {
        return Expected("!, a key, or the end of the text");
      }
      if (!ReadRequirement()) return false;
      if (token_ == Token::kEnd) return true;
      if (token_ != Token::kComma) return Expected("',' or the end of the text");
      Next();
      if (token_ != Token::kWord && token_ != Token::kNot) return Expected("a key after ','");
    }
    return true;
  }
  const std::vector<TextRequirement>& requirements() const { return requirements_; }
  const std::string& error() const { return error_; }

 private:
  enum class Token : uint8_t {
    kEnd,
    kWord,
    kNot,
    kComma,
    kOpen,
    kClose,
    kEqual,
    kNotEqual,
    kGreater,
    kLess
  };

  void Next() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
    if (at_ == text_.size()) return Take(Token::kEnd, 0);
    const bool before_equal = at_ + 1 < text_.size() && text_[at_ + 1] == '=';
    switch (text_[at_]) {
      case '!': return before_equal ? Take(Token::kNotEqual, 2) : Take(Token::kNot, 1);
      case '=': return Take(Token::kEqual, before_equal ? 2 : 1);
      case ',': return Take(Token::kComma, 1);
      case '(': return Take(Token::kOpen, 1);
      case ')': return Take(Token::kClose, 1);
      case '>': return Take(Token::kGreater, 1);
      case '<': return Take(Token::kLess, 1);
      default: break;
    }
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n!=,()<>", at_), text_.size());
    Take(Token::kWord, end - at_);
  }
  void Take(Token token, std::size_t size) {
    token_ = token;
    word_ = text_.substr(at_, size);
    at_ += size;
  }

  bool ReadRequirement() {
    TextRequirement requirement;
    const bool is_negated = token_ == Token::kNot;
    if (is_negated) Next();
    if (token_ != Token::kWord) return Expected("a key");
    requirement.key = word_;
    Next();
    if (is_negated) {
      requirement.op = BERTH_OP_DOES_NOT_EXIST;
    } else if (token_ == Token::kEnd || token_ == Token::kComma) {
      requirement.op = BERTH_OP_EXISTS;
    } else if (!ReadOperator(&requirement)) {
      return false;
    }
    requirements_.push_back(std::move(requirement));
    return true;
  }

  bool ReadOperator(TextRequirement* requirement) {
    const bool is_in = token_ == Token::kWord && word_ == "in";
    const bool is_not_in = token_ == Token::kWord && word_ == "notin";
    switch (token_) {
      case Token::kEqual: requirement->op = BERTH_OP_IN; break;
      case Token::kNotEqual: requirement->op = BERTH_OP_NOT_IN; break;
      case Token::kGreater: requirement->op = BERTH_OP_GT; break;
      case Token::kLess: requirement->op = BERTH_OP_LT; break;
      default:
        if (!is_in && !is_not_in) return Expected("one of =, ==, !=, in, notin, > and <");
        requirement->op = is_in ? BERTH_OP_IN : BERTH_OP_NOT_IN;
    }
    Next();
    if (is_in || is_not_in) return ReadSet(&requirement->values);
    if (token_ == Token::kEnd || token_ == Token::kComma) {
      requirement->values.emplace_back();
      return true;
    }
    if (token_ != Token::kWord) return Expected("a value");
    requirement->values.emplace_back(word_);
    Next();
    return true;
  }

  // An empty place is the empty value: "(a,)" is "a" and "", and "()" is "".
  bool ReadSet(std::vector<std::string>* values) {
    if (token_ != Token::kOpen) return Expected("'('");
    while (true) {
      Next();
      std::string value;
      if (token_ == Token::kWord) {
        value = word_;
        Next();
      }
      values->push_back(std::move(value));
      if (token_ == Token::kClose) break;
      if (token_ != Token::kComma) return Expected("',' or ')'");
    }
    Next();
    std::sort(values->begin(), values->end());
    values->erase(std::unique(values->begin(), values->end()), values->end());
    return true;
  }

  bool Expected(std::string_view what) {
    error_ = "expected ";
    error_.append(what).append(", found ");
    if (token_ == Token::kEnd) {
      error_ += "the end of the text";
    } else {
      error_.append("\"").append(word_).append("\" at byte ");
      error_ += std::to_string(at_ - word_.size());
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;  // After the current token.
  Token token_ = Token::kEnd;
  std::string_view word_;
  std::vector<TextRequirement> requirements_;
  std::string error_;
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_SELECTOR_TEXT_H_
