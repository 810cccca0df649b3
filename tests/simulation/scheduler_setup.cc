#include "tests/simulation/scheduler_setup.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/assert.h"
#include "host/guard/point.h"
#include "tests/harness/default_profile.h"

namespace berth::host {
namespace {

SchedulingLoop::Options OptionsOf(const SchedulerSetup& setup, Audit& audit) {
  SchedulingLoop::Options options;
  options.seed = setup.scenario.seed;
  options.clock = &setup.clock;
  options.log = &audit;
  options.reuse.is_checked = true;
  options.reuse.sightings = 1;
  return options;
}

std::unique_ptr<SchedulingLoop> Start(const SchedulerSetup& setup, Client client, bool has_chaos,
                                      SchedulingLoop::Options options) {
  const std::vector<PlanSpec> profiles = ProfilesOf(setup, has_chaos);
  auto loop =
      SchedulingLoop::Create(setup.interner, client, setup.catalog, profiles, std::move(options));
  BERTH_ASSERT_MSG(loop.ok(), "%s", loop.status().ToString().c_str());
  return std::move(loop).value();
}

}  // namespace

std::vector<PlanSpec> ProfilesOf(const SchedulerSetup& setup, bool has_chaos) {
  PlanSpec spec = DefaultPlanSpec(setup.catalog);
  const auto use = [&](const char* name, bool first) {
    spec.plugins.push_back({name, nullptr, ""});
    for (const std::string& id : setup.catalog.plugins().find(name)->second.info->points) {
      const PointInfo* info = FindPoint(id);
      auto& uses = spec.points[static_cast<size_t>(info->point)];
      uses.insert(first ? uses.begin() : uses.end(), {name, 1});
    }
  };
  if (has_chaos) {
    use("test.ChaosA", true);
    use("test.ChaosB", true);
    // At Filter and Reserve, moves ChaosB from the front to the end. At the other points the chaos
    // plugins stay first.
    for (const Point point : {Point::kFilter, Point::kReserve}) {
      auto& uses = spec.points[static_cast<size_t>(point)];
      std::rotate(uses.begin(), uses.begin() + 1, uses.end());
    }
  }
  std::vector<PlanSpec> specs;
  for (const std::string& name : setup.scenario.profiles) {
    spec.scheduler_name = name;
    specs.push_back(spec);
  }
  return specs;
}

std::unique_ptr<SchedulingLoop> StartScheduler(const SchedulerSetup& setup, Client client,
                                               TaskPool& pool, Audit& audit) {
  const Scenario& scenario = setup.scenario;
  SchedulingLoop::Options options = OptionsOf(setup, audit);
  options.sink = &audit;
  options.logs_decisions = false;
  options.pool = &pool;
  options.queue = scenario.queue;
  if (scenario.drops_columns) options.memory.idle_column_bytes = 0;
  if (!scenario.has_quarantine) options.quarantine.faults = 0;
  return Start(setup, client, scenario.has_chaos, std::move(options));
}

std::unique_ptr<SchedulingLoop> StartFreshScheduler(const SchedulerSetup& setup,
                                                    EmbeddedCluster& cluster, Audit& audit) {
  auto loop = Start(setup, cluster, /*has_chaos=*/false, OptionsOf(setup, audit));
  cluster.Deliver();
  return loop;
}

}  // namespace berth::host
