#include "host/runtime/run_bind.h"

#include <optional>
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
  for (; next_ < uses.size(); ++next_) {
    std::string reason;
    const berth_code code = Ask(reason);
    if (code == BERTH_PENDING) return;
    if (code != BERTH_SKIP) return Finish(code, reason);
  }
  // The owner may drop this run within the call: nothing of it is touched afterwards.
  const Finished finished = std::move(finished_);
  finished({BERTH_ERROR, "", {"all Bind plugins skipped the pod"}});
}

// Asks plugin `next_`. An answer that is completed within the call counts as if it were returned.
berth_code BindRun::Ask(std::string& reason) {
  const PluginCycle& cycle = attempt_.cycle(attempt_.plan().At(Point::kBind)[next_].plugin);
  const PlannedPlugin& plugin = cycle.plugin();
  StatusSink sink;
  binding_.slots = cycle.abi()->slots;
  Close();
  done_ = std::make_shared<berth_done>();
  done_->post = plugin.host->services().post;
  std::optional<berth_code> early;
  done_->answer = [&](berth_code code, std::string_view text) {
    early = code;
    reason = text;
  };
  const berth_code code =
      plugin.instance->bind()->bind(plugin.instance->self(), &binding_, done_.get(), sink.raw());
  if (early.has_value()) return *early;
  if (code == BERTH_PENDING || done_->completed) {
    done_->answer = [this](berth_code late, std::string_view text) {
      if (late != BERTH_SKIP) return Finish(late, text);
      ++next_;
      Start();
    };
    return BERTH_PENDING;
  }
  Close();
  reason = sink.JoinReasons();
  return code;
}

// Nobody waits for what is said from here on.
void BindRun::Close() {
  if (done_ == nullptr) return;
  done_->completed = true;
  done_->answer = nullptr;
}

void BindRun::Finish(berth_code code, std::string_view reason) {
  const std::string& plugin =
      attempt_.cycle(attempt_.plan().At(Point::kBind)[next_].plugin).plugin().name;
  PluginStatus status{code, plugin, {}};
  if (!reason.empty()) status.reasons.emplace_back(reason);
  if (!status.ok() && !status.rejected()) {
    status.code = BERTH_ERROR;
    status.reasons = {"running Bind plugin \"" + plugin + "\": " + WhyFailed(code, reason)};
  }
  const Finished finished = std::move(finished_);
  finished(std::move(status));
}

}  // namespace berth::host
