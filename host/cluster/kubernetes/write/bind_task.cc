#include "host/cluster/kubernetes/write/bind_task.h"

#include <algorithm>
#include <utility>

#include "host/cluster/kubernetes/http/api_error.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {
namespace {

// Returns whether the conflict is that the pod has a node. Other conflicts are another uid and a
// deletion. (kubernetes: pkg/registry/core/pod/storage/storage.go)
bool IsBoundAlready(const Status& conflict) {
  return conflict.message().find("is already assigned to node") != std::string_view::npos;
}

}  // namespace

BindTask::BindTask(PodTaskContext& shared, const PodName& pod_name, std::string_view node,
                   uint64_t seed, Finished finished)
    : PodTask(shared, pod_name, seed, std::move(finished)),
      node_(node),
      body_(BindingBody(pod_name, node)) {}

void BindTask::Send() {
  ++context().counts.binds;
  SendWrite(
      {.verb = "POST", .target = PodPath(pod(), "binding"), .body = body_, .content_type = kJson});
}

void BindTask::OnAnswer(const HttpResponse& response) {
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
    case RetryClass::kFinal: return OnFinal(response);
    case RetryClass::kNotExecuted: return OnNotExecuted(response);
    case RetryClass::kUnknown: return OnUnknown(response);
  }
}

void BindTask::OnFinal(const HttpResponse& response) {
  Status error = StatusOf(response);
  const bool is_missing = error.code() == ErrorCode::kNotFound;
  const bool is_conflict = response.head.http_status == 409;
  if (!is_unknown_ || is_missing) {
    if (is_conflict) ++context().counts.conflicts;
    if (is_conflict && IsBoundAlready(error)) ++context().counts.foreign;
    return Finish(std::move(error));
  }
  // A conflict is expected if the unknown request was executed. Every other answer stands for this
  // request only.
  if (!is_conflict) final_error_ = std::move(error);
  ReadAfter(0);
}

void BindTask::OnNotExecuted(const HttpResponse& response) {
  const bool may_be_quick = response.delivery == Delivery::kNotSent;
  const int64_t delay_ns = NextDelayNs(response, may_be_quick);
  if (is_unknown_) return ReadAfter(delay_ns);
  if (!MayRetryAfter(delay_ns)) return Finish(StatusOf(response));
  SendAfter(delay_ns);
}

void BindTask::OnUnknown(const HttpResponse& response) {
  is_unknown_ = true;
  unknown_ns_ = NowNs();
  ++context().counts.unknown;
  context().log.Warning("It is unknown whether a pod was bound; reading it back",
                        {{"pod", Key()}, {"node", node_}, {"reason", last_error_}});
  ReadAfter(NextDelayNs(response, true));
}

void BindTask::ReadAfter(int64_t delay_ns) {
  After(delay_ns, [this] { Read(); });
}

void BindTask::Read() {
  read_ns_ = NowNs();
  SendRead({.verb = "GET", .target = PodPath(pod())},
           [this](const HttpResponse& response) { OnRead(response); });
}

void BindTask::OnRead(const HttpResponse& response) {
  Status error = StatusOf(response);
  if (error.ok()) {
    const Result<PodBinding> binding = ReadPodBinding(response.body);
    if (!binding.ok()) {
      error = binding.status();
    } else if (!pod().uid.empty() && binding->uid != pod().uid) {
      return Resolve(Status::Conflict("pod " + Key() + " was deleted and created again"));
    } else if (binding->node == node_) {
      return Resolve(Status());
    } else if (!binding->node.empty()) {
      ++context().counts.foreign;
      return Resolve(Status::Conflict("pod " + Key() + " was bound to node " + binding->node +
                                      " by another client"));
    } else if (binding->is_deleting) {
      return Resolve(Status::Conflict("pod " + Key() + " is being deleted"));
    } else {
      return OnWithoutNode();
    }
  }
  if (error.code() == ErrorCode::kNotFound) return Resolve(std::move(error));
  if (error.message() != read_error_) {
    read_error_ = error.message();
    context().log.Error("Cannot read back a pod whose binding is unknown", read_error_,
                        {{"pod", Key()}, {"node", node_}});
  }
  ReadAfter(NextDelayNs(response, false));
}

void BindTask::OnWithoutNode() {
  const bool may_send = final_error_.ok() && !context().is_stopping && context().fence.is_open() &&
                        (!has_repeated_ || MayRetryAfter(0));
  if (may_send) {
    has_repeated_ = true;
    return Send();
  }
  // A read that was sent before may have been answered before the server executed the request.
  const int64_t settled_ns = unknown_ns_ + context().options.settle_ns;
  if (read_ns_ >= settled_ns) {
    return Resolve(final_error_.ok() ? Status::Unavailable("the pod was not bound: " + last_error_)
                                     : final_error_);
  }
  const int64_t delay_ns = NextDelayNs({}, false);
  ReadAfter(std::clamp<int64_t>(settled_ns - NowNs(), 0, delay_ns));
}

void BindTask::Resolve(Status outcome) {
  PodWriterCounts& counts = context().counts;
  if (outcome.ok()) {
    ++counts.recovered;
    ++counts.bound;
  }
  if (outcome.code() == ErrorCode::kConflict) ++counts.conflicts;
  context().log.Info("Read back a pod whose binding was unknown",
                     {{"pod", Key()}, {"node", node_}, {"outcome", outcome.ToString()}});
  Finish(std::move(outcome));
}

}  // namespace berth::host
