#include "host/runtime/points/run_pre_filter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/base/vectors.h"
#include "host/runtime/attempt/plugin_cycle.h"

namespace berth::host {
namespace {

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

template <class T>
std::vector<T> Common(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

void Intersect(std::optional<NodeSubset>& common, NodeSubset nodes) {
  if (common.has_value()) {
    nodes.rows = Common(common->rows, nodes.rows);
    nodes.unknown = Common(common->unknown, nodes.unknown);
  }
  common = std::move(nodes);
}

std::vector<std::string> NamesOf(const std::vector<uint32_t>& plugins, const Plan& plan) {
  std::vector<std::string> names;
  names.reserve(plugins.size());
  for (const uint32_t plugin : plugins) names.push_back(plan.plugins()[plugin].name);
  std::ranges::sort(names);
  return names;
}

PluginStatus EmptySubset(const std::vector<std::string>& plugins) {
  const std::string text = plugins.size() == 1 ? "node(s) didn't satisfy plugin " + plugins.front()
                                               : "node(s) didn't satisfy plugin(s) [" +
                                                     Join(plugins, " ") + "] simultaneously";
  return {.code = BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, .reasons = {text}};
}

PluginAnswer CallPreFilter(Attempt& attempt, PluginCycle& cycle, PreFilterOut& out) {
  const NodesView all(cycle, attempt.live_rows());
  cycle.set_binding_allowed(true);
  PluginAnswer answer =
      Invoke(cycle, Point::kPreFilter, [&](auto& instance, auto* abi, berth_status* status) {
        return instance.pre_filter()->pre_filter(instance.self(), abi, all.abi(), out.abi(),
                                                 status);
      });
  cycle.set_binding_allowed(false);
  return answer;
}

// Returns why the pod is rejected on all nodes, or an error; Success if it is not.
PluginStatus RunPlugins(Attempt& attempt, std::optional<NodeSubset>& common,
                        std::vector<uint32_t>& subset_plugins) {
  PluginStatus rejection;
  for (const PlannedUse& use : attempt.plan().At(Point::kPreFilter)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (auto error = QuarantineError(plugin, Point::kPreFilter)) return *std::move(error);
    PreFilterOut out(cycle, attempt.table());
    PluginAnswer answer = CallPreFilter(attempt, cycle, out);
    if (answer.code == BERTH_SKIP) {
      cycle.skip_filter = true;
    } else if (answer.code == BERTH_UNSCHEDULABLE ||
               answer.code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE) {
      rejection = {answer.code, plugin.id,
                   RejectionReasons(plugin.name, std::move(answer.reasons))};
      if (answer.code == BERTH_UNSCHEDULABLE) continue;
      // The subsets of other plugins do not matter any more.
      subset_plugins.clear();
      return rejection;
    } else if (answer.code == BERTH_PENDING) {
      // Other answers do not matter: a new attempt asks all plugins again.
      subset_plugins.clear();
      return AwaitedStatus(plugin, std::move(answer));
    } else if (!answer.ok()) {
      return AnswerError(plugin, Point::kPreFilter, answer);
    } else if (out.nodes().has_value()) {
      subset_plugins.push_back(use.plugin);
      Intersect(common, std::move(*out.nodes()));
      if (common->rows.empty() && common->unknown.empty()) {
        return EmptySubset(NamesOf(subset_plugins, attempt.plan()));
      }
    }
  }
  return rejection;
}

}  // namespace

std::vector<std::string> PreFilterResult::SubsetPluginNames(const Plan& plan) const {
  return NamesOf(subset_plugins, plan);
}

PreFilterResult RunPreFilter(Attempt& attempt) {
  PreFilterResult result;
  std::optional<NodeSubset> common;
  result.status = RunPlugins(attempt, common, result.subset_plugins);
  if (result.status.code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE) attempt.ForbidWhatIf();
  if (common.has_value()) result.subset.emplace().AssignRows(attempt.table(), common->rows);
  return result;
}

}  // namespace berth::host
