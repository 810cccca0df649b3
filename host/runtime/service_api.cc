// The service berth.api/1.
#include "host/runtime/service_api.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/json_body.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

// A PodName that owns its texts.
struct OwnedName {
  std::string ns;
  std::string name;
  std::string uid;

  PodName view() const { return {ns, name, uid}; }
};

OwnedName NameOf(const InstanceHost& instance, const berth_pod& pod) {
  return {std::string(instance.services().interner.Text(pod.meta->ns)),
          std::string(Text(pod.meta->name)), std::string(Text(pod.meta->uid))};
}

// --- bind ----------------------------------------------------------------------------------------

berth_code BindPod(const berth_host* host, const berth_binding* binding,
                   berth_done* done) noexcept {
  const HostUse use(host);
  if (!use || use->is_closed()) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  if (!Promises::IsOpenForBind(done)) return BERTH_CONFLICT;
  instance.api_calls().OnSchedulingThread(
      [pod = NameOf(instance, *binding->pod), node = std::string(Text(binding->node_name)), done,
       complete = Promises::CompletionFor(done)](ApiCalls& calls) {
        // The host may have stopped waiting meanwhile and assigned the pod to another node.
        if (!Promises::IsOpenForBind(done)) {
          return complete(BERTH_CANCELLED, "the host no longer waits for this binding");
        }
        calls.host().services().client->Bind(pod.view(), node, [complete](const Status& status) {
          complete(status.ok() ? BERTH_SUCCESS : BERTH_ERROR, status.message());
        });
      });
  return BERTH_PENDING;
}

// --- patch_status --------------------------------------------------------------------------------

// Returns the patch with the pod's uid added. If another pod of the same name exists, the API
// server then answers with a conflict. Returns no value if `patch` is no patch of a pod.
std::optional<std::string> WithUid(std::string_view patch, const std::string& uid) {
  auto json = ParseBody(patch);
  if (!json.ok()) return std::nullopt;
  auto& metadata = (*json)["metadata"];
  if (metadata.is_null()) metadata = nlohmann::ordered_json::object();
  if (!metadata.is_object()) return std::nullopt;
  metadata["uid"] = uid;
  return DumpJson(*json);
}

berth_code PatchStatus(const berth_host* host, const berth_pod* pod, berth_str patch,
                       berth_api_answer answer, void* to) noexcept {
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  const OwnedName name = NameOf(instance, *pod);
  auto body = WithUid(Text(patch), name.uid);
  if (!body.has_value()) return BERTH_BAD_ARGUMENT;
  ApiRequest request{.verb = "PATCH",
                     .path = "/api/v1/namespaces/" + name.ns + "/pods/" + name.name + "/status",
                     .body = *std::move(body),
                     .patch = PatchKind::kStrategicMerge};
  return instance.api_calls().Begin(
      answer, to, [request = std::move(request)](ApiCalls& calls, ApiCalls::CallId call) {
        calls.host().services().client->Request(request, calls.AnswerCallback(call));
      });
}

// --- evict ---------------------------------------------------------------------------------------

berth_code Evict(const berth_host* host, const berth_pod* pod, berth_str message,
                 berth_api_answer answer, void* to) noexcept {
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  if (instance.services().scheduler == nullptr) return BERTH_UNSUPPORTED;
  return instance.api_calls().Begin(
      answer, to,
      [name = NameOf(instance, *pod), text = std::string(Text(message))](ApiCalls& calls,
                                                                         ApiCalls::CallId call) {
        calls.host().services().scheduler->Evict(
            name.view(), text, [done = calls.AnswerCallback(call)](const Status& status) {
              const bool gone = status.ok() || status.code() == ErrorCode::kNotFound;
              done(gone ? Result<std::string>(std::string()) : Result<std::string>(status));
            });
      });
}

// --- event ---------------------------------------------------------------------------------------

ObjectReference ReferenceTo(const Interner& interner, std::string_view kind,
                            const berth_meta& meta) {
  // "storage.k8s.io/v1/CSINode"
  const size_t slash = kind.rfind('/');
  return {.api_version = std::string(kind.substr(0, slash)),
          .kind = std::string(kind.substr(slash + 1)),
          .ns = std::string(interner.Text(meta.ns)),
          .name = std::string(Text(meta.name)),
          .uid = std::string(Text(meta.uid)),
          .resource_version = std::string(Text(meta.resource_version))};
}

std::optional<ObjectReference> ReferenceTo(const Interner& interner, const berth_tagged* tagged) {
  if (tagged == nullptr || tagged->object == nullptr) return std::nullopt;
  switch (tagged->kind) {
    case BERTH_KIND_POD:
      return ReferenceTo(interner, kPodKind, *static_cast<const berth_pod*>(tagged->object)->meta);
    case BERTH_KIND_NODE:
      return ReferenceTo(interner, kNodeKind,
                         *static_cast<const berth_node*>(tagged->object)->meta);
    case BERTH_KIND_OBJECT: {
      const auto& object = *static_cast<const berth_object*>(tagged->object);
      return ReferenceTo(interner, interner.Text(object.kind), *object.meta);
    }
    default: return std::nullopt;
  }
}

berth_code PutEvent(const berth_host* host, const berth_tagged* regarding,
                    const berth_tagged* related, berth_str type, berth_str reason, berth_str action,
                    berth_str note) noexcept {
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  const HostServices& services = instance.services();
  if (instance.is_closed()) return BERTH_CANCELLED;
  auto about = ReferenceTo(services.interner, regarding);
  const bool bad_type = Text(type) != "Normal" && Text(type) != "Warning";
  if (!about.has_value() || bad_type || reason.len == 0 || action.len == 0) {
    return BERTH_BAD_ARGUMENT;
  }
  Event event{.type = std::string(Text(type)),
              .reason = std::string(Text(reason)),
              .action = std::string(Text(action)),
              .note = TruncateNote(Text(note)),
              .regarding = *std::move(about),
              .related = ReferenceTo(services.interner, related),
              .reporting_controller = instance.profile(),
              .reporting_instance = instance.profile(),
              .time_ns = services.clock != nullptr ? services.clock->NowNs() : 0};
  instance.api_calls().OnSchedulingThread([event = std::move(event)](ApiCalls& calls) {
    calls.host().services().client->CreateEvent(event, nullptr);
  });
  return BERTH_SUCCESS;
}

// --- request -------------------------------------------------------------------------------------

berth_code Request(const berth_host* host, berth_str verb, berth_str path, berth_str body,
                   int64_t timeout_ns, berth_api_answer answer, void* to) noexcept {
  constexpr std::array<std::string_view, 5> kVerbs = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  const bool known = std::ranges::find(kVerbs, Text(verb)) != kVerbs.end();
  if (!known || !Text(path).starts_with('/')) return BERTH_BAD_ARGUMENT;
  ApiRequest request{.verb = std::string(Text(verb)),
                     .path = std::string(Text(path)),
                     .body = std::string(Text(body)),
                     .timeout_ns = std::max<int64_t>(timeout_ns, 0)};
  return instance.api_calls().Begin(
      answer, to, [request = std::move(request)](ApiCalls& calls, ApiCalls::CallId call) {
        calls.StartTimer(call, request.timeout_ns);
        calls.host().services().client->Request(request, calls.AnswerCallback(call));
      });
}

constexpr berth_api kApi{sizeof(berth_api), 0, BindPod, PatchStatus, Evict, PutEvent, Request};

}  // namespace

const berth_api* ApiService() { return &kApi; }

}  // namespace berth::host
