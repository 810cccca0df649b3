#include "host/plan/instance_host.h"

#include <algorithm>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/cache/column.h"

namespace berth::host {
namespace {

constexpr std::string_view kVersion = "0.1.0";

void Fault(const berth_host* host, berth_str what) noexcept {
  const HostUse instance(host);
  if (instance) instance->NoteFaultAtCurrentPoint(KeptReason(Text(what)));
}

berth_code GetService(const berth_host* host, const char* id, const void** service) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  return instance.IsCalledUnder(kLoadWord) ? instance.FindService(id, service) : BERTH_CONFLICT;
}

// Returns the functions of berth.values/1 among `services`.
const berth_values* FindValues(std::span<const ServiceInfo> services) {
  const auto found =
      std::ranges::find(services, std::string_view(BERTH_SERVICE_VALUES), &ServiceInfo::id);
  return found != services.end() ? static_cast<const berth_values*>(found->functions)
                                 : ValuesService();
}

// Returns the thread words under which a plugin is called at a point.
uint32_t WordsOf(Point point) {
  if (point == kCallback) return kEventWord;
  if (point == kLoad) return kLoadWord;
  if (point == kCycleState) return kCycleWord;
  switch (point) {
    case Point::kPreEnqueue:
    case Point::kEnqueueExtensions:
    case Point::kQueueSort:
    case Point::kEntity: return kQueueWord;
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
    case Point::kPostBind:
    case Point::kAttemptFailed: return kEventWord;
    case Point::kHandOver: return kLoadWord;
  }
  return 0;  // kNoCall
}

}  // namespace

InstanceHost::InstanceHost(InstanceContext& context, std::string plugin,
                           std::vector<std::string> kinds, std::string profile,
                           InstanceLibrary library, int64_t deadline_ns)
    : HostBase{FindValues(context.services)},
      context_(context),
      id_(context.plugin_ids.IdOf(profile, plugin)),
      deadline_ns_(deadline_ns),
      library_id_(library.id),
      live_(new Live{std::move(plugin), std::move(profile), std::move(kinds)}),
      abi_{.struct_size = sizeof(berth_host),
           .abi_major = BERTH_ABI_MAJOR,
           .abi_minor = BERTH_ABI_MINOR,
           .impl = static_cast<HostBase*>(this),
           .name = AsStr("berth"),
           .version = AsStr(kVersion),
           .get_service = GetService,
           .fault = Fault,
           .hash_key = {context.interner.key()[0], context.interner.key()[1]}} {
  if (context.faults != nullptr) {
    live_->faults = context.faults->Open(this->plugin(), this->profile());
    faults_ = live_->faults.get();
  }
  if (context.monitor != nullptr) {
    callee_ = context.monitor->Register(
        {this->plugin(), this->profile(), std::move(library.path), live_->faults, deadline_ns});
  }
  for (const ServiceInfo& service : context.services) {
    if (service.create_state != nullptr) states_.push_back(service.create_state(*this));
  }
  states_.shrink_to_fit();
}

InstanceHost::~InstanceHost() {
  Retire();
  // Never destroyed: threads of the plugin may still use it, and the objects of the cluster that it
  // refers to may be gone.
  if (!retained_.empty()) new auto(std::move(retained_));
}

void InstanceHost::ForEachState(void (ServiceState::*function)()) {
  for (const auto& state : states_) {
    if (state != nullptr) (*state.*function)();
  }
}

void InstanceHost::Begin() {
  creating_ = false;
  ForEachState(&ServiceState::Begin);
}

void InstanceHost::Close() {
  {
    const std::unique_lock lock(uses_);
    if (closed_.exchange(true)) return;
  }
  creating_ = false;
  // All services, before the first callback, which must not begin a request.
  ForEachState(&ServiceState::Stop);
  ForEachState(&ServiceState::Cancel);
}

void InstanceHost::Retire(bool is_busy) {
  // Without the lock: a function of the plugin may wait for a thread that is using a service.
  if (!is_busy && !is_retired()) ForEachState(&ServiceState::GiveBack);
  const std::unique_lock lock(uses_);
  if (is_retired()) return;
  closed_ = true;
  // If the host was not closed, create() failed, and the plugin has freed what its callbacks use.
  ForEachState(&ServiceState::Drop);
  promises_->CloseAll();
  auto state = states_.begin();
  for (const ServiceInfo& service : context_.services) {
    if (service.create_state == nullptr) continue;
    if (service.lifetime == StateLifetime::kReadByPlugin && is_busy) Retain(*state);
    if (service.lifetime != StateLifetime::kHost) *state = nullptr;
    ++state;
  }
  // The callee id stays while a pool thread may be inside the plugin.
  if (context_.monitor != nullptr && !is_busy) context_.monitor->Unregister(callee_);
  faults_ = nullptr;
  live_ = nullptr;
  retired_.store(true, std::memory_order_release);
}

berth_code InstanceHost::FindService(std::string_view id, const void** functions) const {
  const auto services = context_.services;
  const auto found = std::ranges::find(services, id, &ServiceInfo::id);
  if (found == services.end()) return BERTH_NOT_FOUND;
  if (found->is_served != nullptr && !found->is_served(*this)) return BERTH_UNSUPPORTED;
  const auto has_state = [](const ServiceInfo& service) { return service.create_state != nullptr; };
  const auto index = static_cast<size_t>(std::count_if(services.begin(), found, has_state));
  *functions = found->functions != nullptr ? found->functions : states_[index]->functions();
  return BERTH_SUCCESS;
}

void InstanceHost::Retain(std::shared_ptr<const void> kept) {
  const std::scoped_lock lock(mutex_);
  retained_.push_back(std::move(kept));
}

void InstanceHost::Reject(Rejection rejection) {
  std::unique_ptr<const Rejection>& first = live_->rejection;
  if (first == nullptr) first = std::make_unique<const Rejection>(std::move(rejection));
}

bool InstanceHost::Declared(std::string_view kind) const {
  return std::ranges::find(live_->kinds, kind) != live_->kinds.end();
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
  if (context_.log == nullptr) return;
  context_.log->Write({.level = level, .logger = plugin(), .message = message, .fields = fields});
}

void InstanceHost::NoteFault(Point point, FaultKind kind, std::string_view what) const {
  if (faults_ == nullptr) return;
  const bool is_limited = IsOnSchedulingThread() && counted_faults_ != nullptr;
  if (is_limited && !counted_faults_->insert(point).second) return;
  const bool is_in_attempt = IsOnSchedulingThread() && context_.monitor != nullptr;
  context_.faults->Note(*faults_, point, kind, what,
                        is_in_attempt ? context_.monitor->PodOfAttempt() : 0);
}

void InstanceHost::NoteFaultAtCurrentPoint(std::string_view what) const {
  Point at = kNoCall;
  if (IsOnSchedulingThread()) {
    at = point();
  } else if (context_.monitor != nullptr) {
    at = context_.monitor->PointOnThisThread(callee_);
  }
  NoteFault(at != kNoCall ? at : kCallback, FaultKind::kException, what);
}

CalledFunction InstanceHost::Enter(const CalledFunction& function) {
  if (!IsOnSchedulingThread()) return {};
  if (function.cycle != nullptr) has_decided_ = true;
  return std::exchange(called_, function);
}

void InstanceHost::Leave(const CalledFunction& outer) {
  if (!IsOnSchedulingThread()) return;
  const Point point = std::exchange(called_, outer).point;
  if (point == Point::kPostFilter) ForEachState(&ServiceState::EndPostFilter);
}

// --- plugin call ---------------------------------------------------------------------------------

namespace {

CallTerms TermsAt(Point point, CallTerms terms) {
  terms.may_block |= point == kLoad || point == Point::kHandOver;
  return terms;
}

}  // namespace

PluginCall::PluginCall(InstanceHost& host, const CalledFunction& function, CallTerms terms)
    : host_(&host),
      outer_(host.Enter(function)),
      call_(host.context().monitor, host.callee(), function.point, TermsAt(function.point, terms)) {
}

PluginCall::~PluginCall() {
  if (host_ != nullptr) host_->Leave(outer_);
}

void PluginCall::Detach() {
  host_ = nullptr;
  call_.Detach();
}

int64_t DeadlineNs(const InstanceHost& host, Point point) {
  const InstanceContext& context = host.context();
  if (context.clock == nullptr || context.monitor == nullptr) return 0;
  return context.monitor->is_watched()
             ? context.monitor->DeadlineNs(point, host.deadline_ns(), context.clock->NowNs())
             : 0;
}

}  // namespace berth::host
