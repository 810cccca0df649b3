#include "host/process/shadow/shadow_event.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <variant>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/cycle/failure_handler.h"
#include "host/queue/queue_event.h"

namespace berth::host {

// --- shadow judge --------------------------------------------------------------------------------

namespace {

// Returns the position of the row in the order of the selection; nullopt if it is not selected.
std::optional<uint32_t> PositionOf(const Selection& selection, Row row) {
  uint32_t begin = 0;
  uint32_t end = selection.size();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (selection.At(middle) < row) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  const bool is_found = begin < selection.size() && selection.At(begin) == row;
  return is_found ? std::optional(begin) : std::nullopt;
}

// The weighted score of one plugin for both nodes.
struct ScorePair {
  std::string plugin;
  int64_t ours = 0;
  int64_t theirs = 0;
};

// Returns the plugins whose scores differ, the largest difference first.
std::vector<ScorePair> DifferentScores(const Attempt& attempt, const Ranked& ranked, uint32_t ours,
                                       uint32_t theirs) {
  std::vector<ScorePair> pairs;
  for (const ScoreColumn& column : ranked.columns()) {
    const int64_t our_score = column.normalized[ours] * column.weight;
    const int64_t their_score = column.normalized[theirs] * column.weight;
    if (our_score == their_score) continue;
    pairs.push_back({attempt.cycle(column.plugin).plugin().name, our_score, their_score});
  }
  std::ranges::stable_sort(pairs, std::ranges::greater(),
                           [](const ScorePair& pair) { return std::abs(pair.ours - pair.theirs); });
  return pairs;
}

std::string PluginAndReasons(const std::string& plugin, const std::string& reasons) {
  return plugin.empty() ? reasons : plugin + ": " + reasons;
}

// Judges one pod after its attempt.
class Judge {
 public:
  Judge(const SchedulingCycle& cycle, const CycleResult& result, uint32_t percentage,
        ShadowDecision& decision)
      : attempt_(cycle.attempt()),
        findings_(cycle.findings()),
        result_(result),
        percentage_(percentage),
        decision_(decision) {}

  void Run() {
    // Only with these results have all nodes been evaluated for this pod.
    const berth_code code = result_.code();
    if (code != BERTH_SUCCESS && code != BERTH_UNSCHEDULABLE && !result_.ended_at.has_value()) {
      const bool is_error = code == BERTH_ERROR || code == BERTH_SKIP;
      return Set(is_error ? ShadowVerdict::kError : ShadowVerdict::kRejected,
                 result_.failure->message);
    }
    if (!result_.failure.has_value()) decision_.ours = result_.node;
    const Row theirs = attempt_.table().FindNode(decision_.theirs);
    if (theirs == kNoRow) {
      return Set(ShadowVerdict::kRejected, "the cluster has no node " + decision_.theirs);
    }
    if (findings_.pre_filter.status.rejected()) return RejectInPreFilter();
    const std::optional<uint32_t> position = PositionOf(*findings_.filtered.feasible, theirs);
    if (!position.has_value()) return RejectInFilter(theirs);
    if (result_.ended_at.has_value()) return RejectAfterSelection(theirs);
    Compare(theirs, *position);
  }

 private:
  void Set(ShadowVerdict verdict, std::string why) {
    decision_.verdict = verdict;
    decision_.why = std::move(why);
  }

  void RejectInPreFilter() {
    const PluginStatus& status = findings_.pre_filter.status;
    const std::string plugin =
        status.plugin.has_value() ? attempt_.plan().NameOf(*status.plugin) : std::string();
    Set(ShadowVerdict::kRejected, PluginAndReasons(plugin, status.Message()));
  }

  void RejectInFilter(Row theirs) {
    if (findings_.filtered.nominated_only) {
      return Set(ShadowVerdict::kScore,
                 "the pod is nominated to " + decision_.ours + ", where it fits");
    }
    const PreFilterResult& pre_filter = findings_.pre_filter;
    if (!pre_filter.Includes(theirs)) {
      const Plan& plan = attempt_.plan();
      return Set(ShadowVerdict::kRejected,
                 PluginAndReasons(Join(pre_filter.SubsetPluginNames(plan), ", "),
                                  AbsentReason(plan, pre_filter)));
    }
    const RowVerdict& verdict = findings_.filtered.VerdictOf(theirs);
    const PluginCycle& plugin = attempt_.cycle(verdict.plugin);
    Set(ShadowVerdict::kRejected,
        PluginAndReasons(plugin.plugin().name, Join(plugin.RejectionTexts(verdict.reasons), ", ")));
  }

  // Reserve or Permit has ended the attempt on the node that was selected.
  void RejectAfterSelection(Row theirs) {
    const bool is_error = result_.code() == BERTH_ERROR;
    std::string where = result_.ended_at == Point::kReserve ? "Reserve" : "Permit";
    if (result_.row != theirs) {
      where += " on " + std::string(attempt_.table().node(result_.row)->name());
    }
    Set(is_error ? ShadowVerdict::kError : ShadowVerdict::kRejected,
        where + ": " + result_.failure->message);
  }

  void Compare(Row theirs, uint32_t their_position) {
    const std::optional<uint32_t> our_position =
        PositionOf(*findings_.filtered.feasible, result_.row);
    const Ranked& ranked = findings_.ranked;
    if (ranked.is_scored()) {
      const std::vector<int64_t> totals = ranked.Totals();
      decision_.their_total = totals[their_position];
      decision_.our_total = totals[*our_position];
    }
    if (theirs == result_.row) return Set(ShadowVerdict::kSame, "");
    if (!ranked.is_scored()) {
      return Set(ShadowVerdict::kTie, "both fit, and no plugin scores nodes");
    }
    if (decision_.their_total == decision_.our_total) {
      return Set(ShadowVerdict::kTie, "both " + std::to_string(*decision_.our_total));
    }
    std::string why = ScoreText(*our_position, their_position);
    const uint32_t fit = findings_.filtered.feasible->size();
    const auto rejected = static_cast<uint32_t>(findings_.filtered.rejected.size());
    const uint32_t found = FeasibleNodesToFind(fit + rejected, percentage_);
    if (fit <= found) return Set(ShadowVerdict::kScore, std::move(why));
    Set(ShadowVerdict::kSampled, why.append("; kube-scheduler scores only ")
                                     .append(std::to_string(found))
                                     .append(" of the ")
                                     .append(std::to_string(fit))
                                     .append(" nodes that fit"));
  }

  // "node-4 has 412 and node-1 405: ImageLocality 100 and 93"
  std::string ScoreText(uint32_t ours, uint32_t theirs) const {
    std::string text = decision_.ours + " has " + std::to_string(*decision_.our_total) + " and " +
                       decision_.theirs + " " + std::to_string(*decision_.their_total);
    std::string_view separator = ": ";
    for (const ScorePair& pair : DifferentScores(attempt_, findings_.ranked, ours, theirs)) {
      text.append(separator).append(pair.plugin).append(" ");
      text.append(std::to_string(pair.ours)).append(" and ").append(std::to_string(pair.theirs));
      separator = ", ";
    }
    return text;
  }

  const Attempt& attempt_;
  const NodeFindings& findings_;
  const CycleResult& result_;
  const uint32_t percentage_;
  ShadowDecision& decision_;
};

}  // namespace

std::string_view ShadowVerdictName(ShadowVerdict verdict) {
  constexpr std::array<std::string_view, kShadowVerdictCount> kNames = {
      "same", "tie", "order", "sampled", "score", "rejected", "error"};
  return kNames[static_cast<size_t>(verdict)];
}

bool IsAgreement(ShadowVerdict verdict) { return verdict <= ShadowVerdict::kOrder; }

bool IsUnexplained(ShadowVerdict verdict) { return verdict >= ShadowVerdict::kScore; }

uint32_t FeasibleNodesToFind(uint32_t nodes, uint32_t percentage) {
  constexpr uint32_t kMinNodes = 100;
  constexpr uint32_t kMinPercentage = 5;
  if (nodes < kMinNodes) return nodes;
  if (percentage == 0) {
    const uint32_t reduction = nodes / 125;
    percentage = reduction + kMinPercentage > 50 ? kMinPercentage : 50 - reduction;
  }
  const uint64_t part = uint64_t{nodes} * percentage / 100;
  return std::max(kMinNodes, static_cast<uint32_t>(part));
}

ShadowDecision JudgePlacement(SchedulingCycle& cycle, const PodRef& pod, std::string_view node,
                              uint32_t percentage) {
  ShadowDecision decision{.pod = pod->Key(), .theirs = std::string(node)};
  const CycleResult result = cycle.Decide(pod);
  Judge(cycle, result, percentage, decision).Run();
  return decision;
}

namespace {

bool HasNode(const PodRef& pod) { return pod->view().node_name != kNoId; }

const PodRef* PodIn(const AnyObject& object) {
  const PodRef* pod = std::get_if<PodRef>(&object);
  return pod != nullptr && *pod != nullptr ? pod : nullptr;
}

ShadowEventKind ClassifyPod(const WatchEvent& event, const PodRef& pod) {
  if (event.type != WatchType::kModified) {
    return HasNode(pod) ? ShadowEventKind::kEnvironment : ShadowEventKind::kNeutral;
  }
  const PodRef* previous = PodIn(event.previous);
  BERTH_ASSERT(previous != nullptr);
  if ((*previous)->uid() != pod->uid()) return ShadowEventKind::kEnvironment;
  if (HasNode(*previous)) {
    const bool is_same_place = HasNode(pod) && OnlyStatusChanged(**previous, *pod);
    return is_same_place ? ShadowEventKind::kNeutral : ShadowEventKind::kEnvironment;
  }
  if (HasNode(pod)) return ShadowEventKind::kPlacement;
  const std::string_view nominated = pod->nominated_node();
  const bool is_new = !nominated.empty() && nominated != (*previous)->nominated_node();
  return is_new ? ShadowEventKind::kNomination : ShadowEventKind::kNeutral;
}

std::string ObjectText(const AnyObject& object) {
  const std::string_view kind = KindOf(object);
  const std::string key = Base(object).Key();
  if (kind == kPodKind) return "pod " + key;
  if (kind == kNodeKind) return "node " + key;
  return std::string(kind.substr(kind.rfind('/') + 1)) + " " + key;
}

}  // namespace

// Receives the events of a watch of the cluster.
class ShadowClient::RoutedWatch final : public Watch, private WatchSink {
 public:
  RoutedWatch(const Receive& receive, WatchSink& sink)
      : receive_(receive), route_(std::make_shared<ShadowRoute>(ShadowRoute{&sink})) {}
  ~RoutedWatch() override { route_->sink = nullptr; }

  void Start(ObjectSource& source, std::string_view kind) {
    watch_ = source.StartWatch(kind, *this);
  }

 private:
  void OnEvents(std::span<WatchEvent> events) override {
    const std::shared_ptr<ShadowRoute> route = route_;  // The call may destroy this watch.
    receive_(route, events);
  }
  void OnWatchError(const Status& status) override {
    if (route_->sink != nullptr) route_->sink->OnWatchError(status);
  }

  const Receive& receive_;
  const std::shared_ptr<ShadowRoute> route_;
  std::unique_ptr<Watch> watch_;  // Destroyed first: no call follows.
};

ShadowClient::ShadowClient(Client cluster, Receive receive, std::function<void()> wake)
    : cluster_(cluster), receive_(std::move(receive)), wake_(std::move(wake)) {}

ShadowClient::~ShadowClient() = default;

std::unique_ptr<Watch> ShadowClient::StartWatch(std::string_view kind, WatchSink& sink) {
  auto watch = std::make_unique<RoutedWatch>(receive_, sink);
  watch->Start(cluster_.source, kind);
  return watch;
}

// ---- Requests -----------------------------------------------------------------------------------

void ShadowClient::Refuse(std::string_view what, std::function<void(Status)> answer) {
  bool is_first = false;
  {
    const std::scoped_lock lock(mutex_);
    ++refused_;
    if (!answer) return;
    is_first = refusals_.empty();
    refusals_.emplace_back([answer = std::move(answer), what = std::string(what)] {
      answer(Status::Unsupported("shadow mode writes nothing to the cluster: " + what +
                                 " was refused"));
    });
  }
  if (is_first && wake_) wake_();
}

size_t ShadowClient::Deliver() {
  std::vector<std::function<void()>> refusals;
  {
    const std::scoped_lock lock(mutex_);
    refusals.swap(refusals_);
  }
  for (const auto& refusal : refusals) refusal();
  return refusals.size();
}

size_t ShadowClient::refused() const {
  const std::scoped_lock lock(mutex_);
  return refused_;
}

void ShadowClient::Bind(const PodName& /*pod*/, std::string_view /*node*/, StatusCallback done) {
  Refuse("a binding", std::move(done));
}

void ShadowClient::PatchPodStatus(const PodName& /*pod*/, const PodStatusPatch& /*patch*/,
                                  StatusCallback done) {
  Refuse("a change of the status of a pod", std::move(done));
}

void ShadowClient::DeletePod(const PodName& /*pod*/, std::optional<int64_t> /*grace_seconds*/,
                             StatusCallback done) {
  Refuse("the deletion of a pod", std::move(done));
}

void ShadowClient::CreateEvent(Event /*event*/, StatusCallback done) {
  Refuse("an event", std::move(done));
}

void ShadowClient::Request(ApiRequest request, ResponseCallback answer) {
  if (request.verb == "GET") return cluster_.writer.Request(std::move(request), std::move(answer));
  const std::string what = request.verb + " " + request.path;
  if (!answer) return Refuse(what, {});
  Refuse(what, [answer = std::move(answer)](Status status) {
    answer(ApiResponse::None(std::move(status)));
  });
}

ShadowEventKind ClassifyShadowEvent(const WatchEvent& event) {
  if (!event.has_object()) return ShadowEventKind::kMark;
  if (const PodRef* pod = PodIn(event.object)) return ClassifyPod(event, *pod);
  const NodeRef* node = std::get_if<NodeRef>(&event.object);
  if (node == nullptr || event.type != WatchType::kModified) return ShadowEventKind::kEnvironment;
  const NodeRef& previous = std::get<NodeRef>(event.previous);
  // A change that makes no pod schedulable may keep one from being scheduled.
  const bool is_heartbeat = previous->uid() == (*node)->uid() &&
                            NodeChange(*previous, **node) == 0 &&
                            NodeChange(**node, *previous) == 0;
  return is_heartbeat ? ShadowEventKind::kNeutral : ShadowEventKind::kEnvironment;
}

WatchEvent InverseOf(const WatchEvent& event) {
  BERTH_ASSERT(event.has_object());
  switch (event.type) {
    case WatchType::kAdded: return {WatchType::kDeleted, event.object, event.object};
    case WatchType::kDeleted: return {WatchType::kAdded, event.previous, {}};
    default: return {WatchType::kModified, event.previous, event.object};
  }
}

std::string DescribeChange(const WatchEvent& event) {
  BERTH_ASSERT(event.has_object());
  const std::string object = ObjectText(event.object);
  switch (ClassifyShadowEvent(event)) {
    case ShadowEventKind::kPlacement: return object + " was bound";
    case ShadowEventKind::kNomination: return object + " was nominated";
    default: break;
  }
  switch (event.type) {
    case WatchType::kAdded: return object + " was added";
    case WatchType::kDeleted: return object + " was deleted";
    default: return object + " was changed";
  }
}

ShadowEvent::ShadowEvent(std::shared_ptr<ShadowRoute> to, WatchEvent what, int64_t now_ns)
    : route(std::move(to)),
      event(std::move(what)),
      kind(ClassifyShadowEvent(event)),
      arrived_ns(now_ns) {}

std::string_view ShadowEvent::pod_uid() const {
  if (!event.has_object()) return {};
  const PodRef* pod = PodIn(event.object);
  return pod != nullptr ? (*pod)->uid() : std::string_view();
}

bool ShadowEvent::ChangesPlacedPod() const {
  if (kind == ShadowEventKind::kPlacement || pod_uid().empty()) return false;
  if (event.type == WatchType::kAdded) return HasNode(*PodIn(event.object));
  return HasNode(*PodIn(event.previous));
}

bool ShadowEvent::IsBindingTo(std::string_view node) const {
  return kind == ShadowEventKind::kPlacement && (*PodIn(event.object))->node_name() == node;
}

ShadowDetour::~ShadowDetour() {
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    if (step->is_applied) {
      step->event->Undo();
    } else {
      step->event->Apply();
    }
  }
}

void ShadowDetour::Apply(const ShadowEvent& event) {
  event.Apply();
  steps_.push_back({&event, true});
}

void ShadowDetour::Undo(const ShadowEvent& event) {
  event.Undo();
  steps_.push_back({&event, false});
}

void ShadowEvent::Deliver(WatchEvent what) const {
  if (route->sink != nullptr) route->sink->OnEvents(std::span(&what, 1));
}

}  // namespace berth::host
