#include "host/cluster/kubernetes/kubernetes_client.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "host/base/assert.h"
#include "host/base/executor.h"
#include "host/cluster/kubernetes/write/request_sender.h"

namespace berth::host {
namespace {

// How old the counts are at most that other threads read.
constexpr int64_t kPublishNs = 1'000'000'000;

Status ClientStoppedError() { return Status::Unavailable("the client was stopped"); }

// Numbers that one thread counts and others read.
template <class T>
class Published {
 public:
  T Get() const {
    const std::scoped_lock lock(mutex_);
    return value_;
  }
  void Set(const T& value) {
    const std::scoped_lock lock(mutex_);
    value_ = value;
  }

 private:
  mutable std::mutex mutex_;
  T value_;  // Guarded by mutex_.
};

// Names a pod in a task.
struct OwnedPodName {
  explicit OwnedPodName(const PodName& pod) : ns(pod.ns), name(pod.name), uid(pod.uid) {}
  PodName Get() const { return {ns, name, uid}; }

  std::string ns;
  std::string name;
  std::string uid;
};

// A patch in a task.
class OwnedPatch {
 public:
  explicit OwnedPatch(const PodStatusPatch& patch)
      : patch_(patch),
        nominated_node_(patch.nominated_node.value_or("")),
        pod_scheduled_(patch.pod_scheduled),
        disruption_target_(patch.disruption_target) {}

  // The result refers to this object.
  PodStatusPatch Get() const {
    PodStatusPatch patch = patch_;
    if (patch.nominated_node) patch.nominated_node = nominated_node_;
    pod_scheduled_.Set(patch.pod_scheduled);
    disruption_target_.Set(patch.disruption_target);
    return patch;
  }

 private:
  struct Texts {
    explicit Texts(const std::optional<PodStatusPatch::Condition>& condition)
        : reason(condition ? condition->reason : ""),
          message(condition ? condition->message : "") {}
    void Set(std::optional<PodStatusPatch::Condition>& condition) const {
      if (!condition) return;
      condition->reason = reason;
      condition->message = message;
    }

    std::string reason;
    std::string message;
  };

  const PodStatusPatch patch_;
  const std::string nominated_node_;
  const Texts pod_scheduled_;
  const Texts disruption_target_;
};

// Waits for the end of work on several threads. Each piece of work holds a token. Work that is
// dropped, because its executor has ended, releases its token as well, so that Wait() does not wait
// for it.
// Threading: any.
// Lifetime:  a shared_ptr owns it; the tokens share it.
class StopLatch : public std::enable_shared_from_this<StopLatch> {
 public:
  StopLatch() = default;
  StopLatch(const StopLatch&) = delete;
  StopLatch& operator=(const StopLatch&) = delete;

  // The work has ended when the last copy of the token was destroyed.
  std::shared_ptr<void> NewToken() {
    const std::scoped_lock lock(mutex_);
    ++open_;
    return {nullptr, [self = shared_from_this()](void*) { self->Release(); }};
  }
  bool is_done() const {
    const std::scoped_lock lock(mutex_);
    return open_ == 0;
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
  }

 private:
  void Release() {
    const std::scoped_lock lock(mutex_);
    --open_;
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t open_ = 0;  // Guarded by mutex_.
};

// Runs `task(*part)` on the executor of the part.
template <class Part, class Task>
void PostTo(const std::shared_ptr<Part>& part, Task task) {
  part->executor().Post([part, task = std::move(task)]() mutable { task(*part); });
}

}  // namespace

// ---- The thread of the writes -------------------------------------------------------------------

class KubernetesClient::Writes {
 public:
  Writes(const Options& options, uint64_t seed, Log log)
      : executor_(*options.writes.executor),
        pods_(*options.writes.transport, executor_, *options.fence, WithSeed(options.pods, seed),
              log),
        requests_(*options.writes.transport, executor_, *options.fence,
                  options.max_plugin_requests),
        timer_(executor_) {}

  Executor& executor() { return executor_; }
  // Any thread.
  PodWriterCounts counts() const { return counts_.Get(); }
  size_t open_bindings() const { return *open_bindings_; }
  // Counts a binding from now on until its callback, which this function returns, is called.
  StatusCallback CountBinding(StatusCallback done) {
    ++*open_bindings_;
    return [open = open_bindings_, done = std::move(done)](Status outcome) {
      --*open;
      if (done) done(std::move(outcome));
    };
  }

  // Called for each request: its outcome changes the counts.
  PodWriter& UsePods() {
    if (!timer_.is_running()) Publish();
    return pods_;
  }
  RequestSender& requests() { return requests_; }

  void Stop(int64_t limit_ns, const std::shared_ptr<void>& end) {
    requests_.Stop(limit_ns, [end] {});
    pods_.Stop(limit_ns, [this, end] {
      timer_.Stop();
      counts_.Set(pods_.counts());
      has_ended_ = true;
    });
  }

 private:
  static PodWriter::Options WithSeed(PodWriter::Options options, uint64_t seed) {
    options.seed = seed;
    return options;
  }
  // Publishes the counts, until no request is open.
  void Publish() {
    counts_.Set(pods_.counts());
    if (has_ended_) return;
    timer_.StartAfter(kPublishNs, [this] {
      counts_.Set(pods_.counts());
      if (pods_.open() > 0) Publish();
    });
  }

  Executor& executor_;
  PodWriter pods_;
  RequestSender requests_;
  OwnedTimer timer_;
  bool has_ended_ = false;
  Published<PodWriterCounts> counts_;
  // Shared with the callbacks, which may be destroyed after this object.
  const std::shared_ptr<std::atomic<size_t>> open_bindings_ =
      std::make_shared<std::atomic<size_t>>(0);
};

// ---- The thread of the events -------------------------------------------------------------------

class KubernetesClient::Events {
 public:
  Events(const Options& options, uint64_t seed, Log log)
      : executor_(*options.events.executor),
        sender_(*options.events.transport, executor_, *options.wall, SenderOptions(options, seed),
                log),
        timer_(executor_) {}

  Executor& executor() { return executor_; }
  // Any thread.
  EventSender::Counts counts() const { return counts_.Get(); }

  void Send(Event event, const StatusCallback& done) {
    if (!is_stopping_) sender_.Send(std::move(event));
    if (!timer_.is_running()) Publish();
    if (done) done(is_stopping_ ? ClientStoppedError() : Status());
  }

  void Stop(int64_t limit_ns, const std::shared_ptr<void>& end) {
    is_stopping_ = true;
    sender_.Flush(limit_ns, [this, end] {
      timer_.Stop();
      counts_.Set(sender_.counts());
    });
  }

 private:
  static EventSender::Options SenderOptions(const Options& options, uint64_t seed) {
    EventSender::Options result = options.events_queue;
    result.seed = seed;
    result.may_send = [fence = options.fence] { return fence->Check(); };
    return result;
  }
  // Publishes the counts, until no event is open and every series has ended.
  void Publish() {
    counts_.Set(sender_.counts());
    if (is_stopping_) return;
    timer_.StartAfter(kPublishNs, [this] {
      counts_.Set(sender_.counts());
      if (sender_.waiting() > 0 || sender_.series() > 0) Publish();
    });
  }

  Executor& executor_;
  EventSender sender_;
  OwnedTimer timer_;
  bool is_stopping_ = false;
  Published<EventSender::Counts> counts_;
};

// ---- KubernetesClient ---------------------------------------------------------------------------

KubernetesClient::KubernetesClient(Interner& interner, Options options, Log log)
    : options_(std::move(options)),
      seeds_(options_.seed),
      watches_(interner, WatchOptions(), log),
      writes_(std::make_shared<Writes>(options_, seeds_.Next(), log)),
      events_(std::make_shared<Events>(options_, seeds_.Next(), log)) {}

KubernetesClient::~KubernetesClient() = default;

ClusterWatches::Options KubernetesClient::WatchOptions() {
  Reflector::Options reflector = options_.reflector;
  reflector.needed_by = options_.needed_by;
  return {.channel = options_.reads,
          .decode = options_.decode,
          .seed = seeds_.Next(),
          .wake = options_.wake,
          .reflector = std::move(reflector),
          .refresh_patience_ns = options_.refresh_patience_ns,
          .max_waiting = options_.max_waiting_events};
}

void KubernetesClient::Stop() { Stop(options_.stop_limit_ns); }

void KubernetesClient::Stop(int64_t limit_ns) {
  if (std::exchange(is_stopped_, true)) return;
  const auto latch = std::make_shared<StopLatch>();
  const auto stop = [limit_ns, &latch](const auto& part) {
    PostTo(part, [limit_ns, end = latch->NewToken()](auto& its) mutable {
      its.Stop(limit_ns, std::exchange(end, nullptr));
    });
  };
  watches_.Stop(latch->NewToken());
  stop(writes_);
  stop(events_);
  if (!options_.wait) return latch->Wait();
  options_.wait([latch] { return latch->is_done(); });
  BERTH_ASSERT_MSG(latch->is_done(), "Options::wait returned before the end");
}

size_t KubernetesClient::Deliver() { return watches_.Deliver(); }

void KubernetesClient::Refresh(std::span<const std::string_view> kinds,
                               std::function<void()> done) {
  watches_.Refresh(kinds, std::move(done));
}

std::vector<WatchState> KubernetesClient::Watches() const { return watches_.States(); }
PodWriterCounts KubernetesClient::pod_counts() const { return writes_->counts(); }
EventSender::Counts KubernetesClient::event_counts() const { return events_->counts(); }
size_t KubernetesClient::open_bindings() const { return writes_->open_bindings(); }
size_t KubernetesClient::waiting_events() const { return watches_.waiting(); }

std::unique_ptr<Watch> KubernetesClient::StartWatch(std::string_view kind, WatchSink& sink) {
  return watches_.Start(kind, sink);
}

void KubernetesClient::Bind(const PodName& pod, std::string_view node, StatusCallback done) {
  PostTo(writes_, [pod = OwnedPodName(pod), node = std::string(node),
                   done = writes_->CountBinding(std::move(done))](Writes& writes) mutable {
    writes.UsePods().Bind(pod.Get(), node, std::move(done));
  });
}

void KubernetesClient::PatchPodStatus(const PodName& pod, const PodStatusPatch& patch,
                                      StatusCallback done) {
  PostTo(writes_, [pod = OwnedPodName(pod), patch = OwnedPatch(patch),
                   done = std::move(done)](Writes& writes) mutable {
    writes.UsePods().PatchStatus(pod.Get(), patch.Get(), std::move(done));
  });
}

void KubernetesClient::DeletePod(const PodName& pod, std::optional<int64_t> grace_seconds,
                                 StatusCallback done) {
  PostTo(writes_,
         [pod = OwnedPodName(pod), grace_seconds, done = std::move(done)](Writes& writes) mutable {
           writes.UsePods().Delete(pod.Get(), grace_seconds, std::move(done));
         });
}

void KubernetesClient::CreateEvent(Event event, StatusCallback done) {
  PostTo(events_, [event = std::move(event), done = std::move(done)](Events& events) mutable {
    events.Send(std::move(event), done);
  });
}

void KubernetesClient::Request(ApiRequest request, ResponseCallback answer) {
  PostTo(writes_,
         [request = std::move(request), answer = std::move(answer)](Writes& writes) mutable {
           writes.requests().Send(std::move(request), std::move(answer));
         });
}

}  // namespace berth::host
