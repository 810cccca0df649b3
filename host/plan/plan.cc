#include "host/plan/plan.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/assert.h"
#include "host/config/args_schema.h"
#include "host/config/config_errors.h"
#include "host/config/profile.h"
#include "host/plan/invoke.h"

namespace berth::host {
namespace {

class ArgumentsReader {
 public:
  ArgumentsReader(Arena& arena, std::string_view where, const ArgumentPlaces& places)
      : arena_(arena), where_(arena.CopyString(where)), places_(places) {}

  PlacedMember ReadRoot(const nlohmann::json& json) { return ReadPart(json, {}, where_); }

 private:
  using Text = std::string;

  PlacedMember ReadPart(const nlohmann::json& json, std::string_view key, std::string_view where) {
    const auto place = places_.find(pointer_);
    if (place != places_.end()) where = arena_.CopyString(place->second);
    return {Read(json, where), arena_.CopyString(key), where};
  }

  Value Read(const nlohmann::json& json, std::string_view where) {
    if (json.is_boolean()) return Value::Bool(json.get<bool>());
    if (json.is_string()) return Value::String(arena_.CopyString(json.get_ref<const Text&>()));
    if (json.is_object()) return ReadObject(json, where);
    if (json.is_array()) return ReadArray(json, where);
    const bool too_large = json.is_number_unsigned() && json.get<uint64_t>() > uint64_t{INT64_MAX};
    if (json.is_number_float() || too_large) return Value::Float(json.get<double>());
    return json.is_number_integer() ? Value::Int(json.get<int64_t>()) : Value();
  }

  Value ReadObject(const nlohmann::json& json, std::string_view where) {
    std::vector<PlacedMember> members;
    for (const auto& [key, member] : json.items()) {
      if (member.is_null()) continue;
      const size_t length = Enter(key);
      members.push_back(ReadPart(member, key, where));
      pointer_.resize(length);
    }
    return Value::Object(Keep(members));
  }

  Value ReadArray(const nlohmann::json& json, std::string_view where) {
    std::vector<PlacedMember> elements;
    for (size_t i = 0; i < json.size(); ++i) {
      const size_t length = Enter(std::to_string(i));
      elements.push_back(ReadPart(json[i], {}, where));
      pointer_.resize(length);
    }
    return Value::Array(Keep(elements));
  }

  // Appends `key` to the pointer (RFC 6901) and returns the former length.
  size_t Enter(std::string_view key) {
    const size_t length = pointer_.size();
    pointer_ += '/';
    for (const char c : key) {
      if (c == '~' || c == '/') {
        pointer_ += c == '~' ? "~0" : "~1";
      } else {
        pointer_ += c;
      }
    }
    return length;
  }

  std::span<const PlacedMember> Keep(const std::vector<PlacedMember>& parts) {
    return arena_.CopyArray(std::span<const PlacedMember>(parts));
  }

  Arena& arena_;
  std::string_view where_;
  const ArgumentPlaces& places_;
  std::string pointer_;  // To the part that is being read.
};

}  // namespace

Arguments::Arguments(const nlohmann::json& json, std::string_view where,
                     const ArgumentPlaces& places) {
  if (json.is_null()) return;
  const PlacedMember root = ArgumentsReader(arena_, where, places).ReadRoot(json);
  root_ = arena_.New<PlacedMember>(root)->member.value.abi();
}

namespace {

// The beginnings of the entries of berth_plugin_info.fields.
constexpr std::string_view kPodPrefix = "Pod:";
constexpr std::string_view kNodePrefix = "Node:";

std::string Where(const PluginSpec& spec) {
  return spec.where.empty() ? std::string() : spec.where + ": ";
}

// Returns one line for each argument error, with its place if that is known.
Status InstanceStatus(const PluginSpec& spec, const LoadError& error) {
  if (error.argument_errors.empty() || spec.where.empty()) return error.ToStatus();
  ConfigErrors errors;
  ProfileArgs args;
  for (const auto& [pointer, place] : spec.places) args.places[pointer] = {place, 0, 0};
  for (const ArgumentError& argument : error.argument_errors) {
    ConfigPlace place = args.PlaceOf(argument.path);
    if (place.file.empty()) place.file = spec.where;
    errors.Add(place, "plugin \"" + spec.name + "\": " + ArgsKey(argument.path), argument.text);
  }
  return errors.ToStatus();
}

// Returns whether a plugin would read the same values in both. Unlike operator==, distinguishes 1
// from 1.0, and does not distinguish NaN from NaN.
bool IsSame(const nlohmann::json& a, const nlohmann::json& b) {
  return nlohmann::json::to_cbor(a) == nlohmann::json::to_cbor(b);
}

// Returns null, as a JSON value, if there are no arguments.
const nlohmann::json& ArgsOf(const std::shared_ptr<const nlohmann::json>& args) {
  static const nlohmann::json none;
  return args != nullptr ? *args : none;
}

// Returns the ids of the plugin's extension points that the profile uses.
std::vector<std::string> EnabledPoints(const PlanSpec& spec, const std::string& plugin,
                                       std::span<const std::string> ids) {
  std::vector<std::string> points = CalledPoints(ids);
  std::erase_if(points, [&](const std::string& id) {
    const auto& uses = spec.points[static_cast<size_t>(FindPoint(id)->point)];
    return std::ranges::find(uses, plugin, &PluginUse::plugin) == uses.end();
  });
  return points;
}

}  // namespace

// --- building ------------------------------------------------------------------------------------

Result<std::unique_ptr<Plan>> Plan::Build(const PlanSpec& spec, const PluginCatalog& catalog,
                                          InstanceContext& context, NodeTable& table,
                                          const Plan* previous) {
  std::unique_ptr<Plan> plan(new Plan(table));
  plan->scheduler_name_ = spec.scheduler_name;
  if (previous != nullptr) {
    BERTH_ASSERT(previous->scheduler_name_ == spec.scheduler_name);
    plan->slots_ = previous->slots_;
  }
  std::string errors;
  const auto note = [&errors](const Status& status) {
    if (status.ok()) return;
    if (!errors.empty()) errors += '\n';
    errors += status.message();
  };
  for (const PluginSpec& plugin : spec.plugins) {
    note(plan->AddPlugin(plugin, spec, catalog, context, previous));
  }
  if (errors.empty()) {
    for (const PointInfo& info : kPoints) {
      note(plan->AddUses(info.point, spec.points[static_cast<size_t>(info.point)]));
    }
    if (plan->At(Point::kQueueSort).size() != 1) {
      note(Status::InvalidArgument("profile " + spec.scheduler_name +
                                   ": expected exactly one QueueSort plugin, found " +
                                   std::to_string(plan->At(Point::kQueueSort).size())));
    }
    if (plan->At(Point::kBind).empty()) {
      note(Status::InvalidArgument("profile " + spec.scheduler_name +
                                   ": expected at least one Bind plugin, found none"));
    }
  }
  if (!errors.empty()) return Status::InvalidArgument(std::move(errors));
  return plan;
}

std::optional<LoadError> Plan::TryPlugin(const PluginSpec& spec, const PluginCatalog& catalog,
                                         InstanceContext& context, NodeTable& table) {
  auto found = catalog.Find(spec.name);
  if (!found.ok()) return std::move(found).error();
  Plan plan(table);
  plan.scheduler_name_ = PlanSpec().scheduler_name;
  return plan.CreateInstance(spec, CalledPoints(found->info->points), *found, context);
}

bool Plan::IsUpToDate(const PlanSpec& spec, const PluginCatalog& catalog) const {
  if (spec.scheduler_name != scheduler_name_ || spec.plugins.size() != plugins_.size())
    return false;
  for (size_t i = 0; i < plugins_.size(); ++i) {
    const PluginSpec& plugin = spec.plugins[i];
    const auto found = catalog.Find(plugin.name);
    if (!found.ok()) return false;
    const auto points = EnabledPoints(spec, plugin.name, found->info->points);
    if (FindUsable(plugin, points, *found) != plugins_[i]) return false;
  }
  return std::ranges::all_of(kPoints, [&](const PointInfo& info) {
    return HasUses(info.point, spec.points[static_cast<size_t>(info.point)]);
  });
}

bool Plan::HasUses(Point point, std::span<const PluginUse> uses) const {
  return std::ranges::equal(At(point), uses, [this](const PlannedUse& has, const PluginUse& use) {
    return plugins_[has.plugin]->name == use.plugin &&
           has.weight == (use.weight == 0 ? 1 : use.weight);
  });
}

std::shared_ptr<PlannedPlugin> Plan::FindUsable(const PluginSpec& spec,
                                                std::span<const std::string> points,
                                                const PluginCatalog::Plugin& from) const {
  const auto found =
      std::ranges::find_if(plugins_, [&](const auto& each) { return each->name == spec.name; });
  if (found == plugins_.end()) return nullptr;
  const PlannedPlugin& plugin = **found;
  const PluginFaults::Account* faults = plugin.host->faults();
  const bool is_usable = &plugin.instance->library() == from.library.get() &&
                         plugin.host->deadline_ns() == spec.deadline_ns &&
                         std::ranges::equal(plugin.creation.points, points) &&
                         IsSame(ArgsOf(plugin.creation.args), ArgsOf(spec.args)) &&
                         (faults == nullptr || !faults->quarantined());
  return is_usable ? *found : nullptr;
}

void Plan::Begin() {
  for (const auto& plugin : plugins_) {
    if (!std::exchange(plugin->has_begun, true)) plugin->host->Begin();
  }
}

// Follows the order that <berth/abi.h> states under "The end of an instance". Bindings whose
// plugins have not answered, with the cycle state of all plugins, live until here.
Plan::~Plan() {
  std::vector<EndingPlugin> ending;
  for (const auto& plugin : plugins_) {
    if (plugin.use_count() > 1) continue;  // Another plan has it.
    plugin->host->Close();
    ending.push_back({.plugin = plugin.get(), .is_busy = plugin->host->is_busy()});
  }
  for (const auto& [plugin, is_busy] : ending) {
    if (is_busy) continue;
    Invoke(*plugin->host, kLoad, [&instance = *plugin->instance] { instance.Quiesce(); });
  }
  CloseAllPromises(ending);
  for (const EndingPlugin& each : ending) {
    for (const ColumnIndex column : each.plugin->columns) {
      if (column != kNoColumn) table_.UnpinColumn(column);
    }
    DestroyInstance(each);
  }
}

// The answer of a promise may hold the last reference to a binding. Before answers are destroyed,
// the slots of all cycle states are, except those of busy instances. The answers of a busy instance
// are retained, because threads of the plugin may still use their bindings.
void Plan::CloseAllPromises(std::span<const EndingPlugin> ending) {
  std::vector<std::vector<Promises::Answer>> answers;
  for (const EndingPlugin& each : ending) {
    answers.push_back(each.plugin->host->promises()->CloseAll());
  }
  for (InstanceSlots* slots : *slots_) slots->Destroy(ending);
  for (size_t i = 0; i < ending.size(); ++i) {
    if (!ending[i].is_busy || answers[i].empty()) continue;
    ending[i].plugin->host->Retain(
        std::make_shared<std::vector<Promises::Answer>>(std::move(answers[i])));
  }
}

void Plan::DestroyInstance(const EndingPlugin& ending) {
  PlannedPlugin& plugin = *ending.plugin;
  if (ending.is_busy) {
    plugin.host->Retain(std::shared_ptr<PluginInstance>(std::move(plugin.instance)));
    return plugin.host->Retire(/*is_busy=*/true);
  }
  Invoke(*plugin.host, kLoad, [&] { plugin.instance.reset(); });
  plugin.host->Retire();
}

Status Plan::AddPlugin(const PluginSpec& spec, const PlanSpec& profile,
                       const PluginCatalog& catalog, InstanceContext& context,
                       const Plan* previous) {
  auto found = catalog.Find(spec.name);
  if (!found.ok()) return found.error().ToStatus();
  if (std::ranges::find(plugins(), spec.name, &PlannedPlugin::name) != plugins().end()) {
    return Status::InvalidArgument(Where(spec) + "plugin \"" + spec.name + "\" is listed twice");
  }
  std::vector<std::string> points = EnabledPoints(profile, spec.name, found->info->points);
  if (previous != nullptr) {
    if (auto usable = previous->FindUsable(spec, points, *found)) {
      plugins_.push_back(std::move(usable));
      return {};
    }
  }
  const std::optional<LoadError> rejection =
      CreateInstance(spec, std::move(points), *found, context);
  return rejection.has_value() ? InstanceStatus(spec, *rejection) : BindColumns(*plugins_.back());
}

std::optional<LoadError> Plan::CreateInstance(const PluginSpec& spec,
                                              std::vector<std::string> points,
                                              const PluginCatalog::Plugin& from,
                                              InstanceContext& context) {
  PlannedPlugin plugin;
  plugin.name = spec.name;
  plugin.host = std::make_shared<InstanceHost>(
      context, spec.name, from.info->kinds, scheduler_name_,
      InstanceLibrary{from.library->path(), from.library.get()}, spec.deadline_ns);
  plugin.library = from.library;
  plugin.id = plugin.host->id();
  plugin.creation = {.args = spec.args, .points = points};
  from.library->Keep(plugin.host);
  const Arguments args(ArgsOf(spec.args), spec.where, spec.places);
  InstanceOptions options;
  options.library = from.library;
  options.plugin = spec.name;
  options.profile = scheduler_name_;
  options.host = plugin.host->abi();
  options.args = args.root();
  options.points = std::move(points);
  options.deadline_ns = spec.deadline_ns;
  options.emulated_version = context.emulated_version;
  options.column_type_of = [&context, &host = *plugin.host](std::string_view name) -> uint32_t {
    const auto column = ColumnSpec::Parse(name, context.interner);
    return column.ok() && host.MayUseColumn(name) ? column->type() : 0;
  };
  options.before_end = [&host = *plugin.host] { host.Close(); };
  auto instance = Invoke(*plugin.host, kLoad, [&] { return PluginInstance::Create(options); });
  if (!instance.ok()) {
    plugin.host->Retire();
    return std::move(instance).error();
  }
  if (const InstanceHost::Rejection* rejection = plugin.host->rejection()) {
    LoadError error = MakeLoadError(LoadErrorCode::kBadKind, rejection->expected, rejection->found);
    error.path = from.library->path();
    error.plugin = spec.name;
    plugin.host->Close();
    Invoke(*plugin.host, kLoad, [&] { instance->reset(); });
    plugin.host->Retire();
    return error;
  }
  plugin.instance = std::move(instance).value();
  for (const LoadNote& note : plugin.instance->notes()) {
    if (note.level >= context.log_level.get()) plugin.host->Log(note.level, note.text);
  }
  plugin.reasons.assign(plugin.instance->reasons().begin(), plugin.instance->reasons().end());
  // Added before BindColumns(), because the destructor of the plan unpins the columns, also those
  // before one that fails.
  plugins_.push_back(std::make_shared<PlannedPlugin>(std::move(plugin)));
  return std::nullopt;
}

Result<ColumnIndex> FindColumn(const PlannedPlugin& plugin, NodeTable& table,
                               std::string_view name) {
  if (plugin.host->MayUseColumn(name)) return table.ColumnFor(name);
  return Status::NotFound("the plugin does not declare the kind of column " + std::string(name));
}

Status Plan::BindColumns(PlannedPlugin& plugin) {
  for (const ColumnRequest& request : plugin.instance->columns()) {
    const Result<ColumnIndex> column = FindColumn(plugin, table_, request.name);
    if (!column.ok() && !request.optional) return column.status().Annotate(plugin.name);
    plugin.columns.push_back(column.ok() ? *column : kNoColumn);
    if (column.ok()) table_.PinColumn(*column);
  }
  return {};
}

Status Plan::AddUses(Point point, const std::vector<PluginUse>& uses) {
  for (const PluginUse& use : uses) {
    const auto plugin = std::ranges::find_if(
        plugins_, [&use](const auto& each) { return each->name == use.plugin; });
    const std::string where = "profile " + scheduler_name_ + ": " +
                              std::string(InfoOf(point).name) + ": plugin \"" + use.plugin + "\"";
    if (plugin == plugins_.end()) {
      return Status::InvalidArgument(where + " is not among the profile's plugins");
    }
    const auto index = static_cast<uint32_t>(plugin - plugins_.begin());
    auto& planned = points_[static_cast<size_t>(point)];
    if (std::ranges::find(planned, index, &PlannedUse::plugin) != planned.end()) {
      return Status::InvalidArgument(where + " is listed twice");
    }
    if (!HasPoint((*plugin)->instance->info().points, point)) {
      return Status::InvalidArgument(where + " does not implement this extension point");
    }
    planned.push_back({index, use.weight == 0 ? 1 : use.weight});
  }
  return point == Point::kScore ? CheckWeights() : Status();
}

const std::string& Plan::NameOf(PluginId id) const {
  const auto plugin = std::ranges::find(plugins(), id, &PlannedPlugin::id);
  BERTH_ASSERT(plugin != plugins().end());
  return plugin->name;
}

Status Plan::CheckWeights() const {
  int64_t left = INT64_MAX / BERTH_SCORE_MAX;
  for (const PlannedUse& use : At(Point::kScore)) {
    const std::string where =
        "profile " + scheduler_name_ + ": Score: plugin \"" + plugins_[use.plugin]->name + "\": ";
    if (use.weight < 0) {
      return Status::InvalidArgument(where + "expected a weight of at least 1, found " +
                                     std::to_string(use.weight));
    }
    if (use.weight > left) {
      return Status::InvalidArgument(where + "total score of Score plugins could overflow");
    }
    left -= use.weight;
  }
  return {};
}

std::set<std::string> HandledPodFields(const PluginCatalog& catalog) {
  std::set<std::string> fields;
  for (const auto& [name, plugin] : catalog.plugins()) {
    fields.insert(plugin.info->pod_fields.begin(), plugin.info->pod_fields.end());
  }
  return fields;
}

DecodeOptions DecodeOptionsFor(const std::set<std::string>& fields, KubeVersion emulated_version) {
  DecodeOptions options;
  options.emulated_version = emulated_version;
  for (const std::string& field : fields) {
    if (field == kPodPrefix || field == kNodePrefix) continue;
    if (field.starts_with(kPodPrefix)) {
      options.pod_fields.push_back(field.substr(kPodPrefix.size()));
    } else if (field.starts_with(kNodePrefix)) {
      options.node_fields.push_back(field.substr(kNodePrefix.size()));
    }
  }
  return options;
}

DecodeOptions LocalDecodeOptionsFor(const std::set<std::string>& fields,
                                    KubeVersion emulated_version) {
  DecodeOptions options = DecodeOptionsFor(fields, emulated_version);
  options.keep_pod_text = fields.contains(std::string(kPodPrefix));
  options.keep_node_text = fields.contains(std::string(kNodePrefix));
  return options;
}

}  // namespace berth::host
