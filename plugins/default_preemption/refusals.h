// The text for a pod that preemption cannot help: which nodes refuse it and why.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_REFUSALS_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_REFUSALS_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace preemption {

// The numbers of nodes by reason.
class Refusals {
 public:
  void Add(std::string_view reason, std::size_t nodes = 1) {
    if (nodes == 0) return;
    const auto found = counts_.find(reason);
    if (found != counts_.end()) {
      found->second += nodes;
    } else {
      counts_.emplace(reason, nodes);
    }
  }

  // Returns "0/3 nodes are available: 1 Insufficient cpu, 2 <another reason>." The parts are sorted
  // as texts, with their numbers. `nodes`: the number of all nodes.
  // kube-scheduler: framework/types.go, FitError.Error.
  std::string Text(std::size_t nodes) const {
    std::vector<std::string> parts;
    for (const auto& [reason, count] : counts_) {
      parts.push_back(std::to_string(count) + " " + reason);
    }
    std::sort(parts.begin(), parts.end());
    std::string text = "0/" + std::to_string(nodes) + " nodes are available:";
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? " " : ", ") + parts[i];
    return parts.empty() ? text : text + ".";
  }

 private:
  std::map<std::string, std::size_t, std::less<>> counts_;
};

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_REFUSALS_H_
