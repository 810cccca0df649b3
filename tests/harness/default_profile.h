// The default profile, for tests.
#ifndef BERTH_TESTS_HARNESS_DEFAULT_PROFILE_H_
#define BERTH_TESTS_HARNESS_DEFAULT_PROFILE_H_

#include "host/loader/plugin_catalog.h"
#include "host/plan/plan.h"

namespace berth::host {

// Returns profiles/default.toml with the plugins of `catalog`. REQUIRES: the catalog has all of
// them.
PlanSpec DefaultPlanSpec(const PluginCatalog& catalog);

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_DEFAULT_PROFILE_H_
