// Api: requests to the API server. They never block: each is answered once, on the scheduling
// thread.
#ifndef BERTH_API_H_
#define BERTH_API_H_

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/done.h>
#include <berth/internal/callback.h>
#include <berth/internal/services.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {

// Answers are callables `void(berth_code code, std::string_view body)`; `body` is the server's
// answer, or the error's text. A method that does not answer SUCCESS never calls its answer.
//
// Threading: [any].
class Api {
 public:
  explicit Api(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return services_->api != nullptr; }

  // POST pods/binding: what Bind answers. PENDING, and the host completes `done` with the outcome;
  // or an error, and `done` is as it was.
  Status Bind(const Binding& binding, Done& done) const {
    berth_done* const raw = done.Release();
    const berth_code code = services_->api->bind(services_->host, &binding.abi(), raw);
    if (code == BERTH_SUCCESS || code == BERTH_PENDING) return Status::Pending();
    done = Done(*services_, raw);
    return Status(code, "the host does not bind");
  }
  template <class F>
  Status PatchStatus(const berth_pod& pod, std::string_view json_patch, F answer) const {
    return Ask(std::move(answer), [&](berth_api_answer call, void* to) {
      return services_->api->patch_status(services_->host, &pod, Str(json_patch), call, to);
    });
  }
  // Sets the pod's DisruptionTarget condition with `message`, then deletes the pod.
  template <class F>
  Status Evict(const berth_pod& pod, std::string_view message, F answer) const {
    return Ask(std::move(answer), [&](berth_api_answer call, void* to) {
      return services_->api->evict(services_->host, &pod, Str(message), call, to);
    });
  }
  // An events.k8s.io/v1 Event about `regarding`. `type` is "Normal" or "Warning".
  Status Event(const berth_pod& regarding, std::string_view type, std::string_view reason,
               std::string_view action, std::string_view note) const {
    return Status(services_->api->event(services_->host, &regarding, Str(type), Str(reason),
                                        Str(action), Str(note)));
  }
  // Any other request: Request("PATCH", "/apis/...", body, 5s, answer).
  template <class F>
  Status Request(std::string_view verb, std::string_view path, std::string_view body,
                 std::chrono::nanoseconds timeout, F answer) const {
    return Ask(std::move(answer), [&](berth_api_answer call, void* to) {
      return services_->api->request(services_->host, Str(verb), Str(path), Str(body),
                                     timeout.count(), call, to);
    });
  }

 private:
  template <class F, class Call>
  Status Ask(F answer, Call&& call) const {
    using Answer = internal::AnswerCall<F>;
    auto kept = std::make_unique<Answer>(*services_, std::move(answer));
    const Status status(call(&Answer::Answer, kept.get()));
    if (status.ok()) static_cast<void>(kept.release());
    return status;
  }

  const internal::Services* services_;
};

}  // namespace berth

#endif  // BERTH_API_H_
