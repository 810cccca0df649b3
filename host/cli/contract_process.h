// Asks a plugin whether it keeps the contract, in a process of its own: there it may crash, hang,
// or end the process, and each is a finding.
#ifndef BERTH_HOST_CLI_CONTRACT_PROCESS_H_
#define BERTH_HOST_CLI_CONTRACT_PROCESS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "host/api/status.h"
#include "host/cli/contract_check.h"

namespace berth::host {

// Findings in the order in which they came. Takes at most five minutes.
// Errors: Unavailable: no process could be made.
Result<std::vector<ContractFinding>> CheckContractApart(const ContractSubject& subject,
                                                        std::function<int64_t()> steady_ns);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_CONTRACT_PROCESS_H_
