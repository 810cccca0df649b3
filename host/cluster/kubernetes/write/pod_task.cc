#include "host/cluster/kubernetes/write/pod_task.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "host/base/assert.h"
#include "host/cluster/kubernetes/http/api_error.h"

namespace berth::host {
namespace {

Status WriterStoppedError() { return Status::Unavailable("the client was stopped"); }

}  // namespace

PodTask::PodTask(PodTaskContext& context, const PodName& pod, uint64_t seed, Finished finished)
    : context_(context),
      ns_(pod.ns),
      name_(pod.name),
      uid_(pod.uid),
      finished_(std::move(finished)),
      delay_(context.options.delay, seed),
      timer_(context.executor) {}

void PodTask::Start() {
  has_begun_ = true;
  started_ns_ = NowNs();
  if (context_.is_stopping) return Finish(WriterStoppedError());
  Send();
}

void PodTask::Stop() {
  if (waits_to_send_) Finish(WriterStoppedError());
}

void PodTask::Abandon() {
  if (!has_begun_ || has_finished_) return;
  Finish(Status::Unavailable(
      "the client was stopped; it is unknown whether the request was executed"));
}

Status PodTask::MaySend() {
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

void PodTask::SendWrite(HttpRequest request) {
  was_refused_ = false;
  request.timeout_ns = context_.options.request_timeout_ns;
  request.may_send = [weak = weak_from_this()] {
    const std::shared_ptr<PodTask> task = weak.lock();
    return task ? task->MaySend() : WriterStoppedError();
  };
  context_.transport.Send(std::move(request),
                          [weak = weak_from_this()](const HttpResponse& response) {
                            const std::shared_ptr<PodTask> task = weak.lock();
                            if (task && !task->has_finished_) task->OnAnswer(response);
                          });
}

void PodTask::SendRead(HttpRequest request, std::function<void(const HttpResponse&)> answer) {
  request.timeout_ns = context_.options.request_timeout_ns;
  context_.transport.Send(std::move(request), [weak = weak_from_this(), answer = std::move(answer)](
                                                  const HttpResponse& response) {
    const std::shared_ptr<PodTask> task = weak.lock();
    if (task && !task->has_finished_) answer(response);
  });
}

int64_t PodTask::NextDelayNs(const HttpResponse& response, bool may_be_quick) {
  const bool is_first = !std::exchange(has_waited_, true);
  const int64_t at_least_ns = LimitRetryAfterNs(response.head.retry_after_ns);
  if (is_first && may_be_quick) return at_least_ns;
  return delay_.NextNs(NowNs(), at_least_ns);
}

void PodTask::SendAfter(int64_t delay_ns) {
  if (context_.is_stopping) return Finish(WriterStoppedError());
  waits_to_send_ = true;
  After(delay_ns, [this] {
    waits_to_send_ = false;
    Send();
  });
}

void PodTask::After(int64_t delay_ns, Executor::Task task) {
  timer_.StartAfter(delay_ns, std::move(task));
}

void PodTask::Finish(Status outcome) {
  BERTH_ASSERT(!has_finished_);
  has_finished_ = true;
  waits_to_send_ = false;
  timer_.Stop();
  finished_(std::move(outcome));
}

// ---- Requests that may be repeated --------------------------------------------------------------

SafeTask::SafeTask(PodTaskContext& context, const PodName& pod, HttpRequest request, uint64_t seed,
                   Finished finished)
    : PodTask(context, pod, seed, std::move(finished)), request_(std::move(request)) {}

void SafeTask::Send() { SendWrite(request_); }

void SafeTask::OnAnswer(const HttpResponse& response) {
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

void SafeTask::LogRefusal(const Status& error, uint32_t http_status) {
  // The pod is gone, or was created again.
  if (http_status == 404 || http_status == 409) return;
  if (std::exchange(context().last_refusal, http_status) == http_status) return;
  context().log.Error(request_.verb == "DELETE" ? "The server refused to delete a pod"
                                                : "The server refused to patch a pod's status",
                      error.message(), {{"pod", Key()}});
}

}  // namespace berth::host
