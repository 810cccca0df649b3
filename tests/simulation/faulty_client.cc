#include "tests/simulation/faulty_client.h"

#include <algorithm>
#include <deque>
#include <span>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr int64_t kPromptNs = 20 * kMillisecond;
constexpr size_t kMaxBatch = 8;
// Of kinds of which little is told, watches would hardly ever be lost.
constexpr uint32_t kRareGapFactor = 5;

// A patch that owns its texts.
class KeptPatch {
 public:
  explicit KeptPatch(const PodStatusPatch& patch)
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

// ---- Watching -----------------------------------------------------------------------------------

// One watch: its end at the cluster, and the events that are on their way.
class FaultyClient::Pipe final : public WatchSink {
 public:
  Pipe(FaultyClient& client, std::string_view kind, WatchSink& sink, uint64_t number)
      : client_(client), sink_(sink), number_(number), kind_(kind) {}

  // What the cluster says, at once.
  void OnEvents(std::span<WatchEvent> events) override {
    for (WatchEvent& event : events) {
      if (client_.stopped_) return;
      if (event.type == WatchType::kSynced) {
        is_synced_ = true;
      } else {
        Note(truth_, event);
      }
      if (!in_gap_) Send(std::move(event));
    }
  }

  std::optional<int64_t> DueNs() const {
    if (line_.empty()) return std::nullopt;
    return line_.front().due_ns;
  }

  // Hands out what is due, or the first part of it: events of one call belong together.
  void HandOut() {
    std::vector<WatchEvent> batch;
    const size_t most = 1 + client_.dice_.Below(kMaxBatch);
    while (!line_.empty() && line_.front().due_ns <= client_.clock_.NowNs() &&
           batch.size() < most) {
      batch.push_back(std::move(line_.front().event));
      line_.pop_front();
    }
    for (const WatchEvent& event : batch) client_.observer_.OnTold(event);
    sink_.OnEvents(batch);
  }

  void EndGap() {
    in_gap_ = false;
    client_.trace_.Line("line: ", kind_, " is listed anew");
    sink_.OnTrouble(Status::Ok());
    const bool deletions_first = client_.dice_.OneIn(2);
    if (deletions_first) SendDeletions();
    for (const auto& [key, object] : truth_) SendDifference(key, object);
    if (!deletions_first) SendDeletions();
  }

 private:
  using Objects = std::map<std::string, AnyObject, std::less<>>;
  struct OnItsWay {
    int64_t due_ns;
    WatchEvent event;
  };

  static void Note(Objects& objects, const WatchEvent& event) {
    if (event.type == WatchType::kDeleted) {
      objects.erase(Base(event.object).Key());
    } else if (event.type != WatchType::kSynced) {
      objects.insert_or_assign(Base(event.object).Key(), event.object);
    }
  }

  void Send(WatchEvent event) {
    const Faults& faults = client_.faults_;
    Dice& dice = client_.dice_;
    Note(sent_, event);
    int64_t due = client_.clock_.NowNs();
    if (dice.Percent(faults.late_percent)) due += dice.Delay(faults.max_late_ns);
    if (!line_.empty()) due = std::max(due, line_.back().due_ns);
    line_.push_back({due, event});
    const bool is_there = event.type == WatchType::kAdded || event.type == WatchType::kModified;
    if (is_there && dice.Percent(faults.doubled_percent)) {
      line_.push_back({due, {WatchType::kModified, event.object, event.object, false}});
    }
    const bool is_rare = kind_ != kPodKind && kind_ != kNodeKind;
    const uint32_t gap_percent = faults.gap_percent * (is_rare ? kRareGapFactor : 1);
    if (is_synced_ && !in_gap_ && dice.Percent(gap_percent)) BeginGap();
  }

  void BeginGap() {
    in_gap_ = true;
    client_.trace_.Line("line: the watch of ", kind_, " is lost");
    sink_.OnTrouble(Status::Unavailable("the watch was lost"));
    FaultyClient& client = client_;
    const uint64_t number = number_;
    client_.At(client_.clock_.NowNs() + client_.dice_.Delay(client_.faults_.max_gap_ns),
               [&client, number] {
                 const auto pipe = client.pipes_.find(number);
                 if (pipe != client.pipes_.end()) pipe->second->EndGap();
               });
  }

  void SendDeletions() {
    std::vector<AnyObject> gone;
    for (const auto& [key, object] : sent_) {
      if (!truth_.contains(key)) gone.push_back(object);
    }
    for (const AnyObject& object : gone) Send({WatchType::kDeleted, object, object, true});
  }

  void SendDifference(const std::string& key, const AnyObject& object) {
    const auto sent = sent_.find(key);
    if (sent == sent_.end()) return Send({WatchType::kAdded, object, {}, false});
    const AnyObject before = sent->second;
    if (Base(before).resource_version() != Base(object).resource_version()) {
      return Send({WatchType::kModified, object, before, false});
    }
    if (client_.dice_.Percent(client_.faults_.doubled_percent)) {
      Send({WatchType::kModified, object, object, false});
    }
  }

  FaultyClient& client_;
  WatchSink& sink_;
  const uint64_t number_;
  const std::string kind_;
  std::deque<OnItsWay> line_;
  Objects truth_;  // As the cluster has told us.
  Objects sent_;   // As the watcher will know it when the line is empty.
  bool is_synced_ = false;
  bool in_gap_ = false;
};

// What the watcher holds.
class FaultyClient::PipeEnd final : public Watch {
 public:
  PipeEnd(FaultyClient& client, std::string_view kind, WatchSink& sink)
      : client_(client), number_(++client.last_number_), pipe_(client, kind, sink, number_) {
    client.pipes_.emplace(number_, &pipe_);
    watch_ = client.cluster_.StartWatch(kind, pipe_);
  }
  ~PipeEnd() override { client_.pipes_.erase(number_); }

 private:
  FaultyClient& client_;
  const uint64_t number_;
  Pipe pipe_;
  std::unique_ptr<Watch> watch_;
};

std::unique_ptr<Watch> FaultyClient::StartWatch(std::string_view kind, WatchSink& sink) {
  return std::make_unique<PipeEnd>(*this, kind, sink);
}

// ---- Time ---------------------------------------------------------------------------------------

FaultyClient::FaultyClient(EmbeddedCluster& cluster, const Clock& clock, Dice dice,
                           LineObserver& observer, Trace& trace)
    : cluster_(cluster), clock_(clock), dice_(dice), observer_(observer), trace_(trace) {}

FaultyClient::~FaultyClient() {
  BERTH_ASSERT_MSG(pipes_.empty(), "%zu watches outlive their client", pipes_.size());
}

void FaultyClient::At(int64_t at_ns, std::function<void()> happen) {
  agenda_.emplace(std::pair(at_ns, ++last_number_), std::move(happen));
}

bool FaultyClient::HappenOne() {
  cluster_.Deliver();
  const int64_t now = clock_.NowNs();
  std::vector<Pipe*> due;
  for (const auto& [number, pipe] : pipes_) {
    if (!stopped_ && pipe->DueNs().value_or(INT64_MAX) <= now) due.push_back(pipe);
  }
  const bool agenda_is_due = !agenda_.empty() && agenda_.begin()->first.first <= now;
  if (due.empty() && !agenda_is_due) return false;
  const size_t which = dice_.Below(due.size() + (agenda_is_due ? 1 : 0));
  if (which < due.size()) {
    due[which]->HandOut();
  } else {
    const auto happen = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    happen();
  }
  cluster_.Deliver();
  return true;
}

std::optional<int64_t> FaultyClient::NextNs() const {
  std::optional<int64_t> next;
  const auto consider = [&next](int64_t at_ns) { next = std::min(next.value_or(at_ns), at_ns); };
  if (!agenda_.empty()) consider(agenda_.begin()->first.first);
  for (const auto& [number, pipe] : pipes_) {
    if (const auto due = pipe->DueNs(); due.has_value() && !stopped_) consider(*due);
  }
  return next;
}

// ---- Requests for pods --------------------------------------------------------------------------

// Decides what becomes of it; what comes before it for the same pod is carried out, and answered,
// before.
void FaultyClient::Begin(const PodName& pod, OrderRef order) {
  order->number = ++last_number_;
  order->ns = pod.ns;
  order->name = pod.name;
  order->uid = pod.uid;
  orders_.emplace(order->number, order);
  int64_t delay = dice_.Between(0, kPromptNs);
  if (stopped_) {
    order->arrives = false;
  } else if (dice_.Percent(faults_.refused_percent)) {
    order->arrives = false;
    if (dice_.OneIn(2)) order->refusal = Status::Conflict("the object has been modified");
  } else if (dice_.Percent(faults_.slow_percent)) {
    delay += dice_.Delay(faults_.max_slow_ns);
  } else if (dice_.Percent(faults_.lost_percent)) {
    order->is_answered = false;
    order->arrives = !dice_.OneIn(3);
  }
  PodLine& line = lines_[order->ns + '/' + order->name];
  line.carried_out_ns = std::max(line.carried_out_ns, clock_.NowNs() + delay);
  At(line.carried_out_ns, [this, order] { CarryOut(order); });
}

void FaultyClient::CarryOut(const OrderRef& order) {
  if (!order->arrives) return OnOutcome(order, order->refusal);
  order->ask(order->pod(), [this, order](const Status& status) { OnOutcome(order, status); });
}

void FaultyClient::OnOutcome(const OrderRef& order, Status status) {
  if (!order->node.empty() && order->arrives) {
    trace_.Line("cluster: bind ", order->name, " to ", order->node, ": ", status.ToString());
    observer_.OnBindCarriedOut(order->pod(), order->node, status);
  }
  order->outcome = std::move(status);
  if (stopped_) return;  // Stop() answers.
  int64_t delay = dice_.Between(0, kPromptNs);
  if (!order->is_answered) delay += dice_.Delay(faults_.max_slow_ns);
  PodLine& line = lines_[order->ns + '/' + order->name];
  line.answered_ns = std::max(line.answered_ns, clock_.NowNs() + delay);
  At(line.answered_ns, [this, order] {
    if (!order->is_answered) {
      order->outcome = order->node.empty() ? Status::Unavailable("no answer") : ReadBack(*order);
    }
    Reply(order);
  });
}

// Nobody knows whether it was carried out: what the pod looks like tells.
Status FaultyClient::ReadBack(const Order& order) const {
  const PodRef pod = cluster_.FindPod(order.ns, order.name);
  if (pod == nullptr || pod->uid() != order.uid) return Status::NotFound("there is no such pod");
  if (pod->node_name() == order.node) return Status::Ok();
  if (pod->node_name().empty()) return Status::Unavailable("it was not carried out");
  return Status::Conflict("it is on another node");
}

void FaultyClient::Reply(const OrderRef& order) {
  orders_.erase(order->number);
  if (!order->node.empty()) {
    trace_.Line("line: answer to bind ", order->name, ": ", order->outcome->ToString());
    observer_.OnBindAnswered(order->pod(), *order->outcome);
  }
  const Done done = std::move(order->done);
  if (done) done(*order->outcome);
}

void FaultyClient::Bind(const PodName& pod, std::string_view node, Done done) {
  trace_.Line("scheduler: bind ", pod.name, " to ", node);
  observer_.OnBindAsked(pod, node);
  auto order = std::make_shared<Order>();
  order->node = node;
  order->ask = [this, to = order->node](const PodName& name, Done answer) {
    cluster_.Bind(name, to, std::move(answer));
  };
  order->done = std::move(done);
  Begin(pod, std::move(order));
}

void FaultyClient::PatchPodStatus(const PodName& pod, const PodStatusPatch& patch, Done done) {
  auto order = std::make_shared<Order>();
  order->ask = [this, kept = KeptPatch(patch)](const PodName& name, Done answer) {
    cluster_.PatchPodStatus(name, kept.View(), std::move(answer));
  };
  order->done = std::move(done);
  Begin(pod, std::move(order));
}

void FaultyClient::DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds, Done done) {
  trace_.Line("scheduler: delete ", pod.name);
  auto order = std::make_shared<Order>();
  order->ask = [this, grace_seconds](const PodName& name, Done answer) {
    cluster_.DeletePod(name, grace_seconds, std::move(answer));
  };
  order->done = std::move(done);
  Begin(pod, std::move(order));
}

// ---- All else -----------------------------------------------------------------------------------

void FaultyClient::CreateEvent(Event event, Done done) {
  cluster_.CreateEvent(std::move(event), std::move(done));
}

void FaultyClient::GetLease(std::string_view ns, std::string_view name, Answer<Lease> answer) {
  cluster_.GetLease(ns, name, std::move(answer));
}

void FaultyClient::CreateLease(const Lease& lease, Answer<Lease> answer) {
  cluster_.CreateLease(lease, std::move(answer));
}

void FaultyClient::UpdateLease(const Lease& lease, Answer<Lease> answer) {
  cluster_.UpdateLease(lease, std::move(answer));
}

void FaultyClient::Request(ApiRequest request, Answer<std::string> answer) {
  cluster_.Request(std::move(request), std::move(answer));
}

void FaultyClient::Stop() {
  cluster_.Deliver();
  stopped_ = true;
  agenda_.clear();
  const auto open = orders_;
  for (const auto& [number, order] : open) {
    if (!order->outcome && order->arrives && dice_.OneIn(2)) CarryOut(order);
  }
  cluster_.Deliver();
  for (const auto& [number, order] : open) {
    const bool is_known = order->outcome && order->is_answered && dice_.OneIn(2);
    if (!is_known) order->outcome = Status::Unavailable("the client was stopped");
    Reply(order);
  }
}

}  // namespace berth::host
