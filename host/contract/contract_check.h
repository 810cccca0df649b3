// Checks that a plugin keeps the contract of the SDK. The SDK's test kit calls the plugin at each
// of its extension points, in a cluster made for the columns that the plugin reads.
#ifndef BERTH_HOST_CONTRACT_CONTRACT_CHECK_H_
#define BERTH_HOST_CONTRACT_CONTRACT_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/fake_host.h>

#include "host/base/time_units.h"
#include "host/contract/cluster_reader.h"
#include "host/contract/contract_cluster.h"
#include "host/contract/observations.h"
#include "host/loader/load_error.h"

namespace berth::testing {
class CallObserver;
}

namespace berth::host {

// A promise of the contract.
struct ContractPromise {
  std::string_view name;  // The name in findings and in the output of `berth plugin check`.
  std::string_view text;  // "The plugin throws no exception."
};
std::span<const ContractPromise> ContractPromises();
// The promise of the library as a whole. The loader checks it; CheckContract() has no findings for
// it.
inline constexpr std::string_view kLibraryPromise = "library";
// The host itself checks this promise, before any other call: see HostRejection.
inline constexpr std::string_view kHostPromise = "host";
inline constexpr std::string_view kDeadlinesPromise = "deadlines";
inline constexpr std::string_view kSurvivesPromise = "survives";
// These are not promises. A finding with one of these names means that the plugin could not be
// checked: create() rejected its arguments, or failed because something else is missing.
inline constexpr std::string_view kWantsArguments = "arguments";
inline constexpr std::string_view kNotCreated = "create";

// One violation of a promise, as a sentence.
struct ContractFinding {
  std::string promise;
  std::string text;
};
using ContractSink = std::function<void(const ContractFinding&)>;

// How long a check may take. After these times no further pod or instance is begun, so that a
// plugin with slow calls is called less often, but at least for kMinPods and kMinInstances.
struct ContractBudget {
  int64_t pods_ns = kMinute;
  int64_t instances_ns = 10 * kSecond;
  int64_t memory_ns = 2 * kSecond;  // For each function.
};
inline constexpr int kMinPods = 2;
inline constexpr int kMinInstances = 10;
inline constexpr int kMaxInstances = 1000;

struct ContractCheckRequest {
  std::string plugin;  // The name of the plugin.
  std::string args;    // The plugin's arguments as a JSON object, or empty.
  // The cluster in which the plugin is checked; empty: one that has all columns that it reads. See
  // ReadContractCluster().
  std::span<const ClusterManifest> cluster = {};
  ContractBudget budget = {};
  // The deadline of each call, as in a profile: see DeadlineObserver. 0: those of the host.
  int64_t deadline_ns = 0;
  // The ids of the extension points to check; none: all. Changes are always delivered, because the
  // other points may need what the plugin keeps of them.
  std::optional<std::vector<std::string>> points = {};
  // The version of Kubernetes whose decisions the plugin makes.
  KubeVersion emulated_version = kNewestKubeVersion;
};

// Why the host rejects a plugin, which it creates as it creates the plugins of a profile.
struct HostRejection {
  LoadError error;
  bool is_by_schema = false;  // The schema forbids the arguments, and create() was not called.
};

struct ContractSubject {
  const berth_entry* entry = nullptr;             // The entry of a library that stays loaded.
  const std::optional<HostRejection>& rejection;  // None if the host accepts the plugin.
  const ContractCluster* cluster = nullptr;       // As read; null: one is made for the plugin.
  const ContractCheckRequest& request;
  const std::function<int64_t()>& steady_ns;
};

// How much was checked.
struct ContractCoverage {
  int pods = 0;  // The pods that went through complete cycles.
  // The pods of a complete check: at most kMaxClusterPods of a cluster that was read.
  int pods_of = 0;
  int nodes = 0;     // The nodes of the cluster.
  int nodes_of = 0;  // All nodes of a cluster that was read; 0 if it was made for the plugin.
  std::vector<ContractGap> gaps = {};  // The promises without a finding that were not observed.
  // The instances that were created and destroyed in a row, in a cluster without nodes and objects.
  int instances = 0;
};

// Calls the plugin several thousand times, and calls `sink` on this thread for each violation.
// `observer` is called before and after each call. The plugin may crash or end the process: use
// CheckContractIsolated() to run this in a process of its own. Returns none if the plugin could not
// be created, or if the host rejects it.
std::optional<ContractCoverage> CheckContract(const ContractSubject& subject,
                                              testing::CallObserver& observer,
                                              const ContractSink& sink);

// Calls `count` until it returns at most `most` or no longer decreases, and returns the lowest
// count. (The kernel lists a thread for a moment after it was joined.) `wait` waits a few
// milliseconds.
size_t SettledCount(size_t most, const std::function<size_t()>& count,
                    const std::function<void()>& wait);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_CONTRACT_CHECK_H_
