#include "host/process/assemble/decision_reporter.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "host/base/hash.h"
#include "host/base/text.h"

namespace berth::host {

std::string_view DecisionTypeName(DecisionType type) {
  constexpr std::array<std::string_view, 6> kNames = {"Bound",   "Refused", "Error",
                                                      "Skipped", "Waiting", "Gated"};
  return kNames[static_cast<size_t>(type)];
}

nlohmann::ordered_json ToJson(const DecisionLine& line) {
  nlohmann::ordered_json json = {{"time", static_cast<double>(line.time_ns) / 1e9},
                                 {"type", DecisionTypeName(line.type)},
                                 {"pod", line.pod}};
  if (!line.node.empty()) json["node"] = line.node;
  if (!line.message.empty()) json["message"] = line.message;
  return json;
}

// Each watch of pods delivers its events to its sink, then to the reporter.
class DecisionReporter::FollowedSource final : public ObjectSource {
 public:
  FollowedSource(ObjectSource& source, WatchSink& reporter)
      : source_(source), reporter_(reporter) {}

  [[nodiscard]] std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override {
    if (kind != kPodKind) return source_.StartWatch(kind, sink);
    auto both = std::make_unique<BothSinks>(sink, reporter_);
    both->watch = source_.StartWatch(kind, *both);
    return both;
  }

 private:
  struct BothSinks final : Watch, WatchSink {
    BothSinks(WatchSink& first_sink, WatchSink& second_sink)
        : first(first_sink), second(second_sink) {}

    // The first sink may move from the events, and may end the watch.
    void OnEvents(std::span<WatchEvent> events) override {
      std::vector<WatchEvent> copy(events.begin(), events.end());
      WatchSink& then = second;
      first.OnEvents(events);
      then.OnEvents(copy);
    }
    void OnWatchError(const Status& status) override { first.OnWatchError(status); }

    WatchSink& first;
    WatchSink& second;
    std::unique_ptr<Watch> watch;
  };

  ObjectSource& source_;
  WatchSink& reporter_;
};

DecisionReporter::DecisionReporter(const Clock& clock, Listener listener)
    : clock_(clock), start_ns_(clock.NowNs()), listener_(std::move(listener)) {}

DecisionReporter::~DecisionReporter() = default;

ObjectSource& DecisionReporter::Follow(ObjectSource& source) {
  WatchSink& reporter = *this;
  followed_ = std::make_unique<FollowedSource>(source, reporter);
  return *followed_;
}

void DecisionReporter::StartWatch(ObjectSource& source, const SchedulingLoop& loop) {
  loop_ = &loop;
  watch_ = source.StartWatch(kPodKind, *this);
}

void DecisionReporter::ReportWaitingPods() {
  for (const std::string& uid : std::exchange(assumed_, {})) {
    const auto binding = loop_->bindings().find(uid);
    if (binding == loop_->bindings().end() || !binding->second->is_waiting()) continue;
    Report(DecisionType::kWaiting, *binding->second->pod(), binding->second->node_name(), "");
  }
}

void DecisionReporter::ReportGatedPods() {
  std::vector<PodRef> pods;
  loop_->queue().ForEach([&pods](const QueuedEntity& entity) {
    entity.ForEachPod([&pods](const PodRef& pod) { pods.push_back(pod); });
  });
  std::ranges::sort(pods, {}, [](const PodRef& pod) { return std::pair(pod->ns(), pod->name()); });
  for (const PodRef& pod : pods) ReportIfGated(*pod);
}

void DecisionReporter::OnAssumed(const PodRef& pod, std::string_view /*node*/) {
  assumed_.emplace_back(pod->uid());
}

void DecisionReporter::OnBound(const PodRef& pod, std::string_view node) {
  ++bound_;
  Report(DecisionType::kBound, *pod, node, "");
  reported_.erase(std::string(pod->uid()));
}

void DecisionReporter::OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) {
  const bool is_error = failure.code == BERTH_ERROR;
  Report(is_error ? DecisionType::kError : DecisionType::kRefused, *pod, node, failure.message);
  if (failure.is_final) reported_.erase(std::string(pod->uid()));
}

void DecisionReporter::OnSkipped(const PodRef& pod, std::string_view message) {
  Report(DecisionType::kSkipped, *pod, "", message);
}

void DecisionReporter::OnEvents(std::span<WatchEvent> events) {
  for (const WatchEvent& event : events) {
    if (!event.has_object()) continue;
    if (event.type != WatchType::kDeleted) {
      ReportIfGated(*std::get<PodRef>(event.object));
    } else {
      reported_.erase(std::string(Base(event.object).uid()));
    }
  }
}

void DecisionReporter::ReportIfGated(const Pod& pod) {
  const QueuedEntity* entity = loop_->queue().Find(pod.uid());
  const bool is_gated = entity != nullptr && entity->gate != nullptr;
  const auto reported = reported_.find(pod.uid());
  if (!is_gated) {
    if (reported != reported_.end()) reported->second.gate.clear();
    return;
  }
  const std::string message = Join(entity->gate->reasons, ", ");
  if (reported != reported_.end() && reported->second.gate == message) return;
  reported_[std::string(pod.uid())].gate = message;
  Report(DecisionType::kGated, pod, "", message);
}

void DecisionReporter::Report(DecisionType type, const Pod& pod, std::string_view node,
                              std::string_view message) {
  DecisionLine line{.time_ns = clock_.NowNs() - start_ns_,
                    .type = type,
                    .pod = pod.Key(),
                    .node = std::string(node),
                    .message = std::string(message)};
  const uint64_t hash =
      HashBytes(line.node + '\n' + line.message) * 31 + static_cast<uint64_t>(type);
  Reported& reported = reported_[std::string(pod.uid())];
  line.is_repeated = std::exchange(reported.last_line_hash, hash) == hash;
  listener_(line);
}

}  // namespace berth::host
