#include "host/runtime/services/api_calls.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/json_syntax.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/cluster/json_body.h"
#include "host/plan/arguments.h"
#include "host/plan/invoke.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

berth_code CodeOf(const Status& status) {
  switch (status.code()) {
    case ErrorCode::kOk: return BERTH_SUCCESS;
    case ErrorCode::kNotFound: return BERTH_NOT_FOUND;
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict: return BERTH_CONFLICT;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kOutOfRange:
    case ErrorCode::kUnsupported: return BERTH_BAD_ARGUMENT;
    case ErrorCode::kPermissionDenied:
    case ErrorCode::kUnavailable:
    case ErrorCode::kInternal: break;
  }
  return BERTH_ERROR;
}

// Returns whether the body may be JSON, by the media type that the server stated.
bool MayBeJson(const ApiResponse& response) {
  const std::string_view all = response.content_type;
  const std::string_view type = all.substr(0, all.find(';'));
  return type.empty() || type.ends_with("json");
}

// Decodes the body, unless it is no JSON.
std::optional<Arguments> DecodeBody(const ApiResponse& response) {
  if (response.body.empty() || !MayBeJson(response)) return std::nullopt;
  if (IsNestedDeeper(response.body, kMaxBodyDepth)) return std::nullopt;
  const nlohmann::json json = ParseJson(response.body);
  if (json.is_discarded()) return std::nullopt;
  return std::optional<Arguments>(std::in_place, json, "");
}

}  // namespace

// The answer to a call.
struct ApiCalls::Reply {
  explicit Reply(ApiResponse the_response)
      : response(std::move(the_response)),
        code(CodeOf(response.status)),
        body(DecodeBody(response)) {}
  // The answer is CANCELLED.
  explicit Reply(std::string why)
      : response(ApiResponse::None(Status::Unavailable(std::move(why)))), code(BERTH_CANCELLED) {}

  const ApiResponse response;
  const berth_code code;
  const std::optional<Arguments> body;  // Empty: the response has no JSON.
};

berth_code ApiCalls::Open(berth_api_answer answer, void* to,
                          std::function<void(ApiCalls& calls, CallId call)> begin) {
  if (answer == nullptr) return BERTH_BAD_ARGUMENT;
  CallId call = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (stopped_) return BERTH_CANCELLED;
    if (open_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
    call = ++last_;
    open_.emplace(call, Call{answer, to, 0});
  }
  OnSchedulingThread([call, begin = std::move(begin)](ApiCalls& calls) { begin(calls, call); });
  return BERTH_SUCCESS;
}

bool ApiCalls::Run(Task task) {
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_tasks_ >= kMaxWaitingWork) return false;
    ++waiting_tasks_;
  }
  OnSchedulingThread([task = std::move(task)](ApiCalls& calls) {
    {
      const std::scoped_lock lock(calls.mutex_);
      --calls.waiting_tasks_;
    }
    task(calls);
  });
  return true;
}

void ApiCalls::OnSchedulingThread(Task task) {
  Inbox* inbox = ServicesOf(host_).inbox;
  if (std::this_thread::get_id() == scheduling_thread_ || inbox == nullptr) return task(*this);
  inbox->Push([weak = weak_from_this(), task = std::move(task)] {
    const auto calls = weak.lock();
    if (calls != nullptr && !calls->host_.is_retired()) task(*calls);
  });
}

ResponseCallback ApiCalls::AnswerCallback(CallId call) {
  return [weak = weak_from_this(), call](ApiResponse response) {
    const auto calls = weak.lock();
    if (calls == nullptr) return;
    const auto answer = [weak, call, reply = std::make_shared<const Reply>(std::move(response))] {
      const auto open_calls = weak.lock();
      if (open_calls != nullptr) open_calls->Answer(call, *reply);
    };
    // Drop() waits for this lock before the host and its services go.
    std::unique_lock lock(calls->mutex_);
    if (calls->stopped_) return;
    // The answer goes through the inbox even on the scheduling thread, because the plugin may still
    // be inside the request.
    if (Inbox* inbox = ServicesOf(calls->host_).inbox) return inbox->Push(answer);
    lock.unlock();
    answer();
  };
}

void ApiCalls::StartTimer(CallId call, int64_t timeout_ns) {
  const HostServices& services = ServicesOf(host_);
  if (timeout_ns <= 0 || services.timers == nullptr || services.clock == nullptr) return;
  const int64_t now = services.clock->NowNs();
  if (timeout_ns > INT64_MAX - now) return;
  const std::scoped_lock lock(mutex_);
  const auto found = open_.find(call);
  if (found == open_.end()) return;
  found->second.timer =
      services.timers->Start(now + timeout_ns, [weak = weak_from_this(), call, timeout_ns] {
        const auto calls = weak.lock();
        if (calls != nullptr)
          calls->Answer(call, Reply("no answer within " + FormatDuration(timeout_ns)));
      });
}

ApiCalls::Call ApiCalls::Take(CallId call) {
  const std::scoped_lock lock(mutex_);
  auto node = open_.extract(call);
  return node.empty() ? Call{} : node.mapped();
}

void ApiCalls::Answer(CallId call, const Reply& reply) {
  const Call open = Take(call);
  if (open.answer == nullptr) return;
  if (open.timer != 0) ServicesOf(host_).timers->Cancel(open.timer);
  const berth_api_result result{.struct_size = sizeof(berth_api_result),
                                .code = reply.code,
                                .http_status = reply.response.http_status,
                                .reserved = 0,
                                .retry_after_ns = reply.response.retry_after_ns,
                                .body = AsStr(reply.response.body),
                                .error = AsStr(reply.response.status.message()),
                                .value = reply.body.has_value() ? reply.body->root() : nullptr};
  Invoke(host_, kCallback, [&] { open.answer(open.to, &result); });
}

void ApiCalls::Stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
}

void ApiCalls::Cancel() {
  std::vector<CallId> calls;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [call, open] : open_) calls.push_back(call);
  }
  std::ranges::sort(calls);
  for (const CallId call : calls) Answer(call, Reply("the plugin's instance ends"));
}

void ApiCalls::Drop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  for (const auto& [call, open] : open_) {
    if (open.timer != 0) ServicesOf(host_).timers->Cancel(open.timer);
  }
  open_.clear();
}

size_t ApiCalls::open_count() const {
  const std::scoped_lock lock(mutex_);
  return open_.size();
}

}  // namespace berth::host
