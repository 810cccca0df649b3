#include "host/contract/host_validation.h"

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cache/node_table.h"
#include "host/cache/object_store.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/config/args_schema.h"
#include "host/config/config_errors.h"
#include "host/config/profile.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/loader/library_store.h"
#include "host/loader/plugin_catalog.h"
#include "host/loader/private_copy.h"
#include "host/plan/plan.h"
#include "host/plan/plan_spec.h"
#include "host/runtime/services/host_services.h"
#include "host/runtime/services/metric_store.h"
#include "host/runtime/services/scheduler_requests.h"

namespace berth::host {
namespace {

// A scheduler without pods.
class IdleScheduler final : public SchedulerRequests {
 public:
  Row FindNode(std::string_view /*name*/) const override { return kNoRow; }
  const Nominator& nominator() const override { return nominator_; }
  bool ClearNomination(std::string_view /*uid*/) override { return false; }
  void Activate(std::string_view /*uid*/) override {}
  std::vector<PodRef> Waiting(PluginId /*plugin*/) const override { return {}; }
  bool Allow(std::string_view /*uid*/, PluginId /*plugin*/) override { return false; }
  bool Reject(std::string_view /*uid*/, PluginId /*plugin*/, std::string_view /*reason*/) override {
    return false;
  }
  void Evict(const PodName& /*pod*/, std::string_view /*message*/, StatusCallback done) override {
    done({});
  }

 private:
  Nominator nominator_;
};

std::optional<LoadError> ValidateArgs(const PluginLibrary& library, const std::string& plugin,
                                      const nlohmann::json& args) {
  const PluginInfo* info = library.Find(plugin);
  if (info == nullptr) return std::nullopt;  // Plan::TryPlugin() reports it.
  ConfigErrors errors;
  CheckArgs(ParseJson(info->args_schema), {.value = args, .places = {}}, "", {}, errors);
  if (errors.size() == 0) return std::nullopt;
  std::vector<std::string> lines;
  for (const ConfigError& error : errors.errors()) lines.push_back(error.ToString());
  LoadError error = MakeLoadError(LoadErrorCode::kBadArguments, "", Join(lines, "; "));
  error.path = library.path();
  error.plugin = plugin;
  return error;
}

}  // namespace

std::optional<HostRejection> ValidateByHost(const std::shared_ptr<PluginLibrary>& library,
                                            const std::string& plugin, const std::string& args,
                                            int64_t deadline_ns) {
  const nlohmann::json given = args.empty() ? nlohmann::json() : ParseJson(args);
  if (auto error = ValidateArgs(*library, plugin, given)) {
    return HostRejection{*std::move(error), true};
  }
  LibraryStore store(CopyToMemory());
  PluginCatalog catalog(store);
  if (auto added = catalog.AddLoaded(library); !added.ok()) {
    return HostRejection{std::move(added).error()};
  }
  const VirtualClock clock(0);
  Interner interner;
  ObjectStore objects;
  NodeTable table(interner);
  TimerQueue timers;
  Inbox inbox(nullptr);
  MetricStore metrics;
  IdleScheduler scheduler;
  EmbeddedCluster cluster({.clock = clock, .max_events = 0, .serve = nullptr});
  HostServices services(interner, objects);
  services.scheduler = &scheduler;
  services.client = &cluster;
  services.timers = &timers;
  services.inbox = &inbox;
  services.clock = &clock;
  services.metrics = &metrics;
  PluginSpec spec;
  spec.name = plugin;
  spec.args = std::make_shared<const nlohmann::json>(given);
  spec.deadline_ns = deadline_ns;
  std::optional<LoadError> error = Plan::TryPlugin(spec, catalog, services, table);
  cluster.Stop();
  if (!error.has_value()) return std::nullopt;
  return HostRejection{*std::move(error)};
}

}  // namespace berth::host
