#include "host/runtime/points/run_pre_filter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/base/sorted_vector.h"
#include "host/runtime/attempt/invoke.h"
#include "host/runtime/attempt/nodes_view.h"
#include "host/runtime/attempt/plugin_error.h"

namespace berth::host {
namespace {

template <class T>
std::vector<T> Common(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

// The nodes to which one plugin restricts the pod.
struct NodeSubset {
  std::vector<Row> rows;             // Ascending.
  std::vector<std::string> unknown;  // Names without a node, sorted.
};

// The output of one plugin's PreFilter.
class PreFilterOut {
 public:
  PreFilterOut(PluginCycle& cycle, const NodeTable& table)
      : cycle_(cycle),
        table_(table),
        abi_{.struct_size = sizeof(berth_pre_filter_out),
             .reserved = 0,
             .impl = this,
             .only_nodes = OnlyNodes,
             .add_reason = AddReason} {}
  PreFilterOut(const PreFilterOut&) = delete;
  PreFilterOut& operator=(const PreFilterOut&) = delete;

  berth_pre_filter_out* abi() { return &abi_; }
  // No value if the plugin does not restrict the nodes.
  std::optional<NodeSubset>& nodes() { return nodes_; }

 private:
  static void OnlyNodes(berth_pre_filter_out* self, const berth_str* names,
                        uint64_t count) noexcept {
    auto& out = *static_cast<PreFilterOut*>(self->impl);
    auto& nodes = out.nodes_.emplace();
    for (uint64_t i = 0; i < count; ++i) {
      const Row row = out.table_.FindNode(Text(names[i]));
      if (row != kNoRow) {
        nodes.rows.push_back(row);
      } else {
        nodes.unknown.emplace_back(Text(names[i]));
      }
    }
    SortUnique(nodes.rows);
    SortUnique(nodes.unknown);
  }

  static int32_t AddReason(berth_pre_filter_out* self, berth_str text) noexcept {
    PluginCycle& cycle = static_cast<PreFilterOut*>(self->impl)->cycle_;
    return cycle.AddReason(IsNull(text) ? NullReason(cycle.plugin().name) : KeptReason(Text(text)));
  }

  PluginCycle& cycle_;
  const NodeTable& table_;
  std::optional<NodeSubset> nodes_;
  berth_pre_filter_out abi_;
};

void Intersect(Attempt& attempt, uint32_t plugin, NodeSubset nodes) {
  attempt.subset_plugins.push_back(plugin);
  if (attempt.subset.has_value()) {
    nodes.rows = Common(*attempt.subset, nodes.rows);
    nodes.unknown = Common(attempt.subset_unknown, nodes.unknown);
  }
  attempt.subset = std::move(nodes.rows);
  attempt.subset_unknown = std::move(nodes.unknown);
}

PluginStatus EmptySubset(const Attempt& attempt) {
  const std::vector<std::string> plugins = attempt.SubsetPluginNames();
  PluginStatus status{.code = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE};
  if (plugins.size() == 1) {
    status.reasons = {"node(s) didn't satisfy plugin " + plugins.front()};
    return status;
  }
  status.reasons = {"node(s) didn't satisfy plugin(s) [" + Join(plugins, " ") + "] simultaneously"};
  return status;
}

}  // namespace

PluginStatus RunPreFilter(Attempt& attempt) {
  for (const PlannedUse& use : attempt.plan().At(Point::kPreFilter)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (auto error = QuarantineError(plugin, Point::kPreFilter)) return *std::move(error);
    PreFilterOut out(cycle, attempt.table());
    NodesView all(cycle, attempt.live_rows());
    cycle.set_binding_allowed(true);
    PluginAnswer answer =
        Invoke(cycle, Point::kPreFilter, [&](auto& instance, auto* abi, berth_status* status) {
          return instance.pre_filter()->pre_filter(instance.self(), abi, all.abi(), out.abi(),
                                                   status);
        });
    cycle.set_binding_allowed(false);

    if (answer.code == BERTH_SKIP) {
      cycle.skip_filter = true;
      continue;
    }
    if (answer.code == BERTH_UNSCHEDULABLE || answer.code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE) {
      attempt.pre_filter_rejection = PluginStatus{
          answer.code, plugin.id, RejectionReasons(plugin.name, std::move(answer.reasons))};
      if (answer.code == BERTH_UNSCHEDULABLE) continue;
      // The subsets of other plugins do not matter any more.
      attempt.subset_plugins.clear();
      return {};
    }
    if (!answer.ok()) return AnswerError(plugin, Point::kPreFilter, answer);
    if (!out.nodes().has_value()) continue;
    Intersect(attempt, use.plugin, std::move(*out.nodes()));
    if (attempt.subset->empty() && attempt.subset_unknown.empty()) {
      attempt.pre_filter_rejection = EmptySubset(attempt);
      return {};
    }
  }
  return {};
}

}  // namespace berth::host
