#include "host/runtime/instance_host.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "host/cache/column.h"
#include "host/runtime/attempt/nodes_view.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

constexpr std::string_view kVersion = "0.1.0";

void LogMessage(const berth_host* host, uint32_t level, berth_str message,
                const berth_str_pair* pairs, uint64_t count) noexcept {
  const HostUse instance(host);
  if (!instance) return;
  const uint32_t least = instance->services().log_level.get();
  level = std::min<uint32_t>(level, BERTH_LOG_ERROR);
  if (level < least) return;
  std::vector<LogField> fields;
  fields.reserve(count);
  for (const berth_str_pair& pair : std::span(pairs, count)) {
    fields.push_back({.key = Text(pair.key), .value = Text(pair.value)});
  }
  instance->Log(level, Text(message), fields);
}

void Fault(const berth_host* host, berth_str what) noexcept {
  const HostUse instance(host);
  if (instance) instance->NoteFaultAtCurrentPoint(KeptReason(Text(what)));
}

berth_code GetService(const berth_host* host, const char* id, const void** service) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kLoadWord)) return BERTH_CONFLICT;
  const auto services = Services();
  const auto found = std::ranges::find(services, std::string_view(id), &ServiceInfo::id);
  if (found == services.end()) return BERTH_NOT_FOUND;
  if (found->is_served != nullptr && !found->is_served(instance.services())) {
    return BERTH_UNSUPPORTED;
  }
  *service = found->id == BERTH_SERVICE_LOG ? instance.log_service() : found->service;
  return BERTH_SUCCESS;
}

// Returns the thread words under which a plugin is called at a point.
uint32_t WordsOf(Point point) {
  if (point == kCallback) return kEventWord;
  if (point == kLoad) return kLoadWord;
  if (point == kCycleState) return kCycleWord;
  switch (point) {
    case Point::kPreEnqueue:
    case Point::kEnqueueExtensions:
    case Point::kQueueSort: return kQueueWord;
    case Point::kPreFilter:
    case Point::kPostFilter:
    case Point::kPreScore:
    case Point::kPermit: return kCycleWord;
    case Point::kFilter:
    case Point::kScore: return kBlockWord;
    case Point::kReserve:  // Reserve, or Unreserve.
    case Point::kChanges: return kCycleWord | kEventWord;
    case Point::kPreBind:
    case Point::kBind: return kBindWord;
    case Point::kPostBind: return kEventWord;
  }
  return 0;  // kNoCall
}

}  // namespace

InstanceHost::InstanceHost(HostServices& services, std::string plugin,
                           std::vector<std::string> kinds, std::string profile, std::string library,
                           int64_t deadline_ns)
    : HostBase{InstanceValuesService()},
      services_(services),
      kinds_(std::move(kinds)),
      id_(services.plugin_ids.IdOf(profile, plugin)),
      deadline_ns_(deadline_ns),
      what_if_(*this),
      work_(std::make_unique<Work>(*this, std::move(plugin), std::move(profile))),
      log_level_(services.log_level),
      log_{sizeof(berth_log), 0, log_level_.word(), LogMessage},
      abi_{.struct_size = sizeof(berth_host),
           .abi_major = BERTH_ABI_MAJOR,
           .abi_minor = BERTH_ABI_MINOR,
           .impl = static_cast<HostBase*>(this),
           .name = AsStr("berth"),
           .version = AsStr(kVersion),
           .get_service = GetService,
           .fault = Fault,
           .hash_key = {services.interner.key()[0], services.interner.key()[1]}} {
  if (services.faults != nullptr) faults_ = services.faults->Open(this->plugin(), this->profile());
  if (services.monitor != nullptr) {
    callee_ = services.monitor->Register(
        {this->plugin(), this->profile(), std::move(library), faults_, deadline_ns});
  }
}

InstanceHost::Work::Work(InstanceHost& host, std::string the_plugin, std::string the_profile)
    : plugin(std::move(the_plugin)),
      profile(std::move(the_profile)),
      watches(host),
      timers(host),
      metrics(host),
      api_calls(std::make_shared<ApiCalls>(host)),
      posts(std::make_shared<Posts>(host)),
      holdings(std::make_shared<Holdings>(host.services_.interner)) {}

InstanceHost::~InstanceHost() {
  Retire();
  // Never destroyed: threads of the plugin may still use it, and the objects of the cluster that it
  // refers to may be gone.
  if (!retained_.empty()) new auto(std::move(retained_));
}

void InstanceHost::Begin() {
  creating_ = false;
  metrics().Begin();
  watches().Replay();
}

void InstanceHost::Close() {
  {
    const std::unique_lock lock(uses_);
    if (closed_.exchange(true)) return;
  }
  creating_ = false;
  watches().Close();
  timers().Close();
  // Before the first callback, which must not begin a request.
  api_calls().Refuse();
  posts().Close();
  api_calls().Close();
}

void InstanceHost::Retire(bool abandoned) {
  const std::unique_lock lock(uses_);
  if (is_retired()) return;
  closed_ = true;
  watches().Close();
  timers().Close();
  // If the host was not closed, create() failed, and the plugin has freed what its callbacks use.
  api_calls().DropAll();
  posts().DropAll();
  ClosePromises();
  if (abandoned) Retain(work_->holdings);
  // The callee id stays while a pool thread may be inside the plugin.
  if (services_.monitor != nullptr && !abandoned) services_.monitor->Unregister(callee_);
  faults_ = nullptr;
  work_ = nullptr;
  retired_.store(true, std::memory_order_release);
}

void InstanceHost::Retain(std::shared_ptr<const void> kept) {
  const std::scoped_lock lock(mutex_);
  retained_.push_back(std::move(kept));
}

void InstanceHost::Refuse(Refusal refusal) {
  if (!refusal_.has_value()) refusal_ = std::move(refusal);
}

bool InstanceHost::Declared(std::string_view kind) const {
  return std::ranges::find(kinds_, kind) != kinds_.end();
}

bool InstanceHost::MayUseColumn(std::string_view name) const {
  const std::string_view kind = ObjectKindOf(name);
  return kind.empty() || Declared(kind);
}

bool InstanceHost::IsCalledUnder(uint32_t words) const {
  if (!IsOnSchedulingThread() || is_retired()) return false;
  if (creating_) return (words & kLoadWord) != 0;
  return ((called_.words != 0 ? called_.words : WordsOf(called_.point)) & words) != 0;
}

void InstanceHost::Log(uint32_t level, std::string_view message,
                       std::span<const LogField> fields) const {
  if (services_.log == nullptr) return;
  services_.log->Write({.level = level, .logger = plugin(), .message = message, .fields = fields});
}

void InstanceHost::NoteFault(Point point, FaultKind kind, std::string_view what) const {
  if (faults_ == nullptr) return;
  const bool is_limited = IsOnSchedulingThread() && counted_faults_ != nullptr;
  if (is_limited && !counted_faults_->insert(point).second) return;
  services_.faults->Note(*faults_, point, kind, what);
}

void InstanceHost::NoteFaultAtCurrentPoint(std::string_view what) const {
  Point at = kNoCall;
  if (IsOnSchedulingThread()) {
    at = point();
  } else if (services_.monitor != nullptr) {
    at = services_.monitor->PointOnThisThread(callee_);
  }
  NoteFault(at != kNoCall ? at : kCallback, FaultKind::kException, what);
}

const PassedNodes* InstanceHost::FindPassed(const berth_nodes* nodes) const {
  const auto first = passed_nodes_.begin() + static_cast<ptrdiff_t>(called_.first_passed);
  const auto end = passed_nodes_.begin() + static_cast<ptrdiff_t>(called_.end_passed);
  const auto found = std::find_if(
      first, end, [nodes](const PassedNodes* passed) { return passed->abi() == nodes; });
  return found != end ? *found : nullptr;
}

CalledFunction InstanceHost::Enter(const CalledFunction& function) {
  if (!IsOnSchedulingThread()) return {};
  CalledFunction entered = function;
  entered.first_passed = called_.end_passed;
  entered.end_passed = passed_nodes_.size();
  return std::exchange(called_, entered);
}

Point InstanceHost::Leave(const CalledFunction& outer) {
  return IsOnSchedulingThread() ? std::exchange(called_, outer).point : kNoCall;
}

}  // namespace berth::host
