#include "host/runtime/instance_host.h"

#include <algorithm>
#include <array>
#include <utility>

#include "host/api/objects.h"
#include "host/runtime/arguments.h"
#include "host/runtime/plugin_cycle.h"

struct berth_object_ref {
  berth::host::ObjectRef object;
};

void berth_done::Complete(berth_code code, std::string_view reason) {
  if (completed.exchange(true)) return;
  if (!post) return Deliver(code, reason);
  post(
      [done = shared_from_this(), code, text = std::string(reason)] { done->Deliver(code, text); });
}

// The answer may drop this promise: nothing of it is touched afterwards.
void berth_done::Deliver(berth_code code, std::string_view reason) {
  const auto call = std::exchange(answer, nullptr);
  if (call) call(code, reason);
}

namespace berth::host {
namespace {

constexpr std::string_view kVersion = "0.1.0";

// --- berth.log/1 --------------------------------------------------------------------------------

void Log(const berth_host* host, uint32_t level, berth_str message, const berth_str_pair* pairs,
         uint64_t count) noexcept {
  InstanceHost& instance = InstanceHost::FromAbi(host);
  if (level < instance.services().log_level || !instance.services().log) return;
  std::string line(Text(message));
  for (uint64_t i = 0; i < count; ++i) {
    line.append(" ").append(Text(pairs[i].key)).append("=").append(Text(pairs[i].value));
  }
  instance.services().log(level, instance.plugin(), line);
}

// --- berth.strings/1 ----------------------------------------------------------------------------

berth_id InternText(const berth_host* host, berth_str text) noexcept {
  return InstanceHost::FromAbi(host).Intern(Text(text));
}

berth_id FindText(const berth_host* host, berth_str text) noexcept {
  return InstanceHost::FromAbi(host).services().interner.Find(Text(text));
}

berth_str TextOf(const berth_host* host, berth_id id) noexcept {
  return AsStr(InstanceHost::FromAbi(host).services().interner.Text(id));
}

constexpr berth_strings kStrings{sizeof(berth_strings), 0, InternText, FindText, TextOf};

// --- berth.columns/1 ----------------------------------------------------------------------------

berth_code BindColumn(const berth_host* host, const berth_cycle* cycle, berth_str name,
                      uint32_t* index) noexcept {
  (void)host;
  const Result<uint32_t> bound = PluginCycle::FromAbi(cycle)->BindColumn(Text(name));
  if (!bound.ok()) {
    return bound.status().code() == ErrorCode::kNotFound ? BERTH_NOT_FOUND : BERTH_CONFLICT;
  }
  *index = *bound;
  return BERTH_SUCCESS;
}

constexpr berth_columns kColumns{sizeof(berth_columns), 0, BindColumn};

// --- berth.objects/1 ----------------------------------------------------------------------------

const berth_object* GetObject(const berth_host* host, berth_str kind, berth_str ns,
                              berth_str name) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.Declared(Text(kind))) return nullptr;
  const ObjectRef object = instance.services().objects.Get(Text(kind), Text(ns), Text(name));
  return object != nullptr ? &object->view() : nullptr;
}

berth_code ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                       int32_t (*each)(void*, const berth_object*), void* to) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.Declared(Text(kind))) return BERTH_NOT_FOUND;
  instance.services().objects.List(Text(kind), Text(ns), [&](const ObjectRef& object) {
    return each(to, &object->view()) != 0;
  });
  return BERTH_SUCCESS;
}

berth_code WatchObjects(const berth_host* host, berth_str kind,
                        void (*change)(void*, const berth_object*, const berth_object*),
                        void* to) noexcept {
  (void)change;
  (void)to;
  if (!InstanceHost::FromAbi(host).Declared(Text(kind))) return BERTH_NOT_FOUND;
  return BERTH_UNSUPPORTED;
}

berth_object_ref* RetainObject(const berth_host* host, const berth_object* object) noexcept {
  const HostServices& services = InstanceHost::FromAbi(host).services();
  const ObjectRef held =
      services.objects.Get(services.interner.Text(object->kind),
                           services.interner.Text(object->meta->ns), Text(object->meta->name));
  if (held == nullptr || &held->view() != object) return nullptr;
  return new berth_object_ref{held};
}

const berth_object* ViewObject(const berth_object_ref* ref) noexcept {
  return &ref->object->view();
}

void ReleaseObject(const berth_host* host, berth_object_ref* ref) noexcept {
  (void)host;
  delete ref;
}

constexpr berth_objects kObjects{
    sizeof(berth_objects), 0,          GetObject,    ListObjects, WatchObjects,
    RetainObject,          ViewObject, ReleaseObject};

// --- berth.api/1 --------------------------------------------------------------------------------

berth_code BindPod(const berth_host* host, const berth_binding* binding,
                   berth_done* done) noexcept {
  const HostServices& services = InstanceHost::FromAbi(host).services();
  if (!services.bind) return BERTH_UNSUPPORTED;
  return services.bind(*binding, done);
}

berth_code PatchStatus(const berth_host*, const berth_pod*, berth_str, berth_api_answer,
                       void*) noexcept {
  return BERTH_UNSUPPORTED;
}

berth_code Evict(const berth_host*, const berth_pod*, berth_str, berth_api_answer, void*) noexcept {
  return BERTH_UNSUPPORTED;
}

berth_code Event(const berth_host*, const berth_tagged*, const berth_tagged*, berth_str, berth_str,
                 berth_str, berth_str) noexcept {
  return BERTH_UNSUPPORTED;
}

berth_code Request(const berth_host*, berth_str, berth_str, berth_str, int64_t, berth_api_answer,
                   void*) noexcept {
  return BERTH_UNSUPPORTED;
}

constexpr berth_api kApi{sizeof(berth_api), 0, BindPod, PatchStatus, Evict, Event, Request};

// --- berth.completion/1 -------------------------------------------------------------------------

void Complete(berth_done* done, berth_code code, berth_str reason) noexcept {
  done->Complete(code, Text(reason));
}

constexpr berth_completion kCompletion{sizeof(berth_completion), 0, Complete};

// --- the table ----------------------------------------------------------------------------------

// berth.log/1 is made per instance, for its level.
constexpr berth_log kLogId{};

const std::array<ServiceInfo, 13> kServices{{
    {BERTH_SERVICE_LOG, &kLogId},
    {BERTH_SERVICE_STRINGS, &kStrings},
    {BERTH_SERVICE_COLUMNS, &kColumns},
    {BERTH_SERVICE_ARGS, ArgumentsService()},
    {BERTH_SERVICE_METRICS, nullptr},
    {BERTH_SERVICE_OBJECTS, &kObjects},
    {BERTH_SERVICE_WHATIF, nullptr},
    {BERTH_SERVICE_NOMINATOR, nullptr},
    {BERTH_SERVICE_ACTIVATE, nullptr},
    {BERTH_SERVICE_WAITING, nullptr},
    {BERTH_SERVICE_TIMER, nullptr},
    {BERTH_SERVICE_API, &kApi},
    {BERTH_SERVICE_COMPLETION, &kCompletion},
}};

berth_code GetService(const berth_host* host, const char* id, const void** service) noexcept {
  const auto found = std::ranges::find(kServices, std::string_view(id), &ServiceInfo::id);
  if (found == kServices.end()) return BERTH_NOT_FOUND;
  if (found->service == nullptr) return BERTH_UNSUPPORTED;
  *service = found->service == &kLogId ? InstanceHost::FromAbi(host).log_service() : found->service;
  return BERTH_SUCCESS;
}

}  // namespace

std::span<const ServiceInfo> Services() { return kServices; }

InstanceHost::InstanceHost(HostServices& services, std::string plugin,
                           std::vector<std::string> kinds)
    : services_(services),
      plugin_(std::move(plugin)),
      kinds_(std::move(kinds)),
      ids_(services.interner),
      log_{sizeof(berth_log), 0, &services.log_level, Log},
      abi_{.struct_size = sizeof(berth_host),
           .abi_major = BERTH_ABI_MAJOR,
           .abi_minor = BERTH_ABI_MINOR,
           .impl = this,
           .name = AsStr("berth"),
           .version = AsStr(kVersion),
           .get_service = GetService} {}

bool InstanceHost::Declared(std::string_view kind) const {
  return std::ranges::find(kinds_, kind) != kinds_.end();
}

Id InstanceHost::Intern(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  // A plugin may ask for one text a million times; one reference is enough.
  if (const Id known = services_.interner.Find(text); known != kNoId && interned_.contains(known)) {
    return known;
  }
  const Id id = ids_.Intern(text);
  interned_.insert(id);
  return id;
}

InstanceHost& InstanceHost::FromAbi(const berth_host* host) {
  return *static_cast<InstanceHost*>(host->impl);
}

}  // namespace berth::host
