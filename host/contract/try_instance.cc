#include "host/contract/try_instance.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/cache/node_table.h"
#include "host/cache/object_store.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/event/inbox.h"
#include "host/event/timer_queue.h"
#include "host/runtime/services/metric_store.h"
#include "host/runtime/services/plugin_work.h"
#include "host/runtime/services/services.h"

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
  void Evict(const PodName& /*pod*/, std::string_view /*message*/, EvictionCallback done) override {
    done({}, /*in_memory=*/false);
  }

 private:
  Nominator nominator_;
};

}  // namespace

std::optional<LoadError> TryInstance(
    const PluginSpec& spec, const PluginCatalog& catalog,
    const std::function<void(const CallMonitor* monitor)>& report_crashes) {
  const VirtualClock clock(0);
  Interner interner;
  ObjectStore objects;
  NodeTable table(interner);
  TimerQueue timers;
  Inbox inbox(nullptr);
  PluginWork work(nullptr);
  MetricStore metrics;
  NoHttpClient no_http;
  IdleScheduler scheduler;
  CallMonitor monitor(interner);
  EmbeddedCluster cluster({.clock = clock, .max_events = 0, .serve = nullptr});
  HostServices services(interner, objects);
  services.scheduler = &scheduler;
  services.client = &cluster;
  services.timers = &timers;
  services.inbox = &inbox;
  services.work = &work;
  services.clock = &clock;
  services.metrics = &metrics;
  services.http = &no_http;
  if (report_crashes) {
    services.monitor = &monitor;
    report_crashes(&monitor);
  }
  std::optional<LoadError> error = Plan::TryPlugin(spec, catalog, services, table);
  cluster.Stop();
  if (report_crashes) report_crashes(nullptr);
  return error;
}

}  // namespace berth::host
