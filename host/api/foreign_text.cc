#include "host/api/foreign_text.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "host/api/json_syntax.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr size_t kMaxSearched = 4096;  // The bytes of the text that are searched for HTML.

// Returns the first line that is neither empty nor a comment, without the spaces around it.
std::string_view FirstLine(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (!line.empty() && line.front() != '#') return line;
  }
  return "";
}

// Returns true for the header of a table: "NAME   READY   STATUS   RESTARTS   AGE". Units in
// parentheses may have small letters: "NAME   CPU(cores)   MEMORY(bytes)".
bool IsTableHeader(std::string_view line) {
  constexpr std::array<std::string_view, 3> kFirst = {"NAME ", "NAMESPACE ", "LAST SEEN "};
  const auto is_first = [line](std::string_view word) { return line.starts_with(word); };
  if (!std::ranges::any_of(kFirst, is_first)) return false;
  bool in_unit = false;
  return std::ranges::all_of(line, [&in_unit](char c) {
    if (c == '(' || c == ')') in_unit = c == '(';
    const bool is_mark = std::string_view(" -_()%/.").find(c) != std::string_view::npos;
    return IsUpper(c) || IsDigit(c) || is_mark || (in_unit && IsLower(c));
  });
}

// The output of kubectl describe begins with "Name:", some spaces and a name.
bool IsDescription(std::string_view line, std::string_view text) {
  if (!line.starts_with("Name:  ")) return false;
  constexpr std::array<std::string_view, 3> kNext = {"\nNamespace:  ", "\nLabels:  ", "\nRoles:  "};
  return std::ranges::any_of(
      kNext, [text](std::string_view next) { return text.find(next) != std::string_view::npos; });
}

bool IsErrorMessage(std::string_view line) {
  constexpr std::array<std::string_view, 4> kBegins = {"Error from server",
                                                       "error: ", "Unable to connect to the server",
                                                       "The connection to the server"};
  return std::ranges::any_of(kBegins,
                             [line](std::string_view begin) { return line.starts_with(begin); });
}

}  // namespace

std::string_view RecognizeForeignText(std::string_view text) {
  if (text.starts_with("\x1f\x8b")) return "a gzip file";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string_view line = FirstLine(text);
  text = text.substr(0, kMaxSearched);
  if (line.starts_with('<') && !line.starts_with("<<")) {
    return ToLower(text).find("<html") != std::string::npos || !line.starts_with("<?xml")
               ? "an HTML page"
               : "an XML document";
  }
  if (IsTableHeader(line)) return "a table that kubectl prints";
  if (IsDescription(line, text)) return "the output of kubectl describe";
  if (IsErrorMessage(line)) return "an error message of kubectl";
  return "";
}

bool IsPlainText(std::string_view text) {
  const std::string_view line = FirstLine(text);
  // Characters that begin a collection, a quoted key, an anchor, a tag, an alias, a complex key, a
  // block scalar or a directive.
  if (line.empty() ||
      std::string_view("{[\"'&!*?|>%").find(line.front()) != std::string_view::npos) {
    return false;
  }
  if (line.starts_with("---") || line == "-" || line.starts_with("- ")) return false;
  const size_t key_end = std::min(line.find_first_of(" \t"), line.size());
  const size_t next = std::min(line.find_first_not_of(" \t", key_end), line.size());
  const std::string_view key = line.substr(0, key_end);
  return !key.ends_with(':') && !line.substr(next).starts_with(':');
}

}  // namespace berth::host
