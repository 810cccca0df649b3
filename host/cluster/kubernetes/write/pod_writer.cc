#include "host/cluster/kubernetes/write/pod_writer.h"

#include <map>
#include <string>
#include <utility>

#include "host/base/assert.h"
#include "host/base/split_mix.h"
#include "host/cluster/kubernetes/write/bind_task.h"
#include "host/cluster/kubernetes/write/pod_lanes.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {
namespace {

// Bindings have the default priority, which is higher.
constexpr uint8_t kDeletePriority = 2;
constexpr uint8_t kPatchPriority = 3;

}  // namespace

// All requests of a writer.
class PodWriter::Tasks : public std::enable_shared_from_this<Tasks> {
 public:
  Tasks(Transport& transport, Executor& executor, BindFence& fence, const Options& options, Log log)
      : context_{transport, executor, fence, options, log},
        random_(options.seed),
        limit_(executor) {}

  // Adds the task that `make(seed, finished)` returns.
  template <class Make>
  void Add(const PodName& pod, StatusCallback done, Make make) {
    if (pod.ns.empty() || pod.name.empty()) {
      return Post(std::move(done), Status::InvalidArgument(
                                       "expected the namespace and the name of a pod, found \"" +
                                       std::string(pod.ns) + "/" + std::string(pod.name) + "\""));
    }
    const uint64_t id = ++last_id_;
    std::shared_ptr<PodTask> task =
        make(random_.Next(), [this, id](Status outcome) { OnFinished(id, std::move(outcome)); });
    tasks_.emplace(id, Entry{task, std::move(done)});
    lanes_.Add(pod.ns, pod.name, [task = task.get()] { task->Start(); });
  }

  void Stop(int64_t limit_ns, std::function<void()> done) {
    BERTH_ASSERT(!context_.is_stopping);
    context_.is_stopping = true;
    if (tasks_.empty()) return context_.executor.Post(std::move(done));
    stopped_ = std::move(done);
    limit_.StartAfter(limit_ns, [this] { ForEach(&PodTask::Abandon); });
    ForEach(&PodTask::Stop);
  }

  PodTaskContext& context() { return context_; }
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

  void Post(StatusCallback done, Status outcome) {
    if (!done) return;
    context_.executor.Post(
        [done = std::move(done), outcome = std::move(outcome)] { done(outcome); });
  }

  void OnFinished(uint64_t id, Status outcome) {
    context_.executor.Post([weak = weak_from_this(), id, outcome = std::move(outcome)] {
      if (const std::shared_ptr<Tasks> self = weak.lock()) self->Complete(id, outcome);
    });
  }

  void Complete(uint64_t id, const Status& outcome) {
    const auto entry = tasks_.extract(id);
    if (entry.mapped().done) entry.mapped().done(outcome);
    const PodName pod = entry.mapped().task->pod();
    lanes_.Finish(pod.ns, pod.name);
    if (!stopped_ || !tasks_.empty()) return;
    limit_.Stop();
    std::exchange(stopped_, nullptr)();
  }

  PodTaskContext context_;
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
  tasks_->Add(pod, std::move(done), [&](uint64_t seed, PodTask::Finished finished) {
    return std::make_shared<BindTask>(tasks_->context(), pod, node, seed, std::move(finished));
  });
}

void PodWriter::PatchStatus(const PodName& pod, const PodStatusPatch& patch, StatusCallback done) {
  tasks_->Add(pod, std::move(done), [&](uint64_t seed, PodTask::Finished finished) {
    HttpRequest request = {.verb = "PATCH",
                           .target = PodPath(pod, "status"),
                           .body = StatusPatchBody(pod, patch),
                           .content_type = kStrategicMergePatch,
                           .priority = kPatchPriority};
    return std::make_shared<SafeTask>(tasks_->context(), pod, std::move(request), seed,
                                      std::move(finished));
  });
}

void PodWriter::Delete(const PodName& pod, std::optional<int64_t> grace_seconds,
                       StatusCallback done) {
  tasks_->Add(pod, std::move(done), [&](uint64_t seed, PodTask::Finished finished) {
    HttpRequest request = {.verb = "DELETE",
                           .target = PodPath(pod),
                           .body = DeleteBody(pod, grace_seconds),
                           .content_type = kJson,
                           .priority = kDeletePriority};
    return std::make_shared<SafeTask>(tasks_->context(), pod, std::move(request), seed,
                                      std::move(finished));
  });
}

void PodWriter::Stop(int64_t limit_ns, std::function<void()> done) {
  tasks_->Stop(limit_ns, std::move(done));
}

const PodWriterCounts& PodWriter::counts() const { return tasks_->context().counts; }

size_t PodWriter::open() const { return tasks_->size(); }

}  // namespace berth::host
