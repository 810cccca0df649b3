#include "host/runtime/plugin_call.h"

#include "host/runtime/instance_host.h"

namespace berth::host {
namespace {

CallTerms TermsAt(Point point, CallTerms terms) {
  terms.may_block |= point == kLoad;
  return terms;
}

}  // namespace

PluginCall::PluginCall(InstanceHost& host, const CalledFunction& function, CallTerms terms)
    : host_(&host),
      outer_(host.Enter(function)),
      call_(host.services().monitor, host.callee(), function.point,
            TermsAt(function.point, terms)) {}

PluginCall::~PluginCall() {
  if (host_ == nullptr) return;
  if (host_->Leave(outer_) == Point::kPostFilter) host_->what_if().EndAll();
}

void PluginCall::Detach() {
  host_ = nullptr;
  call_.Detach();
}

int64_t DeadlineNs(const InstanceHost& host, Point point) {
  const HostServices& services = host.services();
  if (services.clock == nullptr || services.monitor == nullptr) return 0;
  return services.monitor->is_watched()
             ? services.monitor->DeadlineNs(point, host.deadline_ns(), services.clock->NowNs())
             : 0;
}

}  // namespace berth::host
