#include "host/runtime/run_bind.h"

#include <utility>

#include "host/api/status_sink.h"

namespace berth::host {

BindRun::BindRun(Attempt& attempt, const berth_node& node, Finished finished)
    : attempt_(attempt), finished_(std::move(finished)) {
  binding_ = {.struct_size = sizeof(berth_binding),
              .flags = 0,
              .pod = &attempt.pod->view(),
              .node_name = node.meta->name,
              .node_uid = node.meta->uid,
              .slots = nullptr,
              .cancel = &cancel_,
              .deadline_ns = 0};
}

void BindRun::Start() {
  const auto uses = attempt_.plan().At(Point::kBind);
  while (next_ < uses.size()) {
    const PluginCycle& cycle = attempt_.cycle(uses[next_].plugin);
    const PluginInstance& instance = *cycle.plugin().instance;
    StatusSink sink;
    binding_.slots = cycle.abi()->slots;
    done_ = berth_done{
        .complete = [this](berth_code code, std::string_view reason) { Answer(code, reason); }};
    const berth_code code = instance.bind()->bind(instance.self(), &binding_, &done_, sink.raw());
    if (code == BERTH_PENDING) return;
    if (code != BERTH_SKIP) return Answer(code, sink.JoinReasons());
    ++next_;
  }
  finished_({BERTH_SKIP, "", {"no Bind plugin took the pod: all skipped"}});
}

void BindRun::Answer(berth_code code, std::string_view reason) {
  const auto uses = attempt_.plan().At(Point::kBind);
  PluginStatus status{code, attempt_.cycle(uses[next_].plugin).plugin().name, {}};
  if (!reason.empty()) status.reasons.emplace_back(reason);
  // The owner may drop this run within the call: nothing of it is touched afterwards.
  const Finished finished = std::move(finished_);
  finished(std::move(status));
}

}  // namespace berth::host
