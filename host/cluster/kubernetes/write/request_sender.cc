#include "host/cluster/kubernetes/write/request_sender.h"

#include <map>
#include <string>
#include <utility>

#include "host/base/assert.h"
#include "host/cluster/kubernetes/http/api_error.h"

namespace berth::host {
namespace {

// Bindings have the default priority, which is higher.
constexpr uint8_t kPluginPriority = 2;
constexpr const char* kClientStopped = "the client was stopped";

bool IsRead(std::string_view verb) { return verb == "GET" || verb == "HEAD" || verb == "OPTIONS"; }

}  // namespace

// The requests that have no answer yet. Calls the callback of each once: with its answer, or with
// an error at the end of the time that Stop() waits.
// Lifetime: a shared_ptr owns it. The functions that Add() returns may outlive it, and do nothing
//           then.
class RequestSender::OpenRequests : public std::enable_shared_from_this<OpenRequests> {
 public:
  explicit OpenRequests(Executor& executor) : executor_(executor), limit_(executor) {}
  OpenRequests(const OpenRequests&) = delete;
  OpenRequests& operator=(const OpenRequests&) = delete;

  // Returns the function to call with the answer. `answer` may be empty.
  ResponseCallback Add(ResponseCallback answer) {
    const uint64_t id = ++last_;
    open_.emplace(id, std::move(answer));
    return [weak = weak_from_this(), id](ApiResponse response) {
      const std::shared_ptr<OpenRequests> self = weak.lock();
      if (!self) return;
      const auto entry = self->open_.extract(id);
      if (entry.empty()) return;
      if (entry.mapped()) entry.mapped()(std::move(response));
      self->FinishStop();
    };
  }

  // See RequestSender::Stop(). `done` is never called within the call.
  void Stop(int64_t limit_ns, std::function<void()> done) {
    BERTH_ASSERT(!is_stopping_);
    is_stopping_ = true;
    if (open_.empty()) return executor_.Post(std::move(done));
    stopped_ = std::move(done);
    limit_.StartAfter(limit_ns, [this] { Abandon(); });
  }

  bool is_stopping() const { return is_stopping_; }
  size_t size() const { return open_.size(); }

 private:
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

  Executor& executor_;
  OwnedTimer limit_;
  std::map<uint64_t, ResponseCallback> open_;  // The oldest first.
  uint64_t last_ = 0;
  bool is_stopping_ = false;
  std::function<void()> stopped_;
};

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
  transport_.Send(std::move(http),
                  [content_type, answer = open_->Add(std::move(answer))](HttpResponse response) {
                    answer(ApiResponseOf(std::move(response)));
                  });
}

void RequestSender::Refuse(ResponseCallback answer, const char* why) {
  if (!answer) return;
  executor_.Post(
      [answer = std::move(answer), why] { answer(ApiResponse::None(Status::Unavailable(why))); });
}

size_t RequestSender::open() const { return open_->size(); }

void RequestSender::Stop(int64_t limit_ns, std::function<void()> done) {
  open_->Stop(limit_ns, std::move(done));
}

}  // namespace berth::host
