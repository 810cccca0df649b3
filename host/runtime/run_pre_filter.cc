#include "host/runtime/run_pre_filter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/base/status_sink.h"
#include "host/runtime/plugin_call.h"

namespace berth::host {
namespace {

template <class T>
void SortUnique(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <class T>
std::vector<T> Common(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}

// The nodes that one plugin names.
struct NodeSubset {
  std::vector<Row> rows;             // Ascending.
  std::vector<std::string> unknown;  // Names that no node has, sorted.
};

// Where one plugin's PreFilter puts what it finds.
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
  // None when the plugin named no nodes.
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
    return static_cast<PreFilterOut*>(self->impl)->cycle_.AddReason(Text(text));
  }

  PluginCycle& cycle_;
  const NodeTable& table_;
  std::optional<NodeSubset> nodes_;
  berth_pre_filter_out abi_;
};

void Intersect(Attempt& attempt, const std::string& plugin, NodeSubset nodes) {
  attempt.subset_plugins.push_back(plugin);
  std::ranges::sort(attempt.subset_plugins);
  if (attempt.subset.has_value()) {
    nodes.rows = Common(*attempt.subset, nodes.rows);
    nodes.unknown = Common(attempt.subset_unknown, nodes.unknown);
  }
  attempt.subset = std::move(nodes.rows);
  attempt.subset_unknown = std::move(nodes.unknown);
}

PluginStatus EmptySubset(const Attempt& attempt) {
  const auto& plugins = attempt.subset_plugins;
  PluginStatus status{BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, "", {}};
  if (plugins.size() == 1) {
    status.reasons = {"node(s) didn't satisfy plugin " + plugins.front()};
    return status;
  }
  status.reasons = {"node(s) didn't satisfy plugin(s) [" + Join(plugins, " ") + "] simultaneously"};
  return status;
}

berth_code Call(PluginCycle& cycle, const NodesView& all, PreFilterOut& out, StatusSink& sink) {
  const PluginInstance& instance = *cycle.plugin().instance;
  const berth_cycle* abi = cycle.AbiFor(Point::kPreFilter);
  const PluginCall call(cycle.plugin(), Point::kPreFilter);
  return instance.pre_filter()->pre_filter(instance.self(), abi, all.abi(), out.abi(), sink.raw());
}

PluginStatus Failed(const std::string& plugin, const std::string& why) {
  return {BERTH_ERROR, plugin, {"running PreFilter plugin \"" + plugin + "\": " + why}};
}

}  // namespace

PluginStatus RunPreFilter(Attempt& attempt) {
  StatusSink sink;
  for (const PlannedUse& use : attempt.plan().At(Point::kPreFilter)) {
    PluginCycle& cycle = attempt.cycle(use.plugin);
    const PlannedPlugin& plugin = cycle.plugin();
    if (std::string_view why; IsQuarantined(plugin, &why)) {
      return Failed(plugin.name, std::string(why));
    }
    PreFilterOut out(cycle, attempt.table());
    NodesView all(cycle, attempt.live_rows());
    sink.Clear();
    cycle.set_binding_allowed(true);
    const berth_code code = Call(cycle, all, out, sink);
    cycle.set_binding_allowed(false);

    if (code == BERTH_SKIP) {
      cycle.skip_filter = true;
      continue;
    }
    if (code == BERTH_UNSCHEDULABLE || code == BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE) {
      const auto reasons = sink.reasons();
      attempt.pre_filter_rejection =
          PluginStatus{code, plugin.name, {reasons.begin(), reasons.end()}};
      if (code == BERTH_UNSCHEDULABLE) continue;
      // Nothing else matters any more, other plugins' subsets included.
      attempt.subset_plugins.clear();
      return {};
    }
    if (code != BERTH_SUCCESS) {
      return Failed(plugin.name, WhyFailed(plugin, Point::kPreFilter, code, sink));
    }
    if (!out.nodes().has_value()) continue;
    Intersect(attempt, plugin.name, std::move(*out.nodes()));
    if (attempt.subset->empty() && attempt.subset_unknown.empty()) {
      attempt.pre_filter_rejection = EmptySubset(attempt);
      return {};
    }
  }
  return {};
}

}  // namespace berth::host
