#include "host/cluster/embedded/embedded_kubelet.h"

#include "host/base/assert.h"

namespace berth::host {

std::optional<int64_t> EmbeddedKubelet::NextNs() const {
  const auto next = cluster_.NextDeletion();
  if (!next.has_value()) return std::nullopt;
  return next->due_ns;
}

size_t EmbeddedKubelet::RunDue() {
  const int64_t now_ns = clock_.NowNs();
  size_t count = 0;
  for (auto next = cluster_.NextDeletion(); next.has_value() && next->due_ns <= now_ns;
       next = cluster_.NextDeletion()) {
    const Status status = cluster_.FinishDeletion({next->ns, next->name, {}});
    BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
    ++count;
  }
  return count;
}

}  // namespace berth::host
