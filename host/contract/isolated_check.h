// Checks the contract of a plugin in a child process. The library is loaded only there, so that a
// crash, a hanging call or an exit is a finding.
#ifndef BERTH_HOST_CONTRACT_ISOLATED_CHECK_H_
#define BERTH_HOST_CONTRACT_ISOLATED_CHECK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/base/child_process.h"
#include "host/base/status.h"
#include "host/contract/contract_check.h"
#include "host/loader/plugin_library.h"

namespace berth::host {

struct ContractOutcome {
  // False if the library could not be loaded. Then the findings contain the reason, and no plugin
  // was checked.
  bool is_loaded = false;
  bool is_accepted = false;  // The host accepts the plugin.
  // The LoadErrorName of the loader's error; empty if the library was loaded.
  std::string rejection;
  std::vector<ContractFinding> findings;     // The findings in the order in which they occurred.
  std::optional<ContractCoverage> coverage;  // Nullopt if the check ended early.
};

// Returns the outcome that the text of a child process of CheckContractIsolated() states. A text
// that ends early has no coverage.
ContractOutcome OutcomeOf(const ChildResult& end);

// Checks a library in a child process. No code of the library runs in this process. The child has
// the handlers of crash_handler.h from before it loads the library, as the scheduler has. The
// finding about a crash, exit() or quick_exit() names the plugin's function; that about an end
// without exit() has the exit status alone.
// Errors: Unavailable if the child process could not be created.
Result<ContractOutcome> CheckContractIsolated(const PluginLibrary::Source& library,
                                              const ContractCheckRequest& request,
                                              const std::function<int64_t()>& steady_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_ISOLATED_CHECK_H_
