// Does a plugin keep the contract? Asked of the plugin itself, by the SDK's test kit: in a cluster
// made for the columns that it reads, at each of its points.
#ifndef BERTH_HOST_CLI_CONTRACT_CHECK_H_
#define BERTH_HOST_CLI_CONTRACT_CHECK_H_

#include <functional>
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
// Not a promise: the plugin could not be asked, for create() wants other arguments.
inline constexpr std::string_view kNotCreated = "create";

// One broken promise, in a sentence.
struct ContractFinding {
  std::string promise;
  std::string text;
};
using ContractSink = std::function<void(const ContractFinding&)>;

struct ContractSubject {
  const berth_entry* entry = nullptr;  // Of a library that stays loaded.
  std::string plugin;                  // Its name.
  std::string args;                    // A JSON object; empty: none are given.
};

// Calls the plugin some thousand times, and `sink` on this thread for what it breaks. A plugin may
// do whatever it likes here: run this in a process of its own. `observer` is told of every call.
void CheckContract(const ContractSubject& subject, testing::CallObserver& observer,
                   const ContractSink& sink);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_CONTRACT_CHECK_H_
