#include "host/cycle/scheduling_loop.h"

#include <array>
#include <utility>

#include "host/event/cluster_event.h"
#include "host/event/inbox.h"

namespace berth::host {
namespace {

// How long a binding waits for a plugin's thread before it looks at the cluster again.
constexpr int64_t kPatienceNs = 1'000'000;

}  // namespace

struct SchedulingLoop::Parts {
  Parts(Interner& the_interner, Client& the_client, Options the_options)
      : interner(the_interner),
        client(the_client),
        options(std::move(the_options)),
        cache(the_interner),
        services{.interner = the_interner,
                 .objects = objects,
                 .log = options.log,
                 .log_level = options.log_level,
                 .bind = [this](const berth_binding& binding,
                                berth_done* done) { return Bind(binding, done); },
                 .post = [this](Inbox::Task task) { inbox.Push(std::move(task)); }} {}

  berth_code Bind(const berth_binding& binding, berth_done* done) {
    const berth_meta& meta = *binding.pod->meta;
    client.Bind({interner.Text(meta.ns), Text(meta.name), Text(meta.uid)}, Text(binding.node_name),
                [done = done->shared_from_this()](const Status& status) {
                  done->Complete(status.ok() ? BERTH_SUCCESS : BERTH_ERROR, status.message());
                });
    return BERTH_PENDING;
  }

  Interner& interner;
  Client& client;
  Options options;
  ThreadWaker waker;
  Inbox inbox{&waker};  // What plugins complete on threads of their own.
  ObjectStore objects;
  Cache cache;
  HostServices services;
  std::set<std::string> pod_fields;
};

// --- where events come in -----------------------------------------------------------------------

class SchedulingLoop::PodSink final : public WatchSink {
 public:
  explicit PodSink(SchedulingLoop& loop) : loop_(loop) {}
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      if (event.type != WatchType::kSynced) loop_.OnPod(event);
    }
  }

 private:
  SchedulingLoop& loop_;
};

class SchedulingLoop::NodeSink final : public WatchSink {
 public:
  explicit NodeSink(SchedulingLoop& loop) : loop_(loop) {}
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      if (event.type != WatchType::kSynced) loop_.OnNode(event);
    }
  }

 private:
  SchedulingLoop& loop_;
};

class SchedulingLoop::ObjectSink final : public WatchSink {
 public:
  explicit ObjectSink(ObjectStore& objects) : objects_(objects) {}
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      if (event.type == WatchType::kSynced) continue;
      const auto* object = std::get_if<ObjectRef>(&event.object);
      BERTH_ASSERT(object != nullptr);
      if (event.type == WatchType::kDeleted) {
        objects_.Remove((*object)->kind(), (*object)->ns(), (*object)->name());
      } else {
        objects_.Set(*object);
      }
    }
  }

 private:
  ObjectStore& objects_;
};

// --- construction -------------------------------------------------------------------------------

Result<std::unique_ptr<SchedulingLoop>> SchedulingLoop::Create(Interner& interner, Client& client,
                                                               const PluginCatalog& catalog,
                                                               const PlanSpec& spec,
                                                               Options options) {
  auto parts = std::make_unique<Parts>(interner, client, std::move(options));
  parts->pod_fields = HandledPodFields(catalog);
  auto plan = Plan::Build(spec, catalog, parts->services, parts->cache.table());
  if (!plan.ok()) return std::move(plan).status();
  std::unique_ptr<SchedulingLoop> loop(
      new SchedulingLoop(std::move(parts), std::move(plan).value()));
  loop->StartWatches();
  return loop;
}

SchedulingLoop::SchedulingLoop(std::unique_ptr<Parts> parts, std::unique_ptr<Plan> plan)
    : parts_(std::move(parts)),
      cache_(parts_->cache),
      plan_(std::move(plan)),
      fields_(parts_->pod_fields),
      scheduler_(*plan_, cache_, fields_, parts_->options.seed),
      order_(*plan_),
      queue_(order_),
      profile_(parts_->interner.Intern(plan_->scheduler_name())) {}

SchedulingLoop::~SchedulingLoop() {
  watches_.clear();
  parts_->interner.Release(profile_);
}

// Objects and nodes first: the first cycle should find the nodes that its pod may want.
void SchedulingLoop::StartWatches() {
  const auto watch = [this](std::string_view kind, std::unique_ptr<WatchSink> sink) {
    watches_.push_back(parts_->client.StartWatch(kind, *sink));
    sinks_.push_back(std::move(sink));
  };
  std::set<std::string> kinds;
  for (const PlannedPlugin& plugin : plan_->plugins()) {
    kinds.insert(plugin.instance->info().kinds.begin(), plugin.instance->info().kinds.end());
  }
  for (const std::string& kind : kinds) {
    watch(kind, std::make_unique<ObjectSink>(parts_->objects));
  }
  watch(kNodeKind, std::make_unique<NodeSink>(*this));
  watch(kPodKind, std::make_unique<PodSink>(*this));
}

// --- events -------------------------------------------------------------------------------------

void SchedulingLoop::OnNode(const WatchEvent& event) {
  for (const NodeStep& step : ClassifyNodeEvent(event)) {
    if (step.action == WatchType::kDeleted) {
      cache_.RemoveNode(step.node->name());
    } else {
      cache_.SetNode(step.node);
    }
  }
}

void SchedulingLoop::OnPod(const WatchEvent& event) {
  NoteOthers(event);
  for (const PodStep& step : ClassifyPodEvent(event, std::array{profile_})) {
    Status status;
    switch (step.action) {
      case PodAction::kAddToQueue: Enqueue(step.pod); break;
      case PodAction::kUpdateInQueue:
        if (cache_.IsAssumed(step.pod->uid())) {
          changed_in_flight_ = step.pod;
        } else if (!queue_.Update(step.pod)) {
          Enqueue(step.pod);
        }
        break;
      case PodAction::kTakeFromQueue:
      case PodAction::kRemoveFromQueue: TakeFromQueue(step.pod->uid()); break;
      case PodAction::kAddToCache: status = cache_.AddPod(step.pod); break;
      case PodAction::kUpdateInCache: status = cache_.UpdatePod(step.pod); break;
      case PodAction::kRemoveFromCache: status = cache_.RemovePod(step.pod->uid()); break;
      case PodAction::kRemoveAnywhere:
        if (!TakeFromQueue(step.pod->uid()) && cache_.RowOf(step.pod->uid()) != kNoRow) {
          status = cache_.RemovePod(step.pod->uid());
        }
        break;
    }
    if (!status.ok() && parts_->options.log) {
      parts_->options.log(BERTH_LOG_ERROR, "", status.message());
    }
  }
}

void SchedulingLoop::Enqueue(PodRef pod) {
  queue_.Push({std::move(pod), 0, parts_->options.now_ns(), 0});
}

bool SchedulingLoop::TakeFromQueue(std::string_view uid) {
  if (changed_in_flight_ != nullptr && changed_in_flight_->uid() == uid) changed_in_flight_.reset();
  return queue_.Remove(uid);
}

void SchedulingLoop::NoteOthers(const WatchEvent& event) {
  const auto* pod = std::get_if<PodRef>(&event.object);
  BERTH_ASSERT(pod != nullptr);
  const auto* previous = std::get_if<PodRef>(&event.previous);
  if (previous != nullptr && *previous != nullptr) {
    others_pending_.erase(std::string((*previous)->uid()));
  }
  const berth_pod& view = (*pod)->view();
  const bool pending = event.type != WatchType::kDeleted && view.node_name == kNoId;
  if (pending && view.scheduler_name != profile_) others_pending_.emplace((*pod)->uid());
}

// --- decisions ----------------------------------------------------------------------------------

std::optional<AttemptResult> SchedulingLoop::ScheduleNext() {
  if (queue_.empty()) return std::nullopt;
  QueuedEntity entity = queue_.Pop();
  AttemptResult result;
  result.pod = entity.pod;
  result.decision = scheduler_.SchedulingCycle(entity.pod);
  if (result.decision.row != kNoRow) {
    result.node = BindPod(entity.pod, result.decision.row, result.decision);
  }
  scheduler_.attempt().End();
  TidyUp();
  return result;
}

// What pods bring with them, columns and texts, would pile up. A sweep looks at every text: it
// waits until half of them are of no use, so that each pays for its own.
void SchedulingLoop::TidyUp() {
  constexpr size_t kWorthASweep = 4096;
  cache_.table().DropIdleColumns(parts_->options.idle_column_bytes);
  Interner& interner = parts_->interner;
  const size_t unused = interner.unreferenced();
  if (unused >= kWorthASweep && unused >= interner.size() / 2) interner.Sweep();
}

// Waits for the answer: a pod's cycle state is alive until its binding has ended.
std::string SchedulingLoop::BindPod(PodRef pod, Row row, Decision& decision) {
  const NodeRef node = cache_.table().node(row);
  changed_in_flight_.reset();
  std::optional<PluginStatus> answer;
  BindRun run(scheduler_.attempt(), node->view(),
              [&answer](PluginStatus status) { answer = std::move(status); });
  run.Start();
  while (!answer.has_value()) {
    parts_->options.deliver();
    if (parts_->inbox.Drain() == 0) parts_->waker.Wait(kPatienceNs);
  }
  if (answer->ok()) return std::string(node->name());
  if (Status status = cache_.ForgetPod(pod->uid()); !status.ok()) {
    if (parts_->options.log) parts_->options.log(BERTH_LOG_ERROR, "", status.message());
  }
  if (changed_in_flight_ != nullptr) Enqueue(std::move(changed_in_flight_));
  decision = {.code = answer->code, .skipped = false, .message = answer->Message(), .row = kNoRow};
  return "";
}

}  // namespace berth::host
