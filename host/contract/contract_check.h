// Does a plugin keep the contract? Asked of the plugin itself, by the SDK's test kit: in a cluster
// made for the columns that it reads, at each of its points.
#ifndef BERTH_HOST_CONTRACT_CONTRACT_CHECK_H_
#define BERTH_HOST_CONTRACT_CONTRACT_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <berth/abi.h>

namespace berth::testing {
class CallObserver;
}

namespace berth::host {

// A promise, by the name that findings and `berth plugin check` call it.
struct ContractPromise {
  std::string_view name;
  std::string_view text;  // "Every selected node is answered for, and no other."
};
std::span<const ContractPromise> ContractPromises();
// Of the library as a whole. The loader judges it: CheckContract() never finds it broken.
inline constexpr std::string_view kLibraryPromise = "library";
inline constexpr std::string_view kDeadlinesPromise = "deadlines";
inline constexpr std::string_view kSurvivesPromise = "survives";
// Not promises: the plugin could not be asked, for create() wants other arguments, or something
// else that is not there.
inline constexpr std::string_view kWantsArguments = "arguments";
inline constexpr std::string_view kNotCreated = "create";

// One broken promise, in a sentence.
struct ContractFinding {
  std::string promise;
  std::string text;
};
using ContractSink = std::function<void(const ContractFinding&)>;

// A plugin whose calls take long is asked less: what is begun within these times is done, and never
// less than kFewestPods and kFewestInstances.
struct ContractBudget {
  int64_t pods_ns = 60'000'000'000;
  int64_t instances_ns = 10'000'000'000;
};
inline constexpr int kFewestPods = 2;
inline constexpr int kFewestInstances = 10;
inline constexpr int kMostInstances = 1000;

struct ContractQuestion {
  std::string plugin;  // Its name.
  std::string args;    // A JSON object; empty: none are given.
  ContractBudget budget = {};
};

struct ContractSubject {
  const berth_entry* entry = nullptr;  // Of a library that stays loaded.
  const ContractQuestion& question;
  const std::function<int64_t()>& steady_ns;
};

// How much was asked.
struct ContractEffort {
  int pods = 0;       // That went through whole cycles, with all that the kit compares.
  int pods_of = 0;    // How many there are.
  int instances = 0;  // Made and destroyed in a row.
};

// Calls the plugin some thousand times, and `sink` on this thread for what it breaks. A plugin may
// do whatever it likes here: run this in a process of its own. `observer` is told of every call.
// Returns: none: it was not created, and so not asked.
std::optional<ContractEffort> CheckContract(const ContractSubject& subject,
                                            testing::CallObserver& observer,
                                            const ContractSink& sink);

// What `count` gives when it has come down to `most`, or does not come down any more: a thread that
// was joined is listed for a moment longer. `wait` lets some milliseconds pass.
size_t SettledCount(size_t most, const std::function<size_t()>& count,
                    const std::function<void()>& wait);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_CONTRACT_CHECK_H_
