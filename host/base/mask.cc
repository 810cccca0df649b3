#include "host/base/mask.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr std::string_view kMask = "...";
constexpr std::string_view kSchemeEnd = "://";
// A value without quotes ends before one of them.
constexpr std::string_view kValueEnds = " \t\r\n\"'`<>&;,()[]{}";
constexpr std::string_view kSecretNames[] = {"token",  "secret",  "passw",     "api-key",
                                             "apikey", "api_key", "credential"};

bool IsNameByte(char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == '-'; }
bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Returns whether a word after "token: " is rather a secret than a word of a sentence.
bool LooksSecret(std::string_view word) {
  constexpr size_t kMinBytes = 8;
  constexpr std::string_view kMarks = "-._~+/=";
  const auto is_expected = [&](char c) {
    return IsLetter(c) || IsDigit(c) || kMarks.find(c) != kMarks.npos;
  };
  return word.size() >= kMinBytes && std::ranges::any_of(word, IsDigit) &&
         std::ranges::all_of(word, is_expected);
}

// Appends what remains of a URL after its scheme, without secrets.
void AppendMaskedUrl(std::string_view rest, std::string& out) {
  const size_t at = rest.rfind('@');
  if (at != rest.npos) {
    out.append(kMask);
    rest.remove_prefix(at);
  }
  // The "@" may have been in a parameter; then others follow it.
  const size_t query = rest.find_first_of(at == rest.npos ? "?#" : "?#&");
  out.append(rest.substr(0, query));
  if (query != rest.npos) out.append(1, rest[query]).append(kMask);
}

// Reads a text from its beginning to its end.
class Masker {
 public:
  explicit Masker(std::string_view text) : rest_(text) {}

  std::string Mask() {
    while (!rest_.empty()) {
      if (rest_.starts_with(kSchemeEnd)) {
        Keep(kSchemeEnd.size());
        AppendMaskedUrl(Take(rest_.find_first_of(" \t\r\n\"'`<>")), out_);
      } else if (IsNameByte(rest_.front())) {
        MaskName();
      } else {
        Keep(1);
      }
    }
    return std::move(out_);
  }

 private:
  // Removes the first `size` bytes of the rest, or all of it, and returns them.
  std::string_view Take(size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  void Keep(size_t size) { out_.append(Take(size)); }
  // Returns the size of the quote with which the rest begins, which has a backslash within a quoted
  // text: 2, 1 or 0.
  size_t QuoteSize() const {
    const size_t escape = rest_.starts_with('\\') ? 1 : 0;
    const std::string_view quote = rest_.substr(escape, 1);
    return quote == "\"" || quote == "'" ? escape + 1 : 0;
  }
  void KeepBlanks() {
    while (!rest_.empty() && IsBlank(rest_.front())) Keep(1);
  }
  std::string_view Word() const { return rest_.substr(0, rest_.find_first_of(kValueEnds)); }
  void MaskWord(std::string_view word) {
    if (!word.empty()) out_.append(kMask);
    Take(word.size());
  }

  void MaskName() {
    // A JSON Web Token begins with the encoding of {".
    const std::string_view word = Word();
    if (word.starts_with("eyJ") && word.size() >= 20) return MaskWord(word);
    const auto end = std::ranges::find_if_not(rest_, IsNameByte);
    const std::string_view name = rest_.substr(0, static_cast<size_t>(end - rest_.begin()));
    const std::string lower = ToLower(name);
    Keep(name.size());
    if (lower == "bearer" || lower == "basic") return MaskScheme();
    if (lower == "authorization") return MaskLine();
    const auto contains = [&](std::string_view part) { return lower.find(part) != lower.npos; };
    if (std::ranges::any_of(kSecretNames, contains)) MaskValue(lower);
  }

  // After "Bearer" or "Basic".
  void MaskScheme() {
    KeepBlanks();
    const std::string_view word = Word();
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const bool is_encoded =
        word.size() >= 8 && (word.ends_with('=') || std::ranges::any_of(word.substr(1), is_upper));
    if (is_encoded || LooksSecret(word)) MaskWord(word);
  }

  // After "Authorization".
  void MaskLine() {
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    const size_t value = line.find_first_not_of("\"' \t:=\\");
    if (value == line.npos || line.find_first_of(":=") >= value) return;
    Keep(value);
    MaskWord(rest_.substr(0, rest_.find('\n')));
  }

  // After the name of a secret.
  void MaskValue(std::string_view name) {
    if (name.starts_with("--") && !rest_.empty() && IsBlank(rest_.front())) {
      KeepBlanks();
      return MaskQuotedOrWord();
    }
    Keep(QuoteSize());
    const size_t separator = rest_.find_first_not_of(" \t");
    if (separator == rest_.npos || (rest_[separator] != '=' && rest_[separator] != ':')) return;
    const bool is_colon = rest_[separator] == ':';
    Keep(separator + 1);
    const bool has_blank = !rest_.empty() && IsBlank(rest_.front());
    KeepBlanks();
    const bool is_quoted = QuoteSize() != 0;
    const bool is_sentence = is_colon && has_blank && !is_quoted &&
                             name.find("passw") == name.npos && !LooksSecret(Word());
    if (!is_sentence) MaskQuotedOrWord();
  }

  void MaskQuotedOrWord() {
    const std::string quote(rest_.substr(0, QuoteSize()));
    if (quote.empty()) return MaskWord(Word());
    Keep(quote.size());
    size_t end = 0;
    while (end < rest_.size() && !rest_.substr(end).starts_with(quote)) {
      end += rest_[end] == '\\' ? 2 : 1;
    }
    MaskWord(rest_.substr(0, end));
  }

  std::string_view rest_;
  std::string out_;
};

}  // namespace

std::string MaskUrl(std::string_view url) {
  std::string out;
  const size_t scheme = url.find(kSchemeEnd);
  if (scheme != url.npos && url.substr(0, scheme).find_first_of("@?#") == url.npos) {
    out.append(url.substr(0, scheme + kSchemeEnd.size()));
    url.remove_prefix(out.size());
  }
  AppendMaskedUrl(url, out);
  return out;
}

std::string MaskSecrets(std::string_view text) { return Masker(text).Mask(); }

}  // namespace berth::host
