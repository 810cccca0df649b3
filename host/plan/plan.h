// A plan: the executable form of one profile. It holds the plugin instances, and which of them run
// at each extension point, in which order and with which weight.
#ifndef BERTH_HOST_PLAN_PLAN_H_
#define BERTH_HOST_PLAN_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
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

// One plugin instance of a plan. Several plans of one profile may have it: see Plan::Build().
struct PlannedPlugin {
  // What create() got for this instance, beside its name, profile, library and deadline.
  struct Creation {
    std::shared_ptr<const nlohmann::json> args;  // As in PluginSpec.
    std::vector<std::string> points;             // See berth_instance_request.points.
  };

  std::string name;
  PluginId id = 0;  // Identifies the plugin of this profile: see PluginIds.
  // Used until the host is retired, which may call functions of the library.
  std::shared_ptr<PluginLibrary> library;
  std::shared_ptr<InstanceHost> host;  // Shared with the library.
  std::unique_ptr<PluginInstance> instance;
  std::vector<ColumnIndex> columns;  // The requested columns, pinned, in the order of the requests.
  std::vector<std::string> reasons;  // The constant part of the reason table.
  Creation creation = {};
  bool has_begun = false;  // Plan::Begin() was called for a plan that has it.
};

// The plugin instances of a plan, in its order. Lifetime: that of the plan.
class PlannedPlugins {
 public:
  using Owners = std::vector<std::shared_ptr<PlannedPlugin>>;

  class Iterator {
   public:
    using value_type = PlannedPlugin;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(Owners::const_iterator at) : at_(at) {}
    const PlannedPlugin& operator*() const { return **at_; }
    const PlannedPlugin* operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(const Iterator&, const Iterator&) = default;
    friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }

   private:
    Owners::const_iterator at_;
  };

  explicit PlannedPlugins(const Owners& owners) : owners_(owners) {}
  size_t size() const { return owners_.size(); }
  const PlannedPlugin& operator[](size_t index) const { return *owners_[index]; }
  Iterator begin() const { return Iterator(owners_.begin()); }
  Iterator end() const { return Iterator(owners_.end()); }

 private:
  const Owners& owners_;
};

// Returns the column of this name.
// Errors: NotFound if the host has no such column, or if it is a column of a kind that the plugin
//         does not declare.
Result<ColumnIndex> FindColumn(const PlannedPlugin& plugin, NodeTable& table,
                               std::string_view name);

// An instance that ends.
struct EndingPlugin {
  PlannedPlugin* plugin;
  // A thread of the pool was inside the instance when its host was closed.
  bool is_busy = false;
};

// The slots that one attempt keeps for the instances of a plan.
class InstanceSlots {
 public:
  // Destroys the slots of the instances that end, except busy ones, whose slots are never
  // destroyed. Leaves the slots of other instances as they are.
  virtual void Destroy(std::span<const EndingPlugin> ending) = 0;

 protected:
  ~InstanceSlots() = default;
};

struct PlannedUse {
  uint32_t plugin;  // Into Plan::plugins().
  int64_t weight;
};

// Threading: built and destroyed on the scheduling thread; immutable in between.
// Lifetime:  the context and the table must outlive it. An instance ends with the last plan that
//            has it. If a thread of the pool is still calling it then, it is neither quiesced nor
//            destroyed: its InstanceHost retains it, with everything that it holds.
class Plan {
 public:
  // Creates every instance, in order; replays for their watches wait for Begin(). Errors: all of
  // them, one per line.
  // `previous`: the plan of this profile that the new one replaces; null if there is none. An
  // instance of `previous` for which create() would get the same again is not created: both plans
  // have it. It must be of the same plugin of the same library, with the same arguments, extension
  // points and deadline. A plugin in quarantine is created anew.
  static Result<std::unique_ptr<Plan>> Build(const PlanSpec& spec, const PluginCatalog& catalog,
                                             InstanceContext& context, NodeTable& table,
                                             const Plan* previous = nullptr);
  // Returns whether Build() with this plan as `previous` would create no instance, and would call
  // the instances as this plan does.
  bool IsUpToDate(const PlanSpec& spec, const PluginCatalog& catalog) const;
  // Creates one instance as Build() does, and destroys it again. Returns why the host rejects the
  // plugin, or nullopt if the host accepts it.
  static std::optional<LoadError> TryPlugin(const PluginSpec& spec, const PluginCatalog& catalog,
                                            InstanceContext& context, NodeTable& table);
  ~Plan();
  // Activates the instances that no other plan has activated; see InstanceHost::Begin(). Called:
  // once.
  void Begin();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  const std::string& scheduler_name() const { return scheduler_name_; }
  PlannedPlugins plugins() const { return PlannedPlugins(plugins_); }
  std::span<const PlannedUse> At(Point point) const { return points_[static_cast<size_t>(point)]; }
  // Returns the name of the plugin with this id, for texts. REQUIRES: it is a plugin of the plan.
  const std::string& NameOf(PluginId id) const;
  // The existing slots of this plan, of the plan that it replaced, and so on. They may outlive the
  // plan if a plugin never answered or its answer waits in the inbox. The slots of an instance are
  // destroyed before it ends; those of an instance that cannot be destroyed are kept.
  const std::shared_ptr<std::set<InstanceSlots*>>& slots() const { return slots_; }

 private:
  explicit Plan(NodeTable& table) : table_(table) {}

  Status AddPlugin(const PluginSpec& spec, const PlanSpec& profile, const PluginCatalog& catalog,
                   InstanceContext& context, const Plan* previous);
  // Returns the instance that can be used for `spec`, or null. `points`: those that the profile
  // enables; `from`: the plugin in the new catalog.
  std::shared_ptr<PlannedPlugin> FindUsable(const PluginSpec& spec,
                                            std::span<const std::string> points,
                                            const PluginCatalog::Plugin& from) const;
  bool HasUses(Point point, std::span<const PluginUse> uses) const;
  // Adds an instance, which is not yet bound to its columns. `points`: see
  // berth_instance_request.points.
  std::optional<LoadError> CreateInstance(const PluginSpec& spec, std::vector<std::string> points,
                                          const PluginCatalog::Plugin& from,
                                          InstanceContext& context);
  Status BindColumns(PlannedPlugin& plugin);
  void CloseAllPromises(std::span<const EndingPlugin> ending);
  // Destroys the instance, or abandons it if it is busy.
  static void DestroyInstance(const EndingPlugin& ending);
  Status AddUses(Point point, const std::vector<PluginUse>& uses);
  Status CheckWeights() const;

  NodeTable& table_;
  std::string scheduler_name_;
  PlannedPlugins::Owners plugins_;
  std::array<std::vector<PlannedUse>, kPointCount> points_;
  std::shared_ptr<std::set<InstanceSlots*>> slots_ = std::make_shared<std::set<InstanceSlots*>>();
};

// Returns the JSON pointers of the pod fields that plugins of the catalog handle.
std::set<std::string> HandledPodFields(const PluginCatalog& catalog);

// Returns how objects must be decoded so that they have these parts: see berth_plugin_info.fields.
// "Pod:" and "Node:", which stand for the whole object, are ignored: an API server has the objects.
DecodeOptions DecodeOptionsFor(const std::set<std::string>& fields, KubeVersion emulated_version);
// Returns the same for a cluster in this process. "Pod:" and "Node:" make the decoder keep the
// texts of the objects, which EmbeddedApi needs.
DecodeOptions LocalDecodeOptionsFor(const std::set<std::string>& fields,
                                    KubeVersion emulated_version);

}  // namespace berth::host

// Its iterators may outlive it.
template <>
inline constexpr bool std::ranges::enable_borrowed_range<berth::host::PlannedPlugins> = true;

#endif  // BERTH_HOST_PLAN_PLAN_H_
