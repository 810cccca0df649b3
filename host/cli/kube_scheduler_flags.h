// What to use instead of the options of kube-scheduler that Berth does not have.
#ifndef BERTH_HOST_CLI_KUBE_SCHEDULER_FLAGS_H_
#define BERTH_HOST_CLI_KUBE_SCHEDULER_FLAGS_H_

#include <string_view>

namespace berth::host {

// Returns what to use instead of an option of kube-scheduler, such as "--kubeconfig", or that Berth
// does not have it. Returns "" for any other option.
std::string_view KubeSchedulerAdvice(std::string_view option);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_KUBE_SCHEDULER_FLAGS_H_
