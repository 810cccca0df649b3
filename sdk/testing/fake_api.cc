#include <cstddef>
#include <mutex>
#include <string>
#include <utility>

#include <berth/abi.h>
#include <berth/testing/argument.h>
#include <berth/testing/call.h>
#include <berth/testing/fake_api.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/services.h>
#include <berth/testing/values.h>

namespace berth::testing {

void FakeApi::Reply(std::string verb, std::string path, ApiReply reply) {
  const std::lock_guard lock(mutex_);
  table_[{std::move(verb), std::move(path)}] = std::move(reply);
}

FakeApi& FakeApi::Of(const berth_host* host) { return Services::Of(host).api(); }

std::string FakeApi::PathOf(const berth_pod& pod) const {
  return "/api/v1/namespaces/" + std::string(services_.ids().Text(pod.meta->ns)) + "/pods/" +
         std::string(FromAbi(pod.meta->name));
}

std::string FakeApi::NameOf(const berth_tagged* object) const {
  if (object == nullptr || object->object == nullptr) return {};
  const berth_meta* meta = nullptr;
  switch (object->kind) {
    case BERTH_KIND_POD: meta = static_cast<const berth_pod*>(object->object)->meta; break;
    case BERTH_KIND_NODE: meta = static_cast<const berth_node*>(object->object)->meta; break;
    case BERTH_KIND_OBJECT: meta = static_cast<const berth_object*>(object->object)->meta; break;
    default: return {};
  }
  return std::string(FromAbi(meta->name));
}

ApiReply FakeApi::Serve(ApiCall call, uint32_t missing) {
  const std::lock_guard lock(mutex_);
  const auto found = table_.find({call.verb, call.path});
  calls_.push_back(std::move(call));
  return found != table_.end() ? found->second : ApiReply{.http_status = missing};
}

berth_code FakeApi::Send(ApiCall call, uint32_t missing, berth_api_answer answer, void* to) {
  if (answer == nullptr) return BERTH_BAD_ARGUMENT;
  const bool accepted =
      services_.DoLater([this, reply = Serve(std::move(call), missing), answer,
                         to](bool cancelled) { Deliver(reply, cancelled, answer, to); });
  return accepted ? BERTH_SUCCESS : BERTH_CANCELLED;
}

berth_code FakeApi::Bind(const berth_host* host, const berth_binding* binding,
                         berth_done done) noexcept {
  FakeApi& self = Of(host);
  if (done.host != host) {
    self.services_.reporter().Fail(Check::kShape,
                                   "calls api.bind with a promise of another instance");
    return BERTH_CONFLICT;
  }
  ApiCall call{.verb = "POST",
               .path = self.PathOf(*binding->pod) + "/binding",
               .content_type = "application/json",
               .body = std::string(FromAbi(binding->node_name))};
  const bool accepted =
      self.services_.DoLater([done, reply = self.Serve(std::move(call), 201)](bool cancelled) {
        const auto [code, error] = ResultOf(reply);
        const berth_outcome outcome = {sizeof outcome, code, ToAbi(error)};
        if (!cancelled) Services::Complete(done, &outcome);
      });
  return accepted ? BERTH_PENDING : BERTH_CANCELLED;
}

berth_code FakeApi::PatchStatus(const berth_host* host, const berth_status_patch* patch,
                                berth_api_answer answer, void* to) noexcept {
  FakeApi& self = Of(host);
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_status_patch, patch);
  if (!ExpectReadable(self.services_.reporter(), "api.patch_status", *patch, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  return self.Send({.verb = "PATCH",
                    .path = self.PathOf(*patch->pod) + "/status",
                    .content_type = "application/strategic-merge-patch+json",
                    .body = std::string(FromAbi(patch->patch))},
                   200, answer, to);
}

berth_code FakeApi::Evict(const berth_host* host, const berth_eviction* eviction,
                          berth_api_answer answer, void* to) noexcept {
  FakeApi& self = Of(host);
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_eviction, message);
  if (!ExpectReadable(self.services_.reporter(), "api.evict", *eviction, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  return self.Send({.verb = "DELETE",
                    .path = self.PathOf(*eviction->pod),
                    .content_type = "",
                    .body = std::string(FromAbi(eviction->message))},
                   200, answer, to);
}

berth_code FakeApi::Event(const berth_host* host, const berth_api_event* event) noexcept {
  FakeApi& self = Of(host);
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_api_event, note);
  if (!ExpectReadable(self.services_.reporter(), "api.event", *event, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  ApiEvent seen{.regarding = self.NameOf(event->regarding),
                .related = self.NameOf(event->related),
                .type = std::string(FromAbi(event->type)),
                .reason = std::string(FromAbi(event->reason)),
                .action = std::string(FromAbi(event->action)),
                .note = std::string(FromAbi(event->note))};
  const bool bad_type = seen.type != "Normal" && seen.type != "Warning";
  if (bad_type || seen.regarding.empty() || seen.reason.empty() || seen.action.empty()) {
    return BERTH_BAD_ARGUMENT;
  }
  const std::lock_guard lock(self.mutex_);
  self.events_.push_back(std::move(seen));
  return BERTH_SUCCESS;
}

berth_code FakeApi::Request(const berth_host* host, const berth_api_request* request,
                            berth_api_answer answer, void* to) noexcept {
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_api_request, timeout_ns);
  if (!ExpectReadable(Of(host).services_.reporter(), "api.request", *request, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  ApiCall call{.verb = std::string(FromAbi(request->verb)),
               .path = std::string(FromAbi(request->path)),
               .content_type = std::string(FromAbi(request->content_type)),
               .body = std::string(FromAbi(request->body)),
               .timeout_ns = request->timeout_ns};
  const std::string& verb = call.verb;
  const bool known =
      verb == "GET" || verb == "POST" || verb == "PUT" || verb == "PATCH" || verb == "DELETE";
  if (!known || !call.path.starts_with('/')) return BERTH_BAD_ARGUMENT;
  if (call.content_type.empty()) {
    call.content_type = verb == "PATCH" ? "application/merge-patch+json" : "application/json";
  }
  return Of(host).Send(std::move(call), 404, answer, to);
}

const berth_api FakeApi::kService{sizeof(berth_api), 0, &Bind, &PatchStatus, &Evict, &Event,
                                  &Request};

std::pair<berth_code, std::string> FakeApi::ResultOf(const ApiReply& reply) {
  if (reply.http_status >= 200 && reply.http_status < 300) return {BERTH_SUCCESS, ""};
  if (reply.http_status == 0) return {BERTH_ERROR, "the server did not respond"};
  const std::string error = "HTTP status " + std::to_string(reply.http_status);
  switch (reply.http_status) {
    case 404: return {BERTH_NOT_FOUND, error};
    case 409: return {BERTH_CONFLICT, error};
    case 400:
    case 405:
    case 406:
    case 410:
    case 413:
    case 415:
    case 422: return {BERTH_BAD_ARGUMENT, error};
    default: return {BERTH_ERROR, error};
  }
}

void FakeApi::Deliver(const ApiReply& reply, bool cancelled, berth_api_answer answer, void* to) {
  auto [code, error] = ResultOf(reply);
  const bool is_json = reply.body.starts_with('{') || reply.body.starts_with('[');
  ValueSpec value;
  if (is_json) value = internal::ReadJson(reply.body);
  berth_api_result result{};
  result.struct_size = sizeof result;
  result.code = cancelled ? berth_code{BERTH_CANCELLED} : code;
  if (cancelled) {
    error = "the plugin's instance ends";
  } else {
    result.http_status = reply.http_status;
    result.retry_after_ns = reply.retry_after_ns;
    result.body = ToAbi(reply.body);
    result.value = is_json ? &value : nullptr;
  }
  result.error = ToAbi(error);
  const CallScope scope(&services_.reporter(), "an answer of the API server", kEvent);
  answer(to, &result);
}

}  // namespace berth::testing
