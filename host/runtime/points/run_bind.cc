#include "host/runtime/points/run_bind.h"

#include <utility>

namespace berth::host {

BindRun::BindRun(Binding& binding, const AsyncCalls& calls, Finished finished)
    : binding_(binding), calls_(calls), finished_(std::move(finished)) {}

BindRun::~BindRun() = default;

void BindRun::Start() {
  const uint32_t plugin = binding_.plan().At(Point::kBind)[next_].plugin;
  call_ = std::make_unique<AsyncCall>(binding_, calls_, plugin, Point::kBind,
                                      [this](PluginStatus status) { OnAnswer(std::move(status)); });
  call_->Start();
}

void BindRun::OnAnswer(PluginStatus status) {
  if (status.code != BERTH_SKIP) return Finish(std::move(status));
  ++next_;
  if (next_ < binding_.plan().At(Point::kBind).size()) return Start();
  // kube-scheduler returns Skip here, with an empty message if the plugin gave no reason.
  if (status.reasons.empty()) status.reasons = {"all Bind plugins skipped the pod"};
  Finish({BERTH_ERROR, {}, std::move(status.reasons)});
}

// Must not: access members after `finished`, which may destroy this run.
void BindRun::Finish(PluginStatus status) {
  const Finished finished = std::exchange(finished_, nullptr);
  finished(std::move(status));
}

}  // namespace berth::host
