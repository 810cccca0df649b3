#include "host/queue/queued_entity.h"

namespace berth::host {

berth_queued QueuedEntity::View() const {
  berth_queued view = ViewOf(pod);
  if (group != nullptr) view.kind = BERTH_QUEUED_GROUP;
  return view;
}

berth_queued QueuedEntity::ViewOf(const PodRef& member) const {
  const std::string_view name = group != nullptr ? group->name : std::string_view();
  return {.struct_size = sizeof(berth_queued),
          .kind = group != nullptr ? uint32_t{BERTH_QUEUED_MEMBER} : uint32_t{BERTH_QUEUED_POD},
          .pod = &member->view(),
          .group = {name.data(), name.size()},
          .priority = member->view().priority,
          .attempts = attempts,
          .queued_ns = queued_ns,
          .first_attempt_ns = first_attempt_ns};
}

}  // namespace berth::host
