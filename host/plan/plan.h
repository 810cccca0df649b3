// A plan: the executable form of one profile. It holds the plugin instances, and which of them run
// at each extension point, in which order and with which weight.
#ifndef BERTH_HOST_PLAN_PLAN_H_
#define BERTH_HOST_PLAN_PLAN_H_

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <berth/abi.h>

#include "host/api/decode.h"
#include "host/api/value.h"
#include "host/base/arena.h"
#include "host/base/status.h"
#include "host/cache/node_table.h"
#include "host/guard/point.h"
#include "host/loader/plugin_catalog.h"
#include "host/loader/plugin_instance.h"
#include "host/plan/instance_host.h"

namespace berth::host {

// --- arguments -----------------------------------------------------------------------------------
//
// A plugin's arguments, as values of the service berth.values/1 with their places in the profile.

// The places of the parts of a document ("profiles/default.toml:12"), by JSON pointer.
using ArgumentPlaces = std::map<std::string, std::string, std::less<>>;

class Arguments {
 public:
  // Converts a JSON document. Every value carries its place, or that of the nearest part above it
  // that has one, or `where`, which may be empty. Members that are null are left out. An integer
  // beyond 2^63-1 becomes FLOAT.
  Arguments(const nlohmann::json& json, std::string_view where, const ArgumentPlaces& places = {});

  // Returns null if there are no arguments, that is, if the document is null.
  const berth_value* root() const { return root_; }

 private:
  Arena arena_;
  const berth_value* root_ = nullptr;
};

// --- plan spec -----------------------------------------------------------------------------------
//
// The specification of a plan: a profile in terms of the plugins that the libraries have.

// One plugin of a profile.
struct PluginSpec {
  std::string name;
  std::shared_ptr<const nlohmann::json> args;  // Null, or the value null, if there are none.
  std::string where;           // The place in messages about the plugin and its arguments.
  ArgumentPlaces places = {};  // The places of parts of the arguments.
  // How long a call of the plugin may take, at every extension point, and how long PreBind and
  // Bind may take to answer. 0: as long as CallDeadlines and AsyncCalls state.
  int64_t deadline_ns = 0;
};

// A plugin that runs at one extension point.
struct PluginUse {
  std::string plugin;
  int64_t weight = 1;  // The weight of its score. 0 means 1, as in kube-scheduler.
};

struct PlanSpec {
  using Plugin = PluginSpec;
  using Use = PluginUse;

  std::string scheduler_name = "default-scheduler";
  std::vector<Plugin> plugins;
  std::array<std::vector<Use>, kPointCount> points;
};

// --- plan ----------------------------------------------------------------------------------------

// Stands for an optional column that this host does not have.
inline constexpr ColumnIndex kNoColumn = UINT32_MAX;

// One plugin instance of a plan.
struct PlannedPlugin {
  std::string name;
  PluginId id = 0;                     // Identifies the plugin of this profile: see PluginIds.
  std::shared_ptr<InstanceHost> host;  // Shared with the library.
  std::unique_ptr<PluginInstance> instance;
  std::vector<ColumnIndex> columns;  // The requested columns, pinned, in the order of the requests.
  std::vector<std::string> reasons;  // The constant part of the reason table.
};

// Returns the column of this name.
// Errors: NotFound if the host has no such column, or if it is a column of a kind that the plugin
//         does not declare.
Result<ColumnIndex> FindColumn(const PlannedPlugin& plugin, NodeTable& table,
                               std::string_view name);

// The slots that one attempt keeps for the instances of a plan.
class InstanceSlots {
 public:
  // Destroys the slots of all instances except those that are marked in `abandoned`, by the index
  // of the plugin. The slots of marked instances are never destroyed.
  virtual void Destroy(const std::vector<bool>& abandoned) = 0;

 protected:
  ~InstanceSlots() = default;
};

struct PlannedUse {
  uint32_t plugin;  // Into Plan::plugins().
  int64_t weight;
};

// Threading: built and destroyed on the scheduling thread; immutable in between.
// Lifetime:  the context and the table must outlive it. An instance that a thread of the pool is
//            still calling when the plan is destroyed is neither quiesced nor destroyed: its
//            InstanceHost retains it, with everything that it holds.
class Plan {
 public:
  // Creates every instance, in order; replays for their watches wait for Begin(). Errors: all of
  // them, one per line.
  static Result<std::unique_ptr<Plan>> Build(const PlanSpec& spec, const PluginCatalog& catalog,
                                             InstanceContext& context, NodeTable& table);
  // Creates one instance as Build() does, and destroys it again. Returns why the host rejects the
  // plugin, or nullopt if the host accepts it.
  static std::optional<LoadError> TryPlugin(const PluginSpec& spec, const PluginCatalog& catalog,
                                            InstanceContext& context, NodeTable& table);
  ~Plan();
  // Activates the plan; see InstanceHost::Begin(). Called: once.
  void Begin();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const std::string& scheduler_name() const { return scheduler_name_; }
  std::span<const PlannedPlugin> plugins() const { return plugins_; }
  std::span<const PlannedUse> At(Point point) const { return points_[static_cast<size_t>(point)]; }
  // Returns the name of the plugin with this id, for texts. REQUIRES: it is a plugin of the plan.
  const std::string& NameOf(PluginId id) const;
  // The existing slots of this plan. They may outlive the plan if a plugin never answered or its
  // answer waits in the inbox. The destructor of the plan destroys them while the instances exist;
  // slots of an instance that cannot be destroyed are kept.
  const std::shared_ptr<std::set<InstanceSlots*>>& slots() const { return slots_; }

 private:
  explicit Plan(NodeTable& table) : table_(table) {}

  Status AddPlugin(const PluginSpec& spec, const PlanSpec& profile, const PluginCatalog& catalog,
                   InstanceContext& context);
  // Adds an instance, which is not yet bound to its columns. `points`: see
  // berth_instance_request.points.
  std::optional<LoadError> CreateInstance(const PluginSpec& spec, std::vector<std::string> points,
                                          const PluginCatalog::Plugin& from,
                                          InstanceContext& context);
  Status BindColumns(PlannedPlugin& plugin);
  void CloseAllPromises(const std::vector<bool>& busy);
  // Destroys the instance, or abandons it if it is busy. `is_busy`: as is_busy() was when the host
  // was closed.
  static void DestroyInstance(PlannedPlugin& plugin, bool is_busy);
  Status AddUses(Point point, const std::vector<PluginUse>& uses);
  Status CheckWeights() const;

  NodeTable& table_;
  std::string scheduler_name_;
  std::vector<PlannedPlugin> plugins_;
  std::array<std::vector<PlannedUse>, kPointCount> points_;
  std::shared_ptr<std::set<InstanceSlots*>> slots_ = std::make_shared<std::set<InstanceSlots*>>();
};

// Returns the JSON pointers of the pod fields that plugins of the catalog handle.
std::set<std::string> HandledPodFields(const PluginCatalog& catalog);

// Returns how objects must be decoded so that they have these parts: see berth_plugin_info.fields.
// "Pod:" and "Node:", which stand for the whole object, are ignored: an API server has the objects.
DecodeOptions DecodeOptionsFor(const std::set<std::string>& fields);
// Returns the same for a cluster in this process. "Pod:" and "Node:" make the decoder keep the
// texts of the objects, which EmbeddedApi needs.
DecodeOptions LocalDecodeOptionsFor(const std::set<std::string>& fields);

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_PLAN_H_
