#include "host/cluster/kubernetes/write/request_sender.h"

#include <string>
#include <utility>

#include "host/cluster/kubernetes/http/api_error.h"

namespace berth::host {
namespace {

// Bindings have the default priority, which is higher.
constexpr uint8_t kPluginPriority = 2;
constexpr const char* kClientStopped = "the client was stopped";

bool IsRead(std::string_view verb) { return verb == "GET" || verb == "HEAD" || verb == "OPTIONS"; }

}  // namespace

RequestSender::RequestSender(Transport& transport, Executor& executor, BindFence& fence,
                             size_t max_open)
    : transport_(transport),
      executor_(executor),
      fence_(fence),
      max_open_(max_open),
      open_(std::make_shared<OpenRequests>(executor)) {}

void RequestSender::Send(ApiRequest request, ResponseCallback answer) {
  if (open_->is_stopping()) return Refuse(std::move(answer), kClientStopped);
  if (open_->size() >= max_open_) {
    return Refuse(std::move(answer), "too many requests of plugins wait for an answer");
  }
  HttpRequest http;
  http.timeout_ns = request.timeout_ns;
  http.priority = kPluginPriority;
  if (!IsRead(request.verb)) {
    http.may_send = [weak = std::weak_ptr(open_), &fence = fence_] {
      const std::shared_ptr<OpenRequests> open = weak.lock();
      return open && !open->is_stopping() ? fence.Check() : Status::Unavailable(kClientStopped);
    };
  }
  // The callback below keeps the text until the answer.
  const auto content_type = std::make_shared<const std::string>(request.ContentType());
  if (!request.body.empty()) http.content_type = *content_type;
  http.verb = std::move(request.verb);
  http.target = std::move(request.path);
  http.body = std::move(request.body);
  transport_.Send(
      std::move(http),
      [content_type, answer = open_->Add<ApiResponse>(std::move(answer), &ApiResponse::None)](
          HttpResponse response) { answer(ApiResponseOf(std::move(response))); });
}

void RequestSender::Refuse(ResponseCallback answer, const char* why) {
  if (!answer) return;
  executor_.Post(
      [answer = std::move(answer), why] { answer(ApiResponse::None(Status::Unavailable(why))); });
}

void RequestSender::Stop(int64_t limit_ns, std::function<void()> done) {
  open_->Stop(limit_ns, std::move(done));
}

}  // namespace berth::host
