#include "host/plan/plugin_call.h"

#include "host/plan/instance_host.h"

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
