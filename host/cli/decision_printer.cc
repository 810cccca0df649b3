#include "host/cli/decision_printer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr size_t kTimeWidth = 10;  // Up to 99999.999s.
constexpr size_t kDecisionGap = 3;

// "1.500s"
std::string Seconds(int64_t ns) {
  std::array<char, 32> text{};
  const int64_t ms = ns / kMillisecond;
  std::snprintf(text.data(), text.size(), "%lld.%03llds", static_cast<long long>(ms / 1000),
                static_cast<long long>(ms % 1000));
  return text.data();
}

std::string Sentence(const DecisionLine& line) {
  const std::string on = line.node.empty() ? "" : " on " + line.node;
  switch (line.type) {
    case DecisionType::kBound: return "bound to " + line.node;
    case DecisionType::kRefused: return "refused" + on + ": " + line.message;
    case DecisionType::kError: return "error" + on + ": " + line.message;
    case DecisionType::kSkipped: return "skipped: " + line.message;
    case DecisionType::kWaiting: return "waits for permission to be bound to " + line.node;
    case DecisionType::kGated: return "gated: " + line.message;
  }
  return line.message;
}

// Returns `text` aligned to the right in `width` characters.
std::string Right(std::string_view text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ').append(text);
}

}  // namespace

bool DecisionPrinter::Print(const DecisionLine& line) {
  if (!is_table()) return WriteDocument(ToJson(line));
  return line.is_repeated || Write(Row(line));
}

std::string DecisionPrinter::Row(const DecisionLine& line) {
  std::string text;
  const std::string gap(kDecisionGap, ' ');
  const std::string pod = Printable(line.pod);
  pod_width_ = std::max(pod_width_, CharacterCount(pod));
  if (!std::exchange(has_header_, true)) {
    text += Right("TIME", kTimeWidth) + gap + "POD" + std::string(pod_width_ - 3, ' ') + gap +
            "DECISION\n";
  }
  text += Right(Seconds(line.time_ns), kTimeWidth) + gap + pod +
          std::string(pod_width_ - CharacterCount(pod), ' ') + gap;
  AppendWrapped(Printable(Sentence(line)), kTimeWidth + pod_width_ + 2 * kDecisionGap, width(),
                text);
  return text;
}

}  // namespace berth::host
