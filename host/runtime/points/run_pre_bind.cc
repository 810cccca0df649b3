#include "host/runtime/points/run_pre_bind.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/status_sink.h"
#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {
namespace {

// Returns Success, Skip, or an error.
PluginStatus RunPreFlight(const PlannedPlugin& plugin, Binding& of, uint32_t index) {
  berth_binding* binding = of.AbiFor(index, BindingCall::kPreFlight);
  binding->call_deadline_ns = DeadlineNs(*plugin.host, Point::kPreBind);
  const PluginAnswer answer =
      Invoke(plugin, Point::kPreBind,
             [binding](auto& instance, berth_status* status) {
               return instance.pre_bind()->pre_flight(instance.self(), binding, status);
             },
             {.pod = binding->pod, .cancel = of.CancelWordOf(index, BindingCall::kPreFlight)});
  if (answer.ok() || answer.code == BERTH_SKIP) return {answer.code, plugin.id, {}};
  // Codes that Kubernetes does not have are errors, too, and faults except Cancelled.
  if (answer.code == BERTH_ERROR || answer.code < BERTH_SUCCESS || answer.code > BERTH_PENDING) {
    return AnswerError(plugin, Point::kPreBind, answer, PointFunction::kPreFlight);
  }
  NoteBadCode(plugin, Point::kPreBind, answer.code, answer.Message());
  return PluginStatus::Error(
      plugin.id, "PreBindPreFlight " + plugin.name + " returned \"" +
                     std::string(CodeName(answer.code)) +
                     "\", which is unsupported. It is supposed to return Success, Skip, or "
                     "Error status");
}

}  // namespace

PreFlightResult RunPreBindPreFlight(Binding& binding) {
  PreFlightResult result;
  result.status.code = BERTH_SKIP;
  for (const PlannedUse& use : binding.plan().At(Point::kPreBind)) {
    const PlannedPlugin& plugin = binding.plan().plugins()[use.plugin];
    PluginStatus status;
    if (auto error = QuarantineError(plugin, Point::kPreBind, PointFunction::kPreFlight)) {
      status = *std::move(error);
    } else if (plugin.instance->pre_bind()->pre_flight != nullptr) {
      status = RunPreFlight(plugin, binding, use.plugin);
    }
    if (status.ok()) {
      result.status = {};
    } else if (status.code == BERTH_SKIP) {
      result.skipped.push_back(use.plugin);
    } else {
      return {std::move(status), {}};
    }
  }
  return result;
}

// --- PreBindRun ----------------------------------------------------------------------------------

PreBindRun::PreBindRun(Binding& binding, const AsyncCalls& calls, std::vector<uint32_t> skipped,
                       Finished finished)
    : binding_(binding),
      calls_(calls),
      skipped_(std::move(skipped)),
      finished_(std::move(finished)) {}

PreBindRun::~PreBindRun() = default;

void PreBindRun::Start() { Continue(); }

// Runs group after group, until one has pending answers.
void PreBindRun::Continue() {
  while (!has_failed_ && next_ < binding_.plan().At(Point::kPreBind).size()) {
    FormGroup();
    if (group_.empty()) continue;
    if (binding_.cancelled()) return Finish(PluginStatus::Error({}, "the binding was cancelled"));
    StartGroup();
    if (outstanding_ > 0) return;
  }
  const auto failed = std::ranges::find_if(group_, [](const Member& member) {
    return member.answer.has_value() && !member.answer->ok();
  });
  Finish(failed == group_.end() ? PluginStatus() : *std::move(failed->answer));
}

void PreBindRun::FormGroup() {
  const auto uses = binding_.plan().At(Point::kPreBind);
  group_.clear();
  while (next_ < uses.size()) {
    const uint32_t plugin = uses[next_].plugin;
    const berth_pre_bind& point = *binding_.plan().plugins()[plugin].instance->pre_bind();
    const bool is_parallel = (point.flags & BERTH_PRE_BIND_PARALLEL) != 0;
    if (!is_parallel && !group_.empty()) return;
    ++next_;
    if (std::ranges::find(skipped_, plugin) == skipped_.end()) {
      group_.push_back({plugin, nullptr, std::nullopt});
    }
    if (!is_parallel) return;
  }
}

void PreBindRun::StartGroup() {
  is_starting_ = true;
  for (Member& member : group_) {
    if (has_failed_) break;
    ++outstanding_;
    member.call = std::make_unique<AsyncCall>(
        binding_, calls_, member.plugin, Point::kPreBind,
        [this, &member](PluginStatus status) { OnAnswer(member, std::move(status)); });
    member.call->Start();
  }
  is_starting_ = false;
}

void PreBindRun::OnAnswer(Member& member, PluginStatus status) {
  --outstanding_;
  member.answer = std::move(status);
  if (!member.answer->ok() && !has_failed_) {
    has_failed_ = true;
    for (const Member& other : group_) {
      if (other.call == nullptr || other.answer.has_value()) continue;
      binding_.CancelCall(other.plugin, BindingCall::kPreBind);
    }
  }
  if (outstanding_ == 0 && !is_starting_) Continue();
}

// Must not: access members after `finished`, which may destroy this run.
void PreBindRun::Finish(PluginStatus status) {
  const Finished finished = std::exchange(finished_, nullptr);
  finished(std::move(status));
}

}  // namespace berth::host
