#include "host/cli/plugin_template.h"

#include <algorithm>
#include <vector>

#include "host/base/assert.h"

namespace berth::host {
namespace {

// Removes the text up to the next `separator` from `rest` and returns it.
std::string_view TakeUntil(char separator, std::string_view& rest) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view taken = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return taken;
}

bool AllHold(std::string_view terms, const TemplatePoints& points) {
  while (!terms.empty()) {
    std::string_view term = TakeUntil('&', terms);
    const bool wanted = !term.starts_with('!');
    if (!wanted) term.remove_prefix(1);
    if (points.contains(term) != wanted) return false;
  }
  return true;
}

bool Holds(std::string_view condition, const TemplatePoints& points) {
  while (!condition.empty()) {
    if (AllHold(TakeUntil(' ', condition), points)) return true;
  }
  return false;
}

// Returns the length of the variable name at the start of `text`, which is followed by "@". Returns
// 0 if there is none.
size_t NameLength(std::string_view text) {
  const size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return end != std::string_view::npos && text[end] == '@' ? end : 0;
}

void AppendLine(std::string_view line, const TemplateVariables& variables, std::string& out) {
  while (!line.empty()) {
    const size_t at = line.find('@');
    out += line.substr(0, at);
    if (at == std::string_view::npos) break;
    line.remove_prefix(at + 1);
    const size_t length = NameLength(line);
    if (length == 0) {
      out += '@';
      continue;
    }
    const auto found = variables.find(line.substr(0, length));
    BERTH_ASSERT(found != variables.end());
    out += found->second;
    line.remove_prefix(length + 1);
  }
  out += '\n';
}

void Close(std::vector<bool>& conditions) {
  BERTH_ASSERT(!conditions.empty());
  conditions.pop_back();
}

}  // namespace

std::string RenderTemplate(std::string_view text, const TemplateVariables& variables,
                           const TemplatePoints& points) {
  constexpr std::string_view kIf = "@if ";
  std::string out;
  // For each open @if, whether its condition and those of all enclosing @ifs are true.
  std::vector<bool> written;
  while (!text.empty()) {
    const std::string_view line = TakeUntil('\n', text);
    const bool is_active = written.empty() || written.back();
    if (line.starts_with(kIf)) {
      written.push_back(is_active && Holds(line.substr(kIf.size()), points));
    } else if (line == "@end") {
      Close(written);
    } else if (is_active) {
      AppendLine(line, variables, out);
    }
  }
  BERTH_ASSERT(written.empty());
  return out;
}

}  // namespace berth::host
