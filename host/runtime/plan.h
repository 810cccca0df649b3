// A plan: one profile made executable. Which plugin instances there are, and which of them run at
// each extension point, in which order and with which weight.
#ifndef BERTH_HOST_RUNTIME_PLAN_H_
#define BERTH_HOST_RUNTIME_PLAN_H_

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <berth/abi.h>

#include "host/base/status.h"
#include "host/cache/node_table.h"
#include "host/guard/point.h"
#include "host/loader/plugin_catalog.h"
#include "host/loader/plugin_instance.h"
#include "host/runtime/arguments.h"
#include "host/runtime/instance_host.h"

namespace berth::host {

// An optional column that this host does not have.
inline constexpr ColumnIndex kNoColumn = UINT32_MAX;

// What a plan is built from.
struct PlanSpec {
  struct Plugin {
    std::string name;
    nlohmann::json args;         // Null: none.
    std::string where;           // What messages about the plugin and its arguments begin with.
    ArgumentPlaces places = {};  // Of parts of the arguments, for messages about these.
  };
  struct Use {
    std::string plugin;
    int64_t weight = 1;  // Of its score; 0 counts as 1, as kube-scheduler has it.
  };

  std::string scheduler_name = "default-scheduler";
  std::vector<Plugin> plugins;
  std::array<std::vector<Use>, kPointCount> points;
};

// One instance and what the host knows of it.
struct PlannedPlugin {
  std::string name;
  std::shared_ptr<InstanceHost> host;  // With the library.
  std::unique_ptr<PluginInstance> instance;
  std::vector<ColumnIndex> columns;  // Pinned, in the order of its requests.
  std::vector<std::string> reasons;  // The constant part of its table.
};

class CycleState;

struct PlannedUse {
  uint32_t plugin;  // Into Plan::plugins().
  int64_t weight;
};

// Threading: built and dropped on the scheduling thread; immutable in between.
// Lifetime: the services and the table must outlive it. An instance in which a
//           thread of the pool still is when the plan goes is neither quiesced nor destroyed: it
//           stays with its library.
class Plan {
 public:
  // Creates every instance, in order: what they ask for within waits for Begin(). Errors: all of
  // them at once, one a line.
  static Result<std::unique_ptr<Plan>> Build(const PlanSpec& spec, const PluginCatalog& catalog,
                                             HostServices& services, NodeTable& table);
  ~Plan();
  // It takes its place: its instances are told what they watch. Once.
  void Begin();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const std::string& scheduler_name() const { return scheduler_name_; }
  std::span<const PlannedPlugin> plugins() const { return plugins_; }
  std::span<const PlannedUse> At(Point point) const { return points_[static_cast<size_t>(point)]; }
  // The plan's cycle states that are alive. Some may outlive it: where a plugin never answered, or
  // its answer is on its way; what is in them is destroyed with the plan, while its plugins are
  // there. What is of an instance that cannot be destroyed stays.
  const std::shared_ptr<std::set<CycleState*>>& cycle_states() const { return cycle_states_; }

 private:
  explicit Plan(NodeTable& table) : table_(table) {}

  Status AddPlugin(const PlanSpec::Plugin& spec, const PluginCatalog& catalog,
                   HostServices& services);
  Status BindColumns(PlannedPlugin& plugin);
  void CloseAllPromises(const std::vector<bool>& busy);
  static void DropInstance(PlannedPlugin& plugin, bool is_busy);
  Status AddUses(Point point, const std::vector<PlanSpec::Use>& uses);
  Status CheckWeights() const;

  NodeTable& table_;
  std::string scheduler_name_;
  std::vector<PlannedPlugin> plugins_;
  std::array<std::vector<PlannedUse>, kPointCount> points_;
  std::shared_ptr<std::set<CycleState*>> cycle_states_ = std::make_shared<std::set<CycleState*>>();
};

// The JSON pointers of the pod fields that any plugin of the catalogue answers for.
std::set<std::string> HandledPodFields(const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_PLAN_H_
