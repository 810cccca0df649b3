#include "host/cluster/kubernetes/kubernetes_client.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <utility>

#include "host/base/assert.h"
#include "host/base/executor.h"
#include "host/cluster/kubernetes/answers/api_error.h"

namespace berth::host {
namespace {

// How old the counts are at most that other threads read.
constexpr int64_t kPublishNs = 1'000'000'000;
// Bindings have the default priority, which is higher.
constexpr uint8_t kPluginPriority = 2;

Status ClientStoppedError() { return Status::Unavailable("the client was stopped"); }

// Numbers that one thread counts and others read.
// Threading: Get() any; the other methods the executor's thread.
template <class T>
class Published {
 public:
  // The numbers may change while `has_work` returns true.
  Published(Executor& executor, std::function<T()> count, std::function<bool()> has_work)
      : count_(std::move(count)), has_work_(std::move(has_work)), timer_(executor) {}

  T Get() const {
    const std::scoped_lock lock(mutex_);
    return value_;
  }
  // Called: for each piece of work.
  void OnWork() {
    if (!timer_.is_running()) Publish();
  }
  void Stop() {
    timer_.Stop();
    Set();
    has_ended_ = true;
  }

 private:
  void Set() {
    T value = count_();
    const std::scoped_lock lock(mutex_);
    value_ = std::move(value);
  }
  void Publish() {
    Set();
    if (has_ended_) return;
    timer_.StartAfter(kPublishNs, [this] {
      Set();
      if (has_work_()) Publish();
    });
  }

  const std::function<T()> count_;
  const std::function<bool()> has_work_;
  OwnedTimer timer_;
  bool has_ended_ = false;
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
  explicit OwnedPatch(const PodStatusPatch& patch) : patch_(patch) {
    ForEachText(patch_, [this](std::string_view text) { texts_.emplace_back(text); });
  }

  // The result refers to this object.
  PodStatusPatch Get() const {
    PodStatusPatch patch = patch_;
    auto text = texts_.begin();
    ForEachText(patch, [&text](std::string_view& place) { place = *text++; });
    return patch;
  }

 private:
  template <class Visit>
  static void ForEachText(PodStatusPatch& patch, const Visit& visit) {
    if (patch.nominated_node) visit(*patch.nominated_node);
    for (auto* const condition : {&patch.pod_scheduled, &patch.disruption_target}) {
      if (!*condition) continue;
      visit((*condition)->reason);
      visit((*condition)->message);
    }
  }

  PodStatusPatch patch_;
  std::vector<std::string> texts_;  // In the order of ForEachText().
};

// Runs `task(*part)` on the executor of the part.
template <class Part, class Task>
void PostTo(const std::shared_ptr<Part>& part, Task task) {
  part->executor().Post([part, task = std::move(task)]() mutable { task(*part); });
}

// Sends the requests that plugins make. Each is sent once: only the plugin knows whether its
// request may be repeated. Requests that may change something need an open fence: a process that
// does not lead writes nothing. Calls the callback of each once, never within Send(): with its
// answer, or with an error at the end of the time that Stop() waits.
//
// Threading: the executor's thread.
// Lifetime:  a shared_ptr owns it; what the constructor receives must outlive it. The callbacks of
//            its requests may outlive it, and do nothing then.
class RequestSender : public std::enable_shared_from_this<RequestSender> {
 public:
  // `max_open`: the requests that wait or are under way; more fail with kUnavailable, so that a
  // plugin cannot fill the memory.
  RequestSender(const Channel& channel, BindFence& fence, size_t max_open)
      : channel_(channel), fence_(fence), max_open_(max_open), limit_(*channel.executor) {}

  // As DecisionWriter::Request().
  void Send(ApiRequest request, ResponseCallback answer) {
    if (is_stopping_) return Refuse(std::move(answer), ClientStoppedError());
    if (open_.size() >= max_open_) {
      return Refuse(std::move(answer),
                    Status::Unavailable("too many requests of plugins wait for an answer"));
    }
    HttpRequest http;
    http.timeout_ns = request.timeout_ns;
    http.priority = kPluginPriority;
    // A plugin may ask for what is no object, such as a log or a page behind the proxy of a
    // Service.
    http.takes_any_answer = true;
    const std::string& verb = request.verb;
    if (verb != "GET" && verb != "HEAD" && verb != "OPTIONS") {
      http.may_send = [weak = weak_from_this()] {
        const std::shared_ptr<RequestSender> self = weak.lock();
        return self && !self->is_stopping_ ? self->fence_.Check() : ClientStoppedError();
      };
    }
    // The callback below keeps the text until the answer.
    const auto content_type = std::make_shared<const std::string>(request.ContentType());
    if (!request.body.empty()) http.content_type = *content_type;
    http.verb = std::move(request.verb);
    http.target = std::move(request.path);
    http.body = std::move(request.body);
    const uint64_t id = ++last_;
    open_.emplace(id, std::move(answer));
    channel_.transport->Send(std::move(http),
                             [weak = weak_from_this(), id, content_type](HttpResponse response) {
                               if (const auto self = weak.lock())
                                 self->OnAnswer(id, std::move(response));
                             });
  }

  // Sends no further request that writes. Waits for the answers to open requests for up to
  // `limit_ns`; then they fail with kUnavailable. Calls `done` afterwards, never within the call.
  // Later requests fail with kUnavailable. Called once.
  void Stop(int64_t limit_ns, std::function<void()> done) {
    BERTH_ASSERT(!is_stopping_);
    is_stopping_ = true;
    if (open_.empty()) return channel_.executor->Post(std::move(done));
    stopped_ = std::move(done);
    limit_.StartAfter(limit_ns, [this] { Abandon(); });
  }

 private:
  void Refuse(ResponseCallback answer, Status why) {
    if (!answer) return;
    channel_.executor->Post(
        [answer = std::move(answer), why = std::move(why)] { answer(ApiResponse::None(why)); });
  }
  void OnAnswer(uint64_t id, HttpResponse response) {
    const auto entry = open_.extract(id);
    if (entry.empty()) return;
    if (entry.mapped()) entry.mapped()(ApiResponseOf(std::move(response)));
    FinishStop();
  }
  void Abandon() {
    // A callback may lead to other requests.
    const auto abandoned = std::exchange(open_, {});
    for (const auto& [id, answer] : abandoned) {
      if (!answer) continue;
      answer(ApiResponse::None(Status::Unavailable(
          "the client was stopped; it is unknown whether the request was executed")));
    }
    FinishStop();
  }
  void FinishStop() {
    if (!stopped_ || !open_.empty()) return;
    limit_.Stop();
    std::exchange(stopped_, nullptr)();
  }

  const Channel channel_;
  BindFence& fence_;
  const size_t max_open_;
  OwnedTimer limit_;
  std::map<uint64_t, ResponseCallback> open_;  // The requests without an answer, the oldest first.
  uint64_t last_ = 0;
  bool is_stopping_ = false;
  std::function<void()> stopped_;
};

}  // namespace

// ---- The thread of the writes -------------------------------------------------------------------

class KubernetesClient::Writes {
 public:
  Writes(const Options& options, uint64_t seed, Log log)
      : executor_(*options.writes.executor),
        pods_(*options.writes.transport, executor_, *options.fence, WithSeed(options.pods, seed),
              log),
        requests_(std::make_shared<RequestSender>(options.writes, *options.fence,
                                                  options.max_plugin_requests)),
        counts_(
            executor_, [this] { return pods_.counts(); }, [this] { return pods_.open() > 0; }) {}

  Executor& executor() { return executor_; }
  // Any thread.
  PodWriterCounts counts() const { return counts_.Get(); }
  int64_t forbidden_ns() const {
    const PodWriterCounts counts = counts_.Get();
    const int64_t now_ns = executor_.NowNs();
    if (counts.forbidden_in_row == 0 || now_ns - counts.last_forbidden_ns > kForbiddenPauseNs) {
      return 0;
    }
    return now_ns - counts.first_forbidden_ns;
  }
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
    counts_.OnWork();
    return pods_;
  }
  RequestSender& requests() { return *requests_; }

  void Stop(int64_t limit_ns, const std::shared_ptr<void>& end) {
    requests_->Stop(limit_ns, [end] {});
    pods_.Stop(limit_ns, [this, end] { counts_.Stop(); });
  }

 private:
  static PodWriter::Options WithSeed(PodWriter::Options options, uint64_t seed) {
    options.seed = seed;
    return options;
  }

  Executor& executor_;
  PodWriter pods_;
  const std::shared_ptr<RequestSender> requests_;
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
        stop_limit_ns_(options.events_stop_limit_ns),
        sender_(EventSender::Create(*options.events.transport, executor_, *options.wall,
                                    SenderOptions(options, seed), log)),
        counts_(
            executor_, [this] { return sender_->counts(); },
            [this] { return sender_->waiting() > 0 || sender_->series() > 0; }) {}

  Executor& executor() { return executor_; }
  // Any thread.
  EventSender::Counts counts() const { return counts_.Get(); }

  void Send(Event event, const StatusCallback& done) {
    sender_->Send(std::move(event));
    counts_.OnWork();
    if (done) done(is_stopping_ ? ClientStoppedError() : Status());
  }

  void Stop(int64_t limit_ns, const std::shared_ptr<void>& end) {
    is_stopping_ = true;
    sender_->Flush(std::min(limit_ns, stop_limit_ns_), [this, end] { counts_.Stop(); });
  }

 private:
  static EventSender::Options SenderOptions(const Options& options, uint64_t seed) {
    EventSender::Options result = options.events_queue;
    result.seed = seed;
    result.may_send = [fence = options.fence] { return fence->Check(); };
    return result;
  }

  Executor& executor_;
  const int64_t stop_limit_ns_;
  const std::unique_ptr<EventSender> sender_;
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
  // The work on all threads has ended when the last copy of `end` was destroyed. Work that is
  // dropped, because its executor has ended, releases its copy as well.
  const auto ended = std::make_shared<std::promise<void>>();
  const std::future<void> future = ended->get_future();
  std::shared_ptr<void> end(nullptr, [ended](void*) { ended->set_value(); });
  const auto stop = [limit_ns, &end](const auto& part) {
    PostTo(part,
           [limit_ns, end](auto& its) mutable { its.Stop(limit_ns, std::exchange(end, nullptr)); });
  };
  watches_.Stop(end);
  stop(writes_);
  stop(events_);
  end.reset();
  if (!options_.wait) return future.wait();
  const auto is_done = [&future] {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  options_.wait(is_done);
  BERTH_ASSERT_MSG(is_done(), "Options::wait returned before the end");
}

size_t KubernetesClient::Deliver() { return watches_.Deliver(); }

void KubernetesClient::Refresh(std::span<const std::string_view> kinds,
                               std::function<void()> done) {
  watches_.Refresh(kinds, std::move(done));
}

std::vector<WatchState> KubernetesClient::Watches() const { return watches_.States(); }
PodWriterCounts KubernetesClient::pod_counts() const { return writes_->counts(); }
int64_t KubernetesClient::bindings_forbidden_ns() const { return writes_->forbidden_ns(); }
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
