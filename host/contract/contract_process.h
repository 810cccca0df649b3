// Asks a plugin whether it keeps the contract, in a process of its own: there the library is
// loaded, and may crash, hang, or end the process, and each is a finding.
#ifndef BERTH_HOST_CONTRACT_CONTRACT_PROCESS_H_
#define BERTH_HOST_CONTRACT_CONTRACT_PROCESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/base/status.h"
#include "host/contract/contract_check.h"
#include "host/loader/plugin_library.h"

namespace berth::host {

struct ContractOutcome {
  bool is_loaded = false;  // False: the findings say why, and no plugin of the library was asked.
  std::string refusal;     // LoadErrorName of the error that the loader gave; empty: none.
  std::vector<ContractFinding> findings;  // In the order in which they came.
  std::optional<ContractEffort> effort;   // None: not all was asked.
};

// `library` is judged, and none of its code runs in this process.
// Errors: Unavailable: no process could be made.
Result<ContractOutcome> CheckContractApart(const PluginLibrary::Source& library,
                                           const ContractQuestion& question,
                                           const std::function<int64_t()>& steady_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_CONTRACT_PROCESS_H_
