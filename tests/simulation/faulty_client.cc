#include "tests/simulation/faulty_client.h"

#include <algorithm>
#include <deque>
#include <span>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr int64_t kPromptNs = 20 * kMillisecond;
constexpr size_t kMaxBatch = 8;
// Kinds other than pods and nodes have few events. Their gaps are made more likely by this factor.
constexpr uint32_t kRareGapFactor = 5;

// A patch that owns its strings.
class OwnedPatch {
 public:
  explicit OwnedPatch(const PodStatusPatch& patch)
      : nominated_(patch.nominated_node),
        scheduled_(Keep(patch.pod_scheduled)),
        disruption_(Keep(patch.disruption_target)) {}

  PodStatusPatch View() const {
    PodStatusPatch patch;
    if (nominated_) patch.nominated_node = *nominated_;
    patch.pod_scheduled = View(scheduled_);
    patch.disruption_target = View(disruption_);
    return patch;
  }

 private:
  struct Condition {
    PodStatusPatch::Condition rest;
    std::string reason, message;
  };
  static std::optional<Condition> Keep(const std::optional<PodStatusPatch::Condition>& condition) {
    if (!condition) return std::nullopt;
    return Condition{*condition, std::string(condition->reason), std::string(condition->message)};
  }
  static std::optional<PodStatusPatch::Condition> View(const std::optional<Condition>& kept) {
    if (!kept) return std::nullopt;
    PodStatusPatch::Condition condition = kept->rest;
    condition.reason = kept->reason;
    condition.message = kept->message;
    return condition;
  }

  std::optional<std::string> nominated_;
  std::optional<Condition> scheduled_;
  std::optional<Condition> disruption_;
};

}  // namespace

// ---- Watches ------------------------------------------------------------------------------------

// One watch: receives the events of the cluster, and delays or changes them before it delivers
// them.
class FaultyClient::WatchStream final : public WatchSink {
 public:
  WatchStream(FaultyClient& client, std::string_view kind, WatchSink& sink, uint64_t number)
      : client_(client), sink_(sink), number_(number), kind_(kind) {}

  // Called by the cluster, without delay.
  void OnEvents(std::span<WatchEvent> events) override {
    for (WatchEvent& event : events) {
      if (client_.stopped_) return;
      if (!event.has_object()) {
        is_synced_ = true;
      } else {
        Apply(cluster_objects_, event);
      }
      if (!in_gap_) Send(std::move(event));
    }
  }

  std::optional<int64_t> DueNs() const {
    if (pending_.empty()) return std::nullopt;
    return pending_.front().due_ns;
  }

  // Delivers a random number of the events that are due, at least one, in one call.
  void DeliverDue() {
    std::vector<WatchEvent> batch;
    const size_t max_size = 1 + client_.random_.Below(kMaxBatch);
    while (!pending_.empty() && pending_.front().due_ns <= client_.clock_.NowNs() &&
           batch.size() < max_size) {
      batch.push_back(std::move(pending_.front().event));
      pending_.pop_front();
    }
    for (const WatchEvent& event : batch) client_.observer_.OnDelivered(event);
    sink_.OnEvents(batch);
  }

  void EndGap() {
    in_gap_ = false;
    client_.trace_.Line("client: relist ", kind_);
    sink_.OnWatchError(Status::Ok());
    const bool deletions_first = client_.random_.OneIn(2);
    if (deletions_first) SendDeletions();
    for (const auto& [key, object] : cluster_objects_) SendDifference(key, object);
    if (!deletions_first) SendDeletions();
  }

 private:
  using Objects = std::map<std::string, AnyObject, std::less<>>;
  struct PendingEvent {
    int64_t due_ns;
    WatchEvent event;
  };

  static void Apply(Objects& objects, const WatchEvent& event) {
    if (event.type == WatchType::kDeleted) {
      objects.erase(Base(event.object).Key());
    } else if (event.has_object()) {
      objects.insert_or_assign(Base(event.object).Key(), event.object);
    }
  }

  void Send(WatchEvent event) {
    const Faults& faults = client_.faults_;
    Random& random = client_.random_;
    Apply(sent_objects_, event);
    int64_t due = client_.clock_.NowNs();
    if (random.Percent(faults.late_percent)) due += random.Delay(faults.max_late_ns);
    if (!pending_.empty()) due = std::max(due, pending_.back().due_ns);
    pending_.push_back({due, event});
    const bool can_duplicate =
        event.type == WatchType::kAdded || event.type == WatchType::kModified;
    if (can_duplicate && random.Percent(faults.duplicate_percent)) {
      pending_.push_back({due, {WatchType::kModified, event.object, event.object, false}});
    }
    const bool is_rare = kind_ != kPodKind && kind_ != kNodeKind;
    const uint32_t gap_percent = faults.gap_percent * (is_rare ? kRareGapFactor : 1);
    if (is_synced_ && !in_gap_ && random.Percent(gap_percent)) BeginGap();
  }

  void BeginGap() {
    in_gap_ = true;
    client_.trace_.Line("client: the watch of ", kind_, " is lost");
    sink_.OnWatchError(Status::Unavailable("the watch was lost"));
    FaultyClient& client = client_;
    const uint64_t number = number_;
    client_.Schedule(client_.clock_.NowNs() + client_.random_.Delay(client_.faults_.max_gap_ns),
                     [&client, number] {
                       const auto stream = client.streams_.find(number);
                       if (stream != client.streams_.end()) stream->second->EndGap();
                     });
  }

  void SendDeletions() {
    std::vector<AnyObject> deleted;
    for (const auto& [key, object] : sent_objects_) {
      if (!cluster_objects_.contains(key)) deleted.push_back(object);
    }
    for (const AnyObject& object : deleted) Send({WatchType::kDeleted, object, object, true});
  }

  void SendDifference(const std::string& key, const AnyObject& object) {
    const auto sent = sent_objects_.find(key);
    if (sent == sent_objects_.end()) return Send({WatchType::kAdded, object, {}, false});
    const AnyObject before = sent->second;
    if (Base(before).resource_version() != Base(object).resource_version()) {
      return Send({WatchType::kModified, object, before, false});
    }
    if (client_.random_.Percent(client_.faults_.duplicate_percent)) {
      Send({WatchType::kModified, object, object, false});
    }
  }

  FaultyClient& client_;
  WatchSink& sink_;
  const uint64_t number_;
  const std::string kind_;
  std::deque<PendingEvent> pending_;
  Objects cluster_objects_;  // The current objects of the cluster.
  Objects sent_objects_;     // The objects of the watcher once `pending_` is empty.
  bool is_synced_ = false;
  bool in_gap_ = false;
};

// The Watch that the caller of StartWatch holds.
class FaultyClient::WatchHandle final : public Watch {
 public:
  WatchHandle(FaultyClient& client, std::string_view kind, WatchSink& sink)
      : client_(client), number_(++client.last_number_), stream_(client, kind, sink, number_) {
    client.streams_.emplace(number_, &stream_);
    watch_ = client.cluster_.StartWatch(kind, stream_);
  }
  ~WatchHandle() override { client_.streams_.erase(number_); }

 private:
  FaultyClient& client_;
  const uint64_t number_;
  WatchStream stream_;
  std::unique_ptr<Watch> watch_;
};

std::unique_ptr<Watch> FaultyClient::StartWatch(std::string_view kind, WatchSink& sink) {
  return std::make_unique<WatchHandle>(*this, kind, sink);
}

// ---- Time ---------------------------------------------------------------------------------------

FaultyClient::FaultyClient(EmbeddedCluster& cluster, const Clock& clock, Random random,
                           ClientObserver& observer, Trace& trace)
    : cluster_(cluster), clock_(clock), random_(random), observer_(observer), trace_(trace) {}

FaultyClient::~FaultyClient() {
  BERTH_ASSERT_MSG(streams_.empty(), "%zu watches outlive their client", streams_.size());
}

void FaultyClient::Schedule(int64_t at_ns, std::function<void()> callback) {
  timers_.emplace(std::pair(at_ns, ++last_number_), std::move(callback));
}

bool FaultyClient::RunOne() {
  cluster_.Deliver();
  const int64_t now = clock_.NowNs();
  std::vector<WatchStream*> due;
  for (const auto& [number, stream] : streams_) {
    if (!stopped_ && stream->DueNs().value_or(INT64_MAX) <= now) due.push_back(stream);
  }
  const bool timer_is_due = !timers_.empty() && timers_.begin()->first.first <= now;
  if (due.empty() && !timer_is_due) return false;
  const size_t which = random_.Below(due.size() + (timer_is_due ? 1 : 0));
  if (which < due.size()) {
    due[which]->DeliverDue();
  } else {
    const auto callback = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    callback();
  }
  cluster_.Deliver();
  return true;
}

std::optional<int64_t> FaultyClient::NextNs() const {
  std::optional<int64_t> next;
  const auto consider = [&next](int64_t at_ns) { next = std::min(next.value_or(at_ns), at_ns); };
  if (!timers_.empty()) consider(timers_.begin()->first.first);
  for (const auto& [number, stream] : streams_) {
    if (const auto due = stream->DueNs(); due.has_value() && !stopped_) consider(*due);
  }
  return next;
}

// ---- Requests for pods --------------------------------------------------------------------------

// Decides how the request will fail, if at all. Requests for the same pod are executed and answered
// in order.
void FaultyClient::StartRequest(const PodName& pod, PodRequestRef request) {
  request->number = ++last_number_;
  request->ns = pod.ns;
  request->name = pod.name;
  request->uid = pod.uid;
  requests_.emplace(request->number, request);
  int64_t delay = random_.Between(0, kPromptNs);
  if (stopped_) {
    request->reaches_cluster = false;
  } else if (random_.Percent(faults_.fail_percent)) {
    request->reaches_cluster = false;
    if (random_.OneIn(2)) request->failure = Status::Conflict("the object has been modified");
  } else if (random_.Percent(faults_.slow_percent)) {
    delay += random_.Delay(faults_.max_slow_ns);
  } else if (random_.Percent(faults_.lost_percent)) {
    request->has_answer = false;
    request->reaches_cluster = !random_.OneIn(3);
  }
  PodTimes& times = pod_times_[request->ns + '/' + request->name];
  times.executed_ns = std::max(times.executed_ns, clock_.NowNs() + delay);
  Schedule(times.executed_ns, [this, request] { Execute(request); });
}

void FaultyClient::Execute(const PodRequestRef& request) {
  if (!request->reaches_cluster) return OnOutcome(request, request->failure);
  request->send(request->pod(),
                [this, request](const Status& status) { OnOutcome(request, status); });
}

void FaultyClient::OnOutcome(const PodRequestRef& request, Status status) {
  if (!request->node.empty() && request->reaches_cluster) {
    trace_.Line("cluster: bind ", request->name, " to ", request->node, ": ", status.ToString());
    observer_.OnBindExecuted(request->pod(), request->node, status);
  }
  request->outcome = std::move(status);
  if (stopped_) return;  // Stop() answers.
  int64_t delay = random_.Between(0, kPromptNs);
  if (!request->has_answer) delay += random_.Delay(faults_.max_slow_ns);
  PodTimes& times = pod_times_[request->ns + '/' + request->name];
  times.completed_ns = std::max(times.completed_ns, clock_.NowNs() + delay);
  Schedule(times.completed_ns, [this, request] {
    if (!request->has_answer) {
      request->outcome =
          request->node.empty() ? Status::Unavailable("no answer") : ReadBack(*request);
    }
    Complete(request);
  });
}

// The answer to a bind request is lost. Determines from the pod whether it was executed.
Status FaultyClient::ReadBack(const PodRequest& request) const {
  const PodRef pod = cluster_.FindPod(request.ns, request.name);
  if (pod == nullptr || pod->uid() != request.uid)
    return Status::NotFound("the pod does not exist");
  if (pod->node_name() == request.node) return Status::Ok();
  if (pod->node_name().empty()) return Status::Unavailable("the binding was not executed");
  return Status::Conflict("the pod is on another node");
}

void FaultyClient::Complete(const PodRequestRef& request) {
  requests_.erase(request->number);
  if (!request->node.empty()) {
    trace_.Line("client: answer to bind ", request->name, ": ", request->outcome->ToString());
    observer_.OnBindCompleted(request->pod(), *request->outcome);
  }
  const StatusCallback done = std::move(request->done);
  if (done) done(*request->outcome);
}

void FaultyClient::Bind(const PodName& pod, std::string_view node, StatusCallback done) {
  trace_.Line("scheduler: bind ", pod.name, " to ", node);
  observer_.OnBindRequested(pod, node);
  auto request = std::make_shared<PodRequest>();
  request->node = node;
  request->send = [this, to = request->node](const PodName& name, StatusCallback answer) {
    cluster_.Bind(name, to, std::move(answer));
  };
  request->done = std::move(done);
  StartRequest(pod, std::move(request));
}

void FaultyClient::PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                                  StatusCallback done) {
  auto request = std::make_shared<PodRequest>();
  request->send = [this, kept = OwnedPatch(patch)](const PodName& name, StatusCallback answer) {
    cluster_.PatchPodStatus(name, kept.View(), std::move(answer));
  };
  request->done = std::move(done);
  StartRequest(pod, std::move(request));
}

void FaultyClient::DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                             StatusCallback done) {
  trace_.Line("scheduler: delete ", pod.name);
  auto request = std::make_shared<PodRequest>();
  request->send = [this, grace_seconds](const PodName& name, StatusCallback answer) {
    cluster_.DeletePod(name, grace_seconds, std::move(answer));
  };
  request->done = std::move(done);
  StartRequest(pod, std::move(request));
}

// ---- The end of the process ---------------------------------------------------------------------

void FaultyClient::Stop() {
  cluster_.Deliver();
  stopped_ = true;
  timers_.clear();
  const auto open = requests_;
  for (const auto& [number, request] : open) {
    if (!request->outcome && request->reaches_cluster && random_.OneIn(2)) Execute(request);
  }
  cluster_.Deliver();
  for (const auto& [number, request] : open) {
    const bool is_known = request->outcome && request->has_answer && random_.OneIn(2);
    if (!is_known) request->outcome = Status::Unavailable("the client was stopped");
    Complete(request);
  }
}

}  // namespace berth::host
