// Services for plugins under check that the SDK's test kit does not have.
#ifndef BERTH_HOST_CONTRACT_CONTRACT_SERVICES_H_
#define BERTH_HOST_CONTRACT_CONTRACT_SERVICES_H_

#include <map>
#include <string>

namespace berth::host {

// Returns services by id that do nothing and return what a host may return.
// Lifetime: that of the process.
const std::map<std::string, const void*>& StubServices();

// Returns StubServices(), and a log and metrics that keep nothing, so that the memory of a process
// changes only by what the plugin keeps.
const std::map<std::string, const void*>& QuietServices();

}  // namespace berth::host

#endif  // BERTH_HOST_CONTRACT_CONTRACT_SERVICES_H_
