// The specification of a plan: a profile in terms of the plugins that the libraries have.
#ifndef BERTH_HOST_PLAN_PLAN_SPEC_H_
#define BERTH_HOST_PLAN_PLAN_SPEC_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "host/guard/point.h"
#include "host/plan/arguments.h"

namespace berth::host {

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

}  // namespace berth::host

#endif  // BERTH_HOST_PLAN_PLAN_SPEC_H_
