// berth.api/1, and berth.completion/1, which ends the bindings that berth.api/1 may make.
#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/api/json_syntax.h"
#include "host/base/foreign_struct.h"
#include "host/base/json_text.h"
#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/cluster/json_body.h"
#include "host/plan/invoke.h"
#include "host/plan/plan.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// --- berth.completion/1 --------------------------------------------------------------------------

// The most reasons of an outcome. A larger number is taken for memory that is not initialised.
constexpr uint32_t kMaxOutcomeReasons = 65'536;

// An outcome as the host keeps it.
struct KeptOutcome {
  berth_code code;
  std::vector<std::string> reasons;
};

KeptOutcome Keep(const berth_outcome& given) {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_outcome, reasons);
  if (given.struct_size < kFirstSize) {
    return {BERTH_BUG, {"gave a berth_outcome that is too small"}};
  }
  if (const auto fault = ArrayFault(given.reasons, sizeof(berth_str), kMaxOutcomeReasons)) {
    return {BERTH_BUG, {"gave an array of reasons that is not valid: " + *fault}};
  }
  StatusSink sink;  // It keeps the reasons of an outcome as those of an answer.
  for (uint32_t i = 0; i < given.reasons.count; ++i) {
    const berth_str reason = *BERTH_AT(berth_str, given.reasons, i);
    if (IsNull(reason) || reason.len != 0) sink.raw()->add_reason(sink.raw(), reason);
  }
  const bool is_bug = sink.has_null_reason() && given.code != BERTH_SUCCESS;
  return {is_bug ? berth_code{BERTH_BUG} : given.code, sink.TakeReasons()};
}

void Complete(berth_done done, const berth_outcome* outcome) noexcept {
  if (done.host == nullptr) return;
  InstanceHost& instance = InstanceHost::FromAbi(done.host);
  KeptOutcome kept = Keep(*outcome);
  if (instance.promises()->Complete(done.id, kept.code, std::move(kept.reasons))) return;
  const HostUse use(instance);
  if (use) {
    use->NoteFaultAtCurrentPoint("completed promise " + std::to_string(done.id) +
                                 ", which it never got");
  }
}

constexpr berth_completion kCompletion{sizeof(berth_completion), 0, Complete};

// --- the open requests of an instance ------------------------------------------------------------

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

// The answer to a call.
struct Reply {
  explicit Reply(ApiResponse the_response)
      : response(std::move(the_response)),
        code(CodeOf(response.status)),
        body(DecodeBody(response)) {}
  // The answer is CANCELLED.
  explicit Reply(std::string why)
      : response(ApiResponse::None(Status::Unavailable(std::move(why)))), code(BERTH_CANCELLED) {}

  // The answer to an eviction.
  Reply(Status status, bool in_memory)
      : response(ApiResponse::None(std::move(status))),
        code(CodeOf(response.status)),
        flags(in_memory ? uint32_t{BERTH_API_RESULT_IN_MEMORY} : 0) {}

  const ApiResponse response;
  const berth_code code;
  const std::optional<Arguments> body;  // Empty: the response has no JSON.
  const uint32_t flags = 0;             // BERTH_API_RESULT_*
};

// The open requests of one instance. Each is answered exactly once, on the scheduling thread and
// never within the call that made it: by the cluster, or with CANCELLED after its time limit or
// when the host is closed.
//
// Lifetime: owned by its InstanceHost; others hold it only while a task runs. The cluster may
//           answer after the services were destroyed; the answer is ignored then.
class ApiCalls final : public ServiceState, public std::enable_shared_from_this<ApiCalls> {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kApi;
  using CallId = uint64_t;  // Never 0.
  // A task for the scheduling thread.
  using Task = std::function<void(ApiCalls& calls)>;

  explicit ApiCalls(InstanceHost& host) : host_(host) {}

  // --- any thread ---

  // Opens a call and runs `begin` on the scheduling thread, at once if this is that thread. Returns
  // the code of the service: SUCCESS; BAD_ARGUMENT without an `answer`; CANCELLED after Stop();
  // CONFLICT if kMaxWaitingWork calls are open.
  berth_code Open(berth_api_answer answer, void* to,
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
  // Runs `task` on the scheduling thread, at once if this is that thread. Drops it if the instance
  // is retired before. Returns false, and does nothing, if kMaxWaitingWork tasks wait.
  bool Run(Task task) {
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
  // Returns the callback for the cluster's answer. It may be called on any thread, and at any time.
  // It decodes the body, so that a client with threads of its own does not hold up the scheduling
  // thread with that.
  ResponseCallback AnswerCallback(CallId call) {
    return [weak = weak_from_this(), call](ApiResponse response) {
      AnswerLater(weak, call, std::make_shared<const Reply>(std::move(response)));
    };
  }
  // Returns the callback for the result of an eviction, in the same way. A pod that does not exist
  // is a success.
  SchedulerRequests::EvictionCallback EvictionCallback(CallId call) {
    return [weak = weak_from_this(), call](const Status& status, bool in_memory) {
      const bool is_gone = status.code() == ErrorCode::kNotFound;
      AnswerLater(weak, call,
                  std::make_shared<const Reply>(is_gone ? Status() : status, in_memory));
    };
  }

  // --- the scheduling thread ---

  // Answers the call with CANCELLED after `timeout_ns`, unless it is answered before. 0 means no
  // limit.
  void StartTimer(CallId call, int64_t timeout_ns) {
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
  void Stop() override {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  void Cancel() override {
    std::vector<CallId> calls;
    {
      const std::scoped_lock lock(mutex_);
      for (const auto& [call, open] : open_) calls.push_back(call);
    }
    std::ranges::sort(calls);
    for (const CallId call : calls) Answer(call, Reply("the plugin's instance ends"));
  }
  void Drop() override {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    for (const auto& [call, open] : open_) {
      if (open.timer != 0) ServicesOf(host_).timers->Cancel(open.timer);
    }
    open_.clear();
  }
  size_t open_count() const {
    const std::scoped_lock lock(mutex_);
    return open_.size();
  }

  InstanceHost& host() { return host_; }

 private:
  struct Call {
    berth_api_answer answer = nullptr;
    void* to = nullptr;
    TimerQueue::Id timer = 0;  // 0: none.
  };

  // Answers the call on the scheduling thread, if the instance still exists then.
  // Threading: any.
  static void AnswerLater(const std::weak_ptr<ApiCalls>& weak, CallId call,
                          std::shared_ptr<const Reply> reply) {
    const auto calls = weak.lock();
    if (calls == nullptr) return;
    const auto answer = [weak, call, reply = std::move(reply)] {
      const auto open_calls = weak.lock();
      if (open_calls != nullptr) open_calls->Answer(call, *reply);
    };
    // Drop() waits for this lock before the host and its services go.
    std::unique_lock lock(calls->mutex_);
    if (calls->stopped_) return;
    // The answer goes through the inbox even on the scheduling thread, because the plugin may
    // still be inside the request.
    if (Inbox* inbox = ServicesOf(calls->host_).inbox) return inbox->Push(answer);
    lock.unlock();
    answer();
  }
  // Runs `task` as Run() does, without a limit.
  void OnSchedulingThread(Task task) {
    Inbox* inbox = ServicesOf(host_).inbox;
    if (std::this_thread::get_id() == scheduling_thread_ || inbox == nullptr) return task(*this);
    inbox->Push([weak = weak_from_this(), task = std::move(task)] {
      const auto calls = weak.lock();
      if (calls != nullptr && !calls->host_.is_retired()) task(*calls);
    });
  }
  // Answers the call, unless it has been answered.
  void Answer(CallId call, const Reply& reply) {
    const Call open = Take(call);
    if (open.answer == nullptr) return;
    if (open.timer != 0) ServicesOf(host_).timers->Cancel(open.timer);
    const berth_api_result result{.struct_size = sizeof(berth_api_result),
                                  .code = reply.code,
                                  .http_status = reply.response.http_status,
                                  .flags = reply.flags,
                                  .retry_after_ns = reply.response.retry_after_ns,
                                  .body = AsStr(reply.response.body),
                                  .error = AsStr(reply.response.status.message()),
                                  .value = reply.body.has_value() ? reply.body->root() : nullptr};
    Invoke(host_, kCallback, [&] { open.answer(open.to, &result); });
  }
  // Removes and returns an open call; empty if it has been answered.
  Call Take(CallId call) {
    const std::scoped_lock lock(mutex_);
    auto node = open_.extract(call);
    return node.empty() ? Call{} : node.mapped();
  }

  InstanceHost& host_;
  const std::thread::id scheduling_thread_ = std::this_thread::get_id();
  mutable std::mutex mutex_;  // Guards what follows.
  std::unordered_map<CallId, Call> open_;
  CallId last_ = 0;
  size_t waiting_tasks_ = 0;  // Tasks of Run() in the inbox.
  bool stopped_ = false;
};

// --- berth.api/1 ---------------------------------------------------------------------------------

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
        ServicesOf(calls.host()).scheduler->Evict(name.view(), text, calls.EvictionCallback(call));
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

std::span<const ServiceInfo> ApiServices() {
  static const std::array services{
      ServiceInfo{.id = BERTH_SERVICE_COMPLETION, .functions = &kCompletion},
      ServiceInfo{.id = BERTH_SERVICE_API,
                  .functions = &kApi,
                  .is_served = HasClient,
                  .create_state = CreateState<ApiCalls>}};
  return services;
}

size_t OpenRequestCount(const InstanceHost& host) { return StateOf<ApiCalls>(host).open_count(); }

}  // namespace berth::host
