#include "host/cluster/kubernetes/write/pod_writer.h"

#include <algorithm>
#include <map>
#include <utility>

#include "host/base/assert.h"
#include "host/base/split_mix.h"
#include "host/cluster/kubernetes/answers/api_error.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {
namespace {

// Bindings have the default priority, which is higher.
constexpr uint8_t kDeletePriority = 2;
constexpr uint8_t kPatchPriority = 3;

Status WriterStoppedError() { return Status::Unavailable("the client was stopped"); }

std::string KeyOf(const PodName& pod) {
  return std::string(pod.ns).append(1, '/').append(pod.name);
}

// The state that the tasks of one writer share.
struct TaskContext {
  Transport& transport;
  Executor& executor;
  BindFence& fence;
  const PodWriterOptions options;
  const Log log;
  PodWriterCounts counts = {};
  bool is_stopping = false;  // No request that writes may be sent.
  // The status of the last patch or deletion that was refused; 0 after one that succeeded.
  uint32_t last_refusal = 0;
};

// One request of the pod writer, from its first try to its outcome.
//
// Threading: the executor's thread.
// Lifetime:  the owner holds a shared_ptr. Callbacks of requests hold weak ones, so that they do
//            nothing after the destruction of the task. The context outlives the task.
class PodTask : public std::enable_shared_from_this<PodTask> {
 public:
  // Called once, with the outcome, as the last action of the task, within any of its methods.
  using Finished = std::function<void(Status outcome)>;

  PodTask(TaskContext& context, const PodName& pod, uint64_t seed, Finished finished)
      : context_(context),
        ns_(pod.ns),
        name_(pod.name),
        uid_(pod.uid),
        finished_(std::move(finished)),
        delay_(context.options.delay, seed),
        timer_(context.executor) {}
  virtual ~PodTask() = default;

  // Begins. Called once.
  void Start() {
    has_begun_ = true;
    started_ns_ = NowNs();
    if (context_.is_stopping) return Finish(WriterStoppedError());
    Send();
  }
  // Ends the task if it waits to repeat a request that writes. A task that has not begun ends when
  // it begins, so that the outcomes for one pod stay in order. Called after `is_stopping` was set.
  void Stop() {
    if (waits_to_send_) Finish(WriterStoppedError());
  }
  // Ends the task with kUnavailable, whatever it waits for, if it has begun.
  void Abandon() {
    if (!has_begun_ || has_finished_) return;
    Finish(Status::Unavailable(
        "the client was stopped; it is unknown whether the request was executed"));
  }

  PodName pod() const { return {ns_, name_, uid_}; }

 protected:
  // Sends the request for the first time, or again.
  virtual void Send() = 0;
  // Receives the answer to a request that SendWrite() sent.
  virtual void OnAnswer(const HttpResponse& response) = 0;

  TaskContext& context() { return context_; }
  int64_t NowNs() const { return context_.executor.NowNs(); }
  // Sends a request that needs the fence.
  void SendWrite(HttpRequest request) {
    was_refused_ = false;
    request.may_send = [weak = weak_from_this()] {
      const std::shared_ptr<PodTask> task = weak.lock();
      return task ? task->MaySend() : WriterStoppedError();
    };
    SendRequest(std::move(request), [this](const HttpResponse& response) { OnAnswer(response); });
  }
  // Sends a request, which needs the fence only if it has may_send.
  void SendRequest(HttpRequest request, std::function<void(const HttpResponse&)> answer) {
    request.timeout_ns = context_.options.request_timeout_ns;
    context_.transport.Send(
        std::move(request),
        [weak = weak_from_this(), answer = std::move(answer)](const HttpResponse& response) {
          const std::shared_ptr<PodTask> task = weak.lock();
          if (task && !task->has_finished_) answer(response);
        });
  }
  // Returns whether the fence refused the last request of SendWrite(), or the writer stops.
  bool was_refused() const { return was_refused_; }
  // Returns how long to wait before the next try, and not less than what the server asked for, up
  // to one minute. If `may_be_quick`, the first call returns only this time.
  int64_t NextDelayNs(const HttpResponse& response, bool may_be_quick) {
    const bool is_first = !std::exchange(has_waited_, true);
    const int64_t at_least_ns = LimitRetryAfterNs(response.head.retry_after_ns);
    if (is_first && may_be_quick) return at_least_ns;
    return delay_.NextNs(NowNs(), at_least_ns);
  }
  // Returns whether a request that is sent after this time is within `retry_ns`.
  bool MayRetryAfter(int64_t delay_ns) const {
    return NowNs() + delay_ns - started_ns_ <= context_.options.retry_ns;
  }
  // Calls Send() after the time, unless the writer stops.
  void SendAfter(int64_t delay_ns) {
    if (context_.is_stopping) return Finish(WriterStoppedError());
    waits_to_send_ = true;
    After(delay_ns, [this] {
      waits_to_send_ = false;
      Send();
    });
  }
  // Calls the function after the time, instead of what an earlier call would do.
  void After(int64_t delay_ns, Executor::Task task) {
    timer_.StartAfter(delay_ns, std::move(task));
  }
  void Finish(Status outcome) {
    BERTH_ASSERT(!has_finished_);
    has_finished_ = true;
    waits_to_send_ = false;
    timer_.Stop();
    finished_(std::move(outcome));
  }
  std::string Key() const { return KeyOf(pod()); }

 private:
  // Decides immediately before the first byte.
  Status MaySend() {
    Status status;
    if (has_finished_ || context_.is_stopping) {
      status = WriterStoppedError();
    } else {
      status = context_.fence.Check();
      if (!status.ok()) ++context_.counts.refused_by_fence;
    }
    was_refused_ = !status.ok();
    return status;
  }

  TaskContext& context_;
  const std::string ns_;
  const std::string name_;
  const std::string uid_;
  Finished finished_;
  RetryDelay delay_;
  OwnedTimer timer_;
  int64_t started_ns_ = 0;
  bool has_begun_ = false;
  bool has_waited_ = false;     // NextDelayNs() was called.
  bool waits_to_send_ = false;  // SendAfter() was called.
  bool was_refused_ = false;
  bool has_finished_ = false;
};

// ---- Requests that may be repeated --------------------------------------------------------------

// A status patch or a deletion.
class SafeTask final : public PodTask {
 public:
  SafeTask(TaskContext& context, const PodName& pod, uint64_t seed, Finished finished,
           HttpRequest request)
      : PodTask(context, pod, seed, std::move(finished)), request_(std::move(request)) {}

 private:
  void Send() override { SendWrite(request_); }

  void OnAnswer(const HttpResponse& response) override {
    if (response.is_success()) {
      context().last_refusal = 0;
      return Finish(Status());
    }
    Status error = StatusOf(response);
    if (was_refused()) return Finish(std::move(error));
    const RetryClass next = RetryClassOf(response);
    if (next == RetryClass::kFinal) {
      // The request before has removed the pod, or another client has.
      const bool is_gone =
          is_unknown_ && request_.verb == "DELETE" && error.code() == ErrorCode::kNotFound;
      LogRefusal(error, response.head.http_status);
      return Finish(is_gone ? Status() : std::move(error));
    }
    if (next == RetryClass::kUnknown) is_unknown_ = true;
    const int64_t delay_ns = NextDelayNs(response, response.delivery == Delivery::kNotSent);
    if (!MayRetryAfter(delay_ns)) return Finish(std::move(error));
    SendAfter(delay_ns);
  }

  // Logs the first refusal in a row: without permission, every request is refused.
  void LogRefusal(const Status& error, uint32_t http_status) {
    // The pod is gone, or was created again.
    if (http_status == 404 || http_status == 409) return;
    if (std::exchange(context().last_refusal, http_status) == http_status) return;
    context().log.Error(request_.verb == "DELETE" ? "The server refused to delete a pod"
                                                  : "The server refused to patch a pod's status",
                        error.message(), {{"pod", Key()}});
  }

  const HttpRequest request_;
  bool is_unknown_ = false;
};

// ---- Bindings -----------------------------------------------------------------------------------

// Binds a pod; see PodWriter.
class BindTask final : public PodTask {
 public:
  BindTask(TaskContext& context, const PodName& pod, uint64_t seed, Finished finished,
           std::string_view node)
      : PodTask(context, pod, seed, std::move(finished)),
        node_(node),
        body_(BindingBody(pod, node)) {}

 private:
  void Send() override {
    ++context().counts.binds;
    SendWrite({.verb = "POST",
               .target = PodPath(pod(), "binding"),
               .body = body_,
               .content_type = kJson});
  }

  void OnAnswer(const HttpResponse& response) override {
    CountForbidden(response);
    if (response.is_success()) {
      ++context().counts.bound;
      return Finish(Status());
    }
    Status error = StatusOf(response);
    last_error_ = error.message();
    if (was_refused()) {
      if (!is_unknown_) return Finish(std::move(error));
      return ReadAfter(0);
    }
    switch (RetryClassOf(response)) {
      case RetryClass::kFinal: return OnFinal(std::move(error), response.head.http_status == 409);
      case RetryClass::kNotExecuted: return OnNotExecuted(response);
      case RetryClass::kUnknown: return OnUnknown(response);
    }
  }

  // Notes an answer that tells whether this client may bind pods. An admission plugin that refuses
  // the pod answers 403 as well, but only an authorizer names the user.
  void CountForbidden(const HttpResponse& response) {
    if (response.delivery != Delivery::kAnswered) return;
    const uint32_t http_status = response.head.http_status;
    if (http_status == 401 || http_status == 429 || http_status >= 500) return;
    PodWriterCounts& counts = context().counts;
    if (http_status != 403 || StatusOf(response).message().find("User \"") == std::string::npos) {
      counts.forbidden_in_row = 0;
      return;
    }
    if (NowNs() - counts.last_forbidden_ns > kForbiddenPauseNs) counts.forbidden_in_row = 0;
    if (counts.forbidden_in_row++ == 0) counts.first_forbidden_ns = NowNs();
    counts.last_forbidden_ns = NowNs();
  }

  // The server has decided on the last request.
  void OnFinal(Status error, bool is_conflict) {
    if (!is_unknown_ || error.code() == ErrorCode::kNotFound) {
      // Other conflicts are another uid and a deletion.
      // (kubernetes: pkg/registry/core/pod/storage/storage.go)
      const bool is_foreign =
          error.message().find("is already assigned to node") != error.message().npos;
      if (is_conflict) ++context().counts.conflicts;
      if (is_conflict && is_foreign) ++context().counts.foreign;
      return Finish(std::move(error));
    }
    // A conflict is expected if the unknown request was executed. Every other answer stands for
    // this request only.
    if (!is_conflict) final_error_ = std::move(error);
    ReadAfter(0);
  }

  // The server has not executed the last request.
  void OnNotExecuted(const HttpResponse& response) {
    const bool may_be_quick = response.delivery == Delivery::kNotSent;
    const int64_t delay_ns = NextDelayNs(response, may_be_quick);
    if (response.head.http_status != 429) ++failures_;
    if (is_unknown_) return ReadAfter(delay_ns);
    if (!has_tries_left() || !MayRetryAfter(delay_ns)) return Finish(StatusOf(response));
    SendAfter(delay_ns);
  }

  // It is unknown whether the server has executed the last request.
  void OnUnknown(const HttpResponse& response) {
    is_unknown_ = true;
    ++failures_;
    settled_ns_ =
        std::max(settled_ns_, NowNs() + (HasGivenUp(response) ? context().options.answered_settle_ns
                                                              : context().options.settle_ns));
    ++context().counts.unknown;
    context().log.Warning("It is unknown whether a pod was bound; reading it back",
                          {{"pod", Key()}, {"node", node_}, {"reason", last_error_}});
    ReadAfter(NextDelayNs(response, true));
  }

  bool has_tries_left() { return failures_ < context().options.bind_tries; }

  // Returns whether an API server has ended the request with an error. After a timeout it may go
  // on, and an answer without such a reason may be that of a proxy in between.
  static bool HasGivenUp(const HttpResponse& response) {
    if (response.delivery != Delivery::kAnswered) return false;
    const std::string reason = ReadServerStatus(response.body).reason;
    return reason == "InternalError" || reason == "ServiceUnavailable";
  }

  // Reads the pod after a time.
  void ReadAfter(int64_t delay_ns) {
    After(delay_ns, [this] {
      read_ns_ = NowNs();
      SendRequest({.verb = "GET", .target = PodPath(pod())},
                  [this](const HttpResponse& response) { OnRead(response); });
    });
  }

  void OnRead(const HttpResponse& response) {
    Status error = StatusOf(response);
    if (error.ok()) {
      const Result<PodBinding> binding = ReadPodBinding(response.body);
      if (binding.ok()) return OnPod(*binding);
      error = binding.status();
    }
    if (error.code() == ErrorCode::kNotFound) return Resolve(std::move(error));
    if (error.message() != read_error_) {
      read_error_ = error.message();
      context().log.Error("Cannot read back a pod whose binding is unknown", read_error_,
                          {{"pod", Key()}, {"node", node_}});
    }
    ReadAfter(NextDelayNs(response, false));
  }

  void OnPod(const PodBinding& binding) {
    if (!pod().uid.empty() && binding.uid != pod().uid) {
      return Resolve(Status::Conflict("pod " + Key() + " was deleted and created again"));
    }
    if (binding.node == node_) return Resolve(Status());
    if (!binding.node.empty()) {
      ++context().counts.foreign;
      return Resolve(Status::Conflict("pod " + Key() + " was bound to node " + binding.node +
                                      " by another client"));
    }
    if (binding.is_deleting) {
      return Resolve(Status::Conflict("pod " + Key() + " is being deleted"));
    }
    OnWithoutNode();
  }

  void OnWithoutNode() {
    const bool may_send = final_error_.ok() && !context().is_stopping &&
                          context().fence.is_open() && has_tries_left() &&
                          (!has_repeated_ || MayRetryAfter(0));
    if (may_send) {
      has_repeated_ = true;
      return Send();
    }
    // A read that was sent before may have been answered before the server executed the request.
    if (read_ns_ >= settled_ns_) {
      return Resolve(final_error_.ok()
                         ? Status::Unavailable("the pod was not bound: " + last_error_)
                         : final_error_);
    }
    const int64_t delay_ns = NextDelayNs({}, false);
    ReadAfter(std::clamp<int64_t>(settled_ns_ - NowNs(), 0, delay_ns));
  }

  // Counts and logs how the unknown outcome was found, and ends the task.
  void Resolve(Status outcome) {
    PodWriterCounts& counts = context().counts;
    if (outcome.ok()) {
      counts.forbidden_in_row = 0;
      ++counts.recovered;
      ++counts.bound;
    }
    if (outcome.code() == ErrorCode::kConflict) ++counts.conflicts;
    context().log.Info("Read back a pod whose binding was unknown",
                       {{"pod", Key()}, {"node", node_}, {"outcome", outcome.ToString()}});
    Finish(std::move(outcome));
  }

  const std::string node_;
  const std::string body_;
  std::string last_error_;  // The message.
  std::string read_error_;  // The message of the last failed read, which is logged if it changes.
  Status final_error_;      // The error that a repetition would not change.
  int64_t settled_ns_ = 0;  // From here on, a read is sure to see every request so far.
  uint32_t failures_ = 0;   // The failed requests, without those that were refused with 429.
  int64_t read_ns_ = 0;     // When the last read was sent.
  bool is_unknown_ = false;
  bool has_repeated_ = false;  // A request was sent after an unknown one.
};

}  // namespace

// ---- Lanes --------------------------------------------------------------------------------------

void PodLanes::Add(const PodName& pod, Start start) {
  const auto [place, is_new] = lanes_.try_emplace(KeyOf(pod));
  place->second.waiting.push_back(std::move(start));
  if (is_new) StartNext(place->first, place->second);
}

void PodLanes::Finish(const PodName& pod) {
  const auto place = lanes_.find(KeyOf(pod));
  BERTH_ASSERT(place != lanes_.end() && place->second.is_under_way);
  Lane& lane = place->second;
  lane.is_under_way = false;
  if (!lane.is_starting) StartNext(place->first, lane);
}

void PodLanes::StartNext(const std::string& key, Lane& lane) {
  lane.is_starting = true;
  while (!lane.is_under_way && !lane.waiting.empty()) {
    const Start start = std::move(lane.waiting.front());
    lane.waiting.pop_front();
    lane.is_under_way = true;
    start();
  }
  lane.is_starting = false;
  if (!lane.is_under_way) lanes_.erase(lanes_.find(key));
}

// ---- The writer ---------------------------------------------------------------------------------

// All requests of a writer.
class PodWriter::Tasks : public std::enable_shared_from_this<Tasks> {
 public:
  Tasks(Transport& transport, Executor& executor, BindFence& fence, const Options& options, Log log)
      : context_{transport, executor, fence, options, log},
        random_(options.seed),
        limit_(executor) {}

  // Adds a task of the type T, whose last argument is `what()`.
  template <class T, class What>
  void Add(const PodName& pod, StatusCallback done, const What& what) {
    if (pod.ns.empty() || pod.name.empty()) {
      if (!done) return;
      return context_.executor.Post([done = std::move(done), key = KeyOf(pod)] {
        done(Status::InvalidArgument("expected the namespace and the name of a pod, found \"" +
                                     key + "\""));
      });
    }
    const uint64_t id = ++last_id_;
    auto task = std::make_shared<T>(
        context_, pod, random_.Next(),
        [this, id](Status outcome) { OnFinished(id, std::move(outcome)); }, what());
    tasks_.emplace(id, Entry{task, std::move(done)});
    lanes_.Add(pod, [task = task.get()] { task->Start(); });
  }

  void Stop(int64_t limit_ns, std::function<void()> done) {
    BERTH_ASSERT(!context_.is_stopping);
    context_.is_stopping = true;
    if (tasks_.empty()) return context_.executor.Post(std::move(done));
    stopped_ = std::move(done);
    limit_.StartAfter(limit_ns, [this] { ForEach(&PodTask::Abandon); });
    ForEach(&PodTask::Stop);
  }

  const PodWriterCounts& counts() const { return context_.counts; }
  size_t size() const { return tasks_.size(); }

 private:
  struct Entry {
    std::shared_ptr<PodTask> task;
    StatusCallback done;
  };

  // Outcomes are posted, so that `tasks_` does not change meanwhile.
  void ForEach(void (PodTask::*method)()) {
    for (const auto& [id, entry] : tasks_) (*entry.task.*method)();
  }

  void OnFinished(uint64_t id, Status outcome) {
    context_.executor.Post([weak = weak_from_this(), id, outcome = std::move(outcome)] {
      if (const std::shared_ptr<Tasks> self = weak.lock()) self->Complete(id, outcome);
    });
  }

  void Complete(uint64_t id, const Status& outcome) {
    const auto entry = tasks_.extract(id);
    if (entry.mapped().done) entry.mapped().done(outcome);
    lanes_.Finish(entry.mapped().task->pod());
    if (!stopped_ || !tasks_.empty()) return;
    limit_.Stop();
    std::exchange(stopped_, nullptr)();
  }

  TaskContext context_;
  SplitMix64 random_;
  OwnedTimer limit_;
  PodLanes lanes_;
  std::map<uint64_t, Entry> tasks_;  // The oldest first.
  uint64_t last_id_ = 0;
  std::function<void()> stopped_;
};

PodWriter::PodWriter(Transport& transport, Executor& executor, BindFence& fence,
                     const Options& options, Log log)
    : tasks_(std::make_shared<Tasks>(transport, executor, fence, options, log)) {}

PodWriter::~PodWriter() = default;

void PodWriter::Bind(const PodName& pod, std::string_view node, StatusCallback done) {
  tasks_->Add<BindTask>(pod, std::move(done), [&] { return node; });
}

void PodWriter::PatchStatus(const PodName& pod, const PodStatusPatch& patch, StatusCallback done) {
  tasks_->Add<SafeTask>(pod, std::move(done), [&] {
    return HttpRequest{.verb = "PATCH",
                       .target = PodPath(pod, "status"),
                       .body = StatusPatchBody(pod, patch),
                       .content_type = kStrategicMergePatch,
                       .priority = kPatchPriority};
  });
}

void PodWriter::Delete(const PodName& pod, std::optional<int64_t> grace_seconds,
                       StatusCallback done) {
  tasks_->Add<SafeTask>(pod, std::move(done), [&] {
    return HttpRequest{.verb = "DELETE",
                       .target = PodPath(pod),
                       .body = DeleteBody(pod, grace_seconds),
                       .content_type = kJson,
                       .priority = kDeletePriority};
  });
}

void PodWriter::Stop(int64_t limit_ns, std::function<void()> done) {
  tasks_->Stop(limit_ns, std::move(done));
}

const PodWriterCounts& PodWriter::counts() const { return tasks_->counts(); }

size_t PodWriter::open() const { return tasks_->size(); }

}  // namespace berth::host
