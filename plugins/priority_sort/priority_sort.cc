// PrioritySort: orders the queue by priority, highest first, and then by the time at which a pod
// entered the queue, earliest first.
// kube-scheduler: pkg/scheduler/framework/plugins/queuesort/priority_sort.go
#include <array>
#include <string_view>

#include <berth/plugin.h>

namespace {

class PrioritySort : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "PrioritySort";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Schedules pods with higher priority first, then those that entered the queue earlier.";
  static constexpr std::array kPodFields{"/spec/priority"};

  berth::SortKey Key(const berth::Queued& queued) const {
    return berth::SortKey().Descending(queued.priority).Ascending(queued.queued_ns);
  }
};

}  // namespace

BERTH_PLUGIN(PrioritySort)
