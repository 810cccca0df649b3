#include "host/cycle/decision_sink.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "host/base/hash.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

// The level and the text of the record about a failure.
struct FailureRecord {
  uint32_t level;
  std::string_view message;
};

FailureRecord RecordOf(const Pod& pod, const Failure& failure) {
  if (failure.is_final) {
    return {BERTH_LOG_INFO, "Pod was deleted or bound meanwhile; not retrying"};
  }
  if (failure.rejection.only_awaits()) {
    return {BERTH_LOG_INFO, "Pod waits for a plugin"};
  }
  if (!failure.rejection.empty()) {
    return {BERTH_LOG_INFO, "Unable to schedule pod; no fit; waiting"};
  }
  if (pod.terminating()) return {BERTH_LOG_INFO, "Pod is being deleted; not retrying"};
  return {BERTH_LOG_ERROR, "Error scheduling pod; retrying"};
}

// Returns a hash of the parts of the text without their numbers. The order of the parts does not
// matter: messages list reasons by their text, which begins with a number of nodes.
uint64_t HashWithoutNumbers(std::string_view text) {
  std::string words;
  std::ranges::remove_copy_if(text, std::back_inserter(words), IsDigit);
  uint64_t hash = 0;
  for (std::string_view rest = words; !rest.empty();) {
    const size_t end = std::min(rest.find_first_of(",:"), rest.size());
    hash += HashBytes(TrimSpace(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return hash;
}

}  // namespace

std::optional<uint32_t> DecisionLog::TakeRepeats(const Pod& pod, std::string_view record,
                                                 std::string_view text) {
  const int64_t now_ns = clock_.NowNs();
  const uint64_t reason = HashCombine(HashBytes(record), HashWithoutNumbers(text));
  ForgetOldRecords(now_ns);
  Written& written = written_[HashBytes(pod.uid())];
  const bool is_repeat = written.reason == reason;
  if (is_repeat && now_ns - written.at_ns < kRepeatNs) {
    ++written.repeats;
    return std::nullopt;
  }
  const uint32_t repeats = is_repeat ? written.repeats : 0;
  written = {.reason = reason, .at_ns = now_ns, .repeats = 0};
  return repeats;
}

// A record that is older than kRepeatNs does not hold the next one back, but it counts repeats: it
// is kept until there are many.
void DecisionLog::ForgetOldRecords(int64_t now_ns) {
  if (written_.size() < next_sweep_) return;
  std::erase_if(written_,
                [&](const auto& item) { return now_ns - item.second.at_ns >= kRepeatNs; });
  next_sweep_ = std::max<size_t>(1024, 2 * written_.size());
}

void DecisionLog::OnAssumed(const PodRef& pod, std::string_view node) {
  if (log_.IsOn(BERTH_LOG_DEBUG)) log_.Debug("Assumed", {{"pod", pod->Key()}, {"node", node}});
  next_.OnAssumed(pod, node);
}

void DecisionLog::Forget(const Pod& pod) { written_.erase(HashBytes(pod.uid())); }

void DecisionLog::OnBound(const PodRef& pod, std::string_view node) {
  Forget(*pod);
  if (log_.IsOn(BERTH_LOG_INFO)) {
    log_.Info("Bound", {{"pod", pod->Key()}, {"node", node}, {"profile", pod->scheduler_name()}});
  }
  next_.OnBound(pod, node);
}

void DecisionLog::OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
  FailureRecord record = RecordOf(*pod, failure);
  std::optional<uint32_t> repeats = 0;
  if (log_.IsOn(record.level)) repeats = TakeRepeats(*pod, record.message, failure.message);
  if (!repeats.has_value()) record.level = BERTH_LOG_DEBUG;
  if (failure.is_final) Forget(*pod);
  if (log_.IsOn(record.level)) {
    const std::string key = pod->Key();
    const std::string count_text = std::to_string(repeats.value_or(0));
    std::array<LogField, 4> fields = {LogField{"pod", key}};
    size_t count = 1;
    if (!node.empty()) fields[count++] = {"node", node};
    const bool is_nominated =
        !failure.is_final && failure.overrides_nomination && !failure.nominated_node.empty();
    if (is_nominated) {
      fields[count++] = {"nominatedNode", failure.nominated_node};
    }
    if (repeats.value_or(0) > 0) fields[count++] = {"repeats", count_text};
    log_.Write(record.level, record.message, std::span(fields).first(count), failure.message);
  }
  next_.OnFailed(pod, node, failure);
}

void DecisionLog::OnSkipped(const PodRef& pod, std::string_view message) {
  if (log_.IsOn(BERTH_LOG_INFO)) {
    const std::string key = pod->Key();
    const LogField field{"pod", key};
    log_.Write(BERTH_LOG_INFO, "Skip schedule deleting pod", {&field, 1}, message);
  }
  next_.OnSkipped(pod, message);
}

}  // namespace berth::host
