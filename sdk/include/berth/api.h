// Api: requests to the API server. They do not block. Each request is answered once, on the
// scheduling thread.
#ifndef BERTH_API_H_
#define BERTH_API_H_

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <berth/abi.h>
#include <berth/api_result.h>
#include <berth/cycle.h>
#include <berth/done.h>
#include <berth/internal/callback.h>
#include <berth/internal/services.h>
#include <berth/patch.h>
#include <berth/pod.h>
#include <berth/span.h>
#include <berth/status.h>

namespace berth {

// Answers are callables `void(const berth::ApiResult& result)`. If a method does not return
// Success, it never calls the answer.
//
// Threading: [any].
class Api {
 public:
  explicit Api(const internal::Services& services) : services_(&services) {}
  explicit operator bool() const { return bool(services_->api); }

  // Sends POST pods/binding; Bind returns its result. Returns Pending, and the host completes
  // `done` with the result; or returns an error, and leaves `done` unchanged.
  Status Bind(const Binding& binding, Done& done) const {
    const berth_api* const api = services_->api.operator->();
    const berth_done raw = done.Release();
    const berth_code code = api->bind(services_->host, &binding.abi(), raw);
    if (code == BERTH_SUCCESS || code == BERTH_PENDING) return Status::Pending();
    done = Done(*services_, raw);
    return Status(code, "the host rejected the binding");
  }
  // Patches the pod's status. `patch` is a strategic merge patch of the pod, as JSON.
  template <class F>
  Status PatchStatus(const berth_pod& pod, std::string_view patch, F answer) const {
    return Send(std::move(answer), [&](berth_api_answer call, void* to) {
      const berth_status_patch abi = {sizeof(abi), 0, &pod, Str(patch)};
      return services_->api->patch_status(services_->host, &abi, call, to);
    });
  }
  // Evicts a pod, as preemption does: see berth_api.evict.
  template <class F>
  Status Evict(const berth_pod& pod, std::string_view message, F answer) const {
    return Send(std::move(answer), [&](berth_api_answer call, void* to) {
      const berth_eviction eviction = {sizeof(eviction), 0, &pod, Str(message)};
      return services_->api->evict(services_->host, &eviction, call, to);
    });
  }
  // The texts of an events.k8s.io/v1 Event. `type` is "Normal" or "Warning".
  struct EventText {
    std::string_view type = "Normal";
    std::string_view reason;
    std::string_view action;
    std::string_view note;
  };
  Status Event(const berth_tagged& regarding, const EventText& text) const {
    return PutEvent(regarding, nullptr, text);
  }
  Status Event(const berth_tagged& regarding, const berth_tagged& related,
               const EventText& text) const {
    return PutEvent(regarding, &related, text);
  }
  Status Event(const berth_pod& regarding, const EventText& text) const {
    return PutEvent(Tagged(regarding), nullptr, text);
  }
  Status Event(const berth_pod& regarding, const berth_pod& related, const EventText& text) const {
    const berth_tagged tagged = Tagged(related);
    return PutEvent(Tagged(regarding), &tagged, text);
  }
  // A request, as {.verb = "GET", .path = "/apis/..."}.
  struct RequestText {
    std::string_view verb = "GET";  // GET, POST, PUT, PATCH or DELETE
    std::string_view path;          // with its query
    std::string_view body = {};
    // Empty: application/json, and application/merge-patch+json for PATCH.
    std::string_view content_type = {};
    std::chrono::nanoseconds timeout = {};  // 0: the host's default
  };
  // Sends any other request.
  template <class F>
  Status Request(const RequestText& request, F answer) const {
    return Send(std::move(answer), [&](berth_api_answer call, void* to) {
      const berth_api_request abi = {sizeof(abi),
                                     0,
                                     Str(request.verb),
                                     Str(request.path),
                                     Str(request.content_type),
                                     Str(request.body),
                                     request.timeout.count()};
      return services_->api->request(services_->host, &abi, call, to);
    });
  }
  // Sends a request whose answer completes `done`: Success, or Error with the text of the server.
  // Returns Pending; or returns an error, and leaves `done` unchanged.
  Status Request(const RequestText& request, Done& done) const {
    auto promise = std::make_shared<Done>(std::move(done));
    const Status sent = Request(request, [promise](const ApiResult& result) {
      promise->Complete(result.ok() ? Status::Success() : Status::Error(result.error()));
    });
    if (sent.ok()) return Status::Pending();
    done = std::move(*promise);
    return sent;
  }
  // Sends a merge patch of a pod or a node: see patch.h. `answer`: a callable, or a Done, as of
  // Request(). Without an API server, the host can answer
  // only if kFields has "Pod:" or "Node:".
  // Must not: be called by a plugin without BERTH_SERVICE_STRINGS in kServices.
  template <class F>
  Status PatchPod(const berth_pod& pod, const Patch& patch, F&& answer) const {
    return Request({.verb = "PATCH", .path = PathOf(pod), .body = patch.Body()},
                   std::forward<F>(answer));
  }
  template <class F>
  Status PatchNode(const berth_node& node, const Patch& patch, F&& answer) const {
    return Request({.verb = "PATCH", .path = PathOf(node), .body = patch.Body()},
                   std::forward<F>(answer));
  }
  // Returns the path of a pod or a node on the API server: "/api/v1/namespaces/shop/pods/p".
  std::string PathOf(const berth_pod& pod) const {
    const berth_str ns = services_->strings->text(services_->host, pod.meta->ns);
    std::string path = "/api/v1/namespaces/";
    return path.append(Str(ns)).append("/pods/").append(Str(pod.meta->name));
  }
  static std::string PathOf(const berth_node& node) {
    return std::string("/api/v1/nodes/").append(Str(node.meta->name));
  }

 private:
  static berth_tagged Tagged(const berth_pod& pod) { return {BERTH_KIND_POD, 0, &pod}; }
  Status PutEvent(const berth_tagged& regarding, const berth_tagged* related,
                  const EventText& text) const {
    const berth_api_event event = {
        sizeof(event), 0, &regarding, related, Str(text.type), Str(text.reason), Str(text.action),
        Str(text.note)};
    return Status(services_->api->event(services_->host, &event));
  }
  template <class F, class Call>
  Status Send(F answer, Call&& call) const {
    using Answer = internal::OnceCall<F>;
    static_cast<void>(*services_->api);  // Throws if the host does not serve it.
    return Answer::Pass(*services_, std::move(answer),
                        [&](void* to) { return call(&Answer::Answer, to); });
  }

  const internal::Services* services_;
};

}  // namespace berth

#endif  // BERTH_API_H_
