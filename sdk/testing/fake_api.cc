#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <berth/abi.h>
#include <berth/testing/argument.h>
#include <berth/testing/call.h>
#include <berth/testing/fake_api.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/scheduling_services.h>
#include <berth/testing/services.h>
#include <berth/testing/values.h>

namespace berth::testing {
namespace {

constexpr const char* kAnswerPoint = "an answer of the API server";
constexpr size_t kMaxBytes = size_t{3} << 20;  // of a path or a body
constexpr const char* kInstanceEnds = "the plugin's instance ends";

}  // namespace

void FakeApi::Reply(std::string verb, std::string path, ApiReply reply) {
  const std::lock_guard lock(mutex_);
  table_[{std::move(verb), std::move(path)}] = std::move(reply);
}

void FakeApi::ForgetRecords() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
  events_.clear();
}

FakeApi& FakeApi::Of(const berth_host* host) { return Services::Of(host).api(); }

std::string FakeApi::PathOf(const berth_pod& pod) const {
  return "/api/v1/namespaces/" + std::string(services_.ids().Text(pod.meta->ns)) + "/pods/" +
         std::string(FromAbi(pod.meta->name));
}

std::optional<std::string> FakeApi::NameOf(const berth_tagged* object) {
  if (object == nullptr || object->object == nullptr) return std::nullopt;
  const berth_meta* meta = nullptr;
  switch (object->kind) {
    case BERTH_KIND_POD: meta = static_cast<const berth_pod*>(object->object)->meta; break;
    case BERTH_KIND_NODE: meta = static_cast<const berth_node*>(object->object)->meta; break;
    case BERTH_KIND_OBJECT: meta = static_cast<const berth_object*>(object->object)->meta; break;
    default: return std::nullopt;
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
  if (services_.is_closed()) return BERTH_CANCELLED;
  return services_.DoLater(Services::LaterKind::kAnswer,
                           [this, reply = Serve(std::move(call), missing), answer,
                            to](bool cancelled) { Deliver(reply, cancelled, answer, to); });
}

berth_code FakeApi::Bind(const berth_host* host, const berth_binding* binding,
                         berth_done done) noexcept {
  FakeApi& self = Of(host);
  if (self.services_.is_closed()) return BERTH_CANCELLED;
  if (!self.services_.promises().IsOpenForBind(done)) {
    self.services_.reporter().Fail(Check::kShape,
                                   done.host != host
                                       ? "calls api.bind with a promise of another instance"
                                       : "calls api.bind with promise " + std::to_string(done.id) +
                                             ", which is not an open promise of Bind");
    return BERTH_CONFLICT;
  }
  ApiCall call{.verb = "POST",
               .path = self.PathOf(*binding->pod) + "/binding",
               .content_type = "application/json",
               .body = std::string(FromAbi(binding->node_name))};
  const berth_code sent = self.services_.DoLater(
      Services::LaterKind::kAnswer,
      [&self, done, reply = self.Serve(std::move(call), 201)](bool cancelled) {
        // The plugin may have completed the promise, or the host no longer waits.
        if (cancelled || !self.services_.promises().IsOpenForBind(done)) return;
        const auto [code, error] = ResultOf(reply);
        const berth_str reason = ToAbi(error);
        const berth_outcome outcome = {sizeof outcome,
                                       code == BERTH_SUCCESS ? BERTH_SUCCESS : BERTH_ERROR,
                                       {&reason, reason.len != 0 ? 1U : 0U, sizeof reason}};
        self.services_.promises().Complete(done, outcome);
      });
  return sent == BERTH_SUCCESS ? berth_code{BERTH_PENDING} : sent;
}

namespace {

std::string ToJson(const ValueSpec& value) {
  std::string json;
  internal::kValues.write_json(
      &value,
      [](void* to, berth_str text) noexcept {
        static_cast<std::string*>(to)->append(FromAbi(text));
      },
      &json);
  return json;
}

// Returns the patch with the pod's uid added, as the host does; std::nullopt if the text is no JSON
// object, or its metadata no object.
std::optional<std::string> WithUid(std::string_view text, berth_str uid) {
  ValueSpec patch;
  if (!internal::TryReadJson(text, &patch).empty() || patch.kind != BERTH_VALUE_OBJECT) {
    return std::nullopt;
  }
  const ValueSpec* const given = patch.Find("metadata");
  const bool has_none = given == nullptr || given->kind == BERTH_VALUE_NULL;
  ValueSpec metadata = has_none ? ValueSpec::Object() : *given;
  if (metadata.kind != BERTH_VALUE_OBJECT) return std::nullopt;
  metadata.Drop("uid");
  metadata.Set("uid", ValueSpec(std::string(FromAbi(uid))));
  patch.Drop("metadata");
  patch.Set("metadata", std::move(metadata));
  return ToJson(patch);
}

// Returns the patch of a pod's status that says that the pod is preempted.
std::string DisruptionPatch(const std::string& message) {
  ValueSpec condition = ValueSpec::Object();
  condition.Set("type", ValueSpec(std::string("DisruptionTarget")));
  condition.Set("status", ValueSpec(std::string("True")));
  condition.Set("reason", ValueSpec(std::string("PreemptionByScheduler")));
  condition.Set("message", ValueSpec(message));
  ValueSpec status = ValueSpec::Object();
  status.Set("conditions", ValueSpec::List({std::move(condition)}));
  ValueSpec patch = ValueSpec::Object();
  patch.Set("status", std::move(status));
  return ToJson(patch);
}

// Decodes a body. Returns false if it is no JSON, or null.
bool DecodeBody(const ApiReply& reply, ValueSpec* value) {
  const std::string_view type =
      std::string_view(reply.content_type).substr(0, reply.content_type.find(';'));
  if (reply.body.empty() || (!type.empty() && !type.ends_with("json"))) return false;
  return internal::TryReadJson(reply.body, value).empty() && value->kind != BERTH_VALUE_NULL;
}

}  // namespace

berth_code FakeApi::PatchStatus(const berth_host* host, const berth_status_patch* patch,
                                berth_api_answer answer, void* to) noexcept {
  FakeApi& self = Of(host);
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_status_patch, patch);
  if (!ExpectReadable(self.services_.reporter(), "api.patch_status", *patch, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  std::optional<std::string> body = WithUid(FromAbi(patch->patch), patch->pod->meta->uid);
  if (!body) return BERTH_BAD_ARGUMENT;
  return self.Send({.verb = "PATCH",
                    .path = self.PathOf(*patch->pod) + "/status",
                    .content_type = "application/strategic-merge-patch+json",
                    .body = *std::move(body)},
                   200, answer, to);
}

berth_code FakeApi::Evict(const berth_host* host, const berth_eviction* eviction,
                          berth_api_answer answer, void* to) noexcept {
  FakeApi& self = Of(host);
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_eviction, message);
  if (!ExpectReadable(self.services_.reporter(), "api.evict", *eviction, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  if (answer == nullptr) return BERTH_BAD_ARGUMENT;
  const std::string uid(FromAbi(eviction->pod->meta->uid));
  Victim victim{
      .uid = uid,
      .path = self.PathOf(*eviction->pod),
      .message = std::string(FromAbi(eviction->message)),
      .waited = CallScope::current() != nullptr && self.services_.scheduling().IsWaiting(uid)};
  const auto deliver = [&self, answer, to](const Eviction& result) {
    self.DeliverCode(result, answer, to);
  };
  return self.services_.DoLater(
      Services::LaterKind::kRequest, [&self, victim = std::move(victim), deliver](bool cancelled) {
        const Eviction ended{.code = BERTH_CANCELLED, .error = kInstanceEnds};
        if (cancelled) return deliver(ended);
        self.services_.DoLater(Services::LaterKind::kFollowUp,
                               [deliver, ended, result = self.EvictNow(victim)](bool is_late) {
                                 deliver(is_late ? ended : result);
                               });
      });
}

FakeApi::Eviction FakeApi::EvictNow(const Victim& victim) {
  SchedulingServices& scheduling = services_.scheduling();
  if (scheduling.Preempt(victim.uid, victim.message)) return {.in_memory = true};
  // The pod has lost its place since the eviction was requested.
  if (victim.waited && scheduling.WasRejected(victim.uid)) return {.in_memory = true};
  Serve({.verb = "PATCH",
         .path = victim.path + "/status",
         .content_type = "application/strategic-merge-patch+json",
         .body = DisruptionPatch(victim.message)},
        200);
  const auto [code, error] = ResultOf(Serve({.verb = "DELETE", .path = victim.path}, 200));
  if (code == BERTH_NOT_FOUND) return {};
  return {.code = code, .error = error};
}

berth_code FakeApi::Event(const berth_host* host, const berth_api_event* event) noexcept {
  FakeApi& self = Of(host);
  if (self.services_.is_closed()) return BERTH_CANCELLED;
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_api_event, note);
  if (!ExpectReadable(self.services_.reporter(), "api.event", *event, kFirstSize)) {
    return BERTH_BAD_ARGUMENT;
  }
  const std::optional<std::string> regarding = NameOf(event->regarding);
  const std::optional<std::string> related = NameOf(event->related);
  const bool names_another =
      event->related != nullptr && event->related->kind != 0 && event->related->object != nullptr;
  ApiEvent seen{.regarding = regarding.value_or(""),
                .related = related.value_or(""),
                .type = std::string(FromAbi(event->type)),
                .reason = std::string(FromAbi(event->reason)),
                .action = std::string(FromAbi(event->action)),
                .note = std::string(FromAbi(event->note))};
  const bool bad_type = seen.type != "Normal" && seen.type != "Warning";
  const bool bad_objects = !regarding || (!related && names_another);
  if (bad_type || bad_objects || seen.reason.empty() || seen.action.empty()) {
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
               .timeout_ns = std::max<int64_t>(request->timeout_ns, 0)};
  const std::string& verb = call.verb;
  const bool known =
      verb == "GET" || verb == "POST" || verb == "PUT" || verb == "PATCH" || verb == "DELETE";
  if (!known || !call.path.starts_with('/')) return BERTH_BAD_ARGUMENT;
  if (call.path.size() > kMaxBytes || call.body.size() > kMaxBytes) return BERTH_BAD_ARGUMENT;
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
  if (cancelled) {
    return DeliverCode({.code = BERTH_CANCELLED, .error = kInstanceEnds}, answer, to);
  }
  const auto [code, error] = ResultOf(reply);
  ValueSpec value;
  berth_api_result result{};
  result.struct_size = sizeof result;
  result.code = code;
  result.http_status = reply.http_status;
  result.retry_after_ns = reply.retry_after_ns;
  result.body = ToAbi(reply.body);
  result.error = ToAbi(error);
  result.value = DecodeBody(reply, &value) ? &value : nullptr;
  const CallScope scope(&services_.reporter(), kAnswerPoint, kEvent);
  answer(to, &result);
}

void FakeApi::DeliverCode(const Eviction& eviction, berth_api_answer answer, void* to) {
  berth_api_result result{};
  result.struct_size = sizeof result;
  result.code = eviction.code;
  result.flags = eviction.in_memory ? uint32_t{BERTH_API_RESULT_IN_MEMORY} : 0;
  result.error = ToAbi(eviction.error);
  const CallScope scope(&services_.reporter(), kAnswerPoint, kEvent);
  answer(to, &result);
}

}  // namespace berth::testing
