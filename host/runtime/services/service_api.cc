// The service berth.api/1.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/base/foreign_struct.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cluster/json_body.h"
#include "host/runtime/services/api_calls.h"
#include "host/runtime/services/services.h"

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
  return {std::string(instance.context().interner.Text(pod.meta->ns)),
          std::string(Text(pod.meta->name)), std::string(Text(pod.meta->uid))};
}

// --- bind ----------------------------------------------------------------------------------------

berth_code BindPod(const berth_host* host, const berth_binding* binding, berth_done done) noexcept {
  const HostUse use(host);
  if (!use || use->is_closed()) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  const bool is_open = done.host == host && instance.promises()->IsOpenForBind(done.id);
  if (!is_open) return BERTH_CONFLICT;
  const bool will_run = StateOf<ApiCalls>(instance).Run(
      [pod = NameOf(instance, *binding->pod), node = std::string(Text(binding->node_name)),
       id = done.id](ApiCalls& calls) {
        Promises& promises = *calls.host().promises();
        // The host may have stopped waiting meanwhile and assigned the pod to another node.
        if (!promises.IsOpenForBind(id)) {
          promises.Complete(id, BERTH_CANCELLED, {"the host no longer waits for this binding"});
          return;
        }
        ServicesOf(calls.host())
            .client->Bind(
                pod.view(), node,
                [weak = std::weak_ptr(calls.host().promises()), id](const Status& status) {
                  const auto open = weak.lock();
                  if (open == nullptr) return;
                  if (status.ok()) {
                    open->Complete(id, BERTH_SUCCESS, {});
                  } else {
                    open->Complete(id, BERTH_ERROR, {std::string(status.message())});
                  }
                });
      });
  return will_run ? BERTH_PENDING : BERTH_CONFLICT;
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

berth_code PatchStatus(const berth_host* host, const berth_status_patch* patch,
                       berth_api_answer answer, void* to) noexcept {
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  if (!IsReadable(*patch, BERTH_FIRST_SIZE(berth_status_patch, patch))) return BERTH_BAD_ARGUMENT;
  const OwnedName name = NameOf(instance, *patch->pod);
  auto body = WithUid(Text(patch->patch), name.uid);
  if (!body.has_value()) return BERTH_BAD_ARGUMENT;
  ApiRequest request{.verb = "PATCH",
                     .path = "/api/v1/namespaces/" + name.ns + "/pods/" + name.name + "/status",
                     .body = *std::move(body),
                     .content_type = std::string(kStrategicMergePatch)};
  return StateOf<ApiCalls>(instance).Open(
      answer, to, [request = std::move(request)](ApiCalls& calls, ApiCalls::CallId call) {
        ServicesOf(calls.host()).client->Request(request, calls.AnswerCallback(call));
      });
}

// --- evict ---------------------------------------------------------------------------------------

berth_code Evict(const berth_host* host, const berth_eviction* eviction, berth_api_answer answer,
                 void* to) noexcept {
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  if (ServicesOf(instance).scheduler == nullptr) return BERTH_UNSUPPORTED;
  if (!IsReadable(*eviction, BERTH_FIRST_SIZE(berth_eviction, message))) return BERTH_BAD_ARGUMENT;
  return StateOf<ApiCalls>(instance).Open(
      answer, to,
      [name = NameOf(instance, *eviction->pod), text = std::string(Text(eviction->message))](
          ApiCalls& calls, ApiCalls::CallId call) {
        ServicesOf(calls.host())
            .scheduler->Evict(
                name.view(), text, [done = calls.AnswerCallback(call)](const Status& status) {
                  const bool gone = status.ok() || status.code() == ErrorCode::kNotFound;
                  done(ApiResponse::None(gone ? Status() : status));
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

// Returns whether something is referred to, of whatever kind.
bool IsObject(const berth_tagged* tagged) {
  return tagged != nullptr && tagged->kind != 0 && tagged->object != nullptr;
}

berth_code PutEvent(const berth_host* host, const berth_api_event* given) noexcept {
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  if (instance.is_closed()) return BERTH_CANCELLED;
  if (!IsReadable(*given, BERTH_FIRST_SIZE(berth_api_event, note))) return BERTH_BAD_ARGUMENT;
  const HostServices& services = ServicesOf(instance);
  auto about = ReferenceTo(services.interner, given->regarding);
  const std::string_view type = Text(given->type);
  const bool bad_type = type != "Normal" && type != "Warning";
  auto related = ReferenceTo(services.interner, given->related);
  const bool bad_related = !related.has_value() && IsObject(given->related);
  if (given->flags != 0 || !about.has_value() || bad_related || bad_type ||
      given->reason.len == 0 || given->action.len == 0) {
    return BERTH_BAD_ARGUMENT;
  }
  Event event{.type = std::string(type),
              .reason = std::string(Text(given->reason)),
              .action = std::string(Text(given->action)),
              .note = TruncateNote(Text(given->note)),
              .regarding = *std::move(about),
              .related = std::move(related),
              .reporting_controller = instance.profile(),
              .reporting_instance = instance.profile(),
              .time_ns = services.clock != nullptr ? services.clock->NowNs() : 0};
  const bool will_run =
      StateOf<ApiCalls>(instance).Run([event = std::move(event)](ApiCalls& calls) {
        ServicesOf(calls.host()).client->CreateEvent(event, nullptr);
      });
  return will_run ? BERTH_SUCCESS : BERTH_CONFLICT;
}

// --- request -------------------------------------------------------------------------------------

berth_code Request(const berth_host* host, const berth_api_request* given, berth_api_answer answer,
                   void* to) noexcept {
  constexpr std::array<std::string_view, 5> kVerbs = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  const HostUse use(host);
  if (!use) return BERTH_CANCELLED;
  InstanceHost& instance = *use;
  if (!IsReadable(*given, BERTH_FIRST_SIZE(berth_api_request, timeout_ns))) {
    return BERTH_BAD_ARGUMENT;
  }
  const bool known = std::ranges::find(kVerbs, Text(given->verb)) != kVerbs.end();
  if (!known || !Text(given->path).starts_with('/')) return BERTH_BAD_ARGUMENT;
  if (given->path.len > kMaxBodyBytes || given->body.len > kMaxBodyBytes) {
    return BERTH_BAD_ARGUMENT;
  }
  ApiRequest request{.verb = std::string(Text(given->verb)),
                     .path = std::string(Text(given->path)),
                     .body = std::string(Text(given->body)),
                     .timeout_ns = std::max<int64_t>(given->timeout_ns, 0),
                     .content_type = std::string(Text(given->content_type))};
  return StateOf<ApiCalls>(instance).Open(
      answer, to, [request = std::move(request)](ApiCalls& calls, ApiCalls::CallId call) {
        calls.StartTimer(call, request.timeout_ns);
        ServicesOf(calls.host()).client->Request(request, calls.AnswerCallback(call));
      });
}

constexpr berth_api kApi{sizeof(berth_api), 0, BindPod, PatchStatus, Evict, PutEvent, Request};

bool HasClient(const InstanceHost& host) { return ServicesOf(host).client != nullptr; }

}  // namespace

ServiceInfo ApiService() {
  return {.id = BERTH_SERVICE_API,
          .functions = &kApi,
          .is_served = HasClient,
          .create_state = CreateState<ApiCalls>};
}

}  // namespace berth::host
