#include "host/queue/queued_entity.h"

namespace berth::host {

berth_queued QueuedEntity::View() const {
  berth_queued view = ViewOf(pod);
  if (group == nullptr) return view;
  view.kind = BERTH_QUEUED_GROUP;
  view.group = {group->name.data(), group->name.size()};
  return view;
}

berth_queued QueuedEntity::ViewOf(const PodRef& member) const {
  return {.struct_size = sizeof(berth_queued),
          .kind = BERTH_QUEUED_POD,
          .pod = &member->view(),
          .group = {nullptr, 0},
          .priority = member->view().priority,
          .attempts = attempts,
          .queued_ns = queued_ns,
          .first_attempt_ns = first_attempt_ns};
}

}  // namespace berth::host
