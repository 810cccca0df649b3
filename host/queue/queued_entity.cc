#include "host/queue/queued_entity.h"

namespace berth::host {

berth_queued QueuedEntity::View() const {
  return {.struct_size = sizeof(berth_queued),
          .kind = BERTH_QUEUED_POD,
          .pod = &pod->view(),
          .group = {nullptr, 0},
          .priority = pod->view().priority,
          .attempts = attempts,
          .queued_ns = queued_ns,
          .first_attempt_ns = first_attempt_ns};
}

}  // namespace berth::host
