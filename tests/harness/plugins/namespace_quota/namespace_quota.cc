// Divides the cluster among the namespaces that want it: every namespace with pods may run the same
// share of `pods`, and a namespace without pods leaves its share to the others. Pending pods count
// too: they show that the namespace wants to run pods.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <berth/plugin.h>

namespace {

class NamespaceQuota : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.NamespaceQuota";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Gives every namespace with pods the same share.";
  // OnChange also reports the pods without a node.
  static constexpr bool kPendingChanges = true;
  static constexpr std::array kServices{BERTH_SERVICE_ACTIVATE, BERTH_SERVICE_TIMER};

  struct Args {
    int64_t pods = 0;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("pods", &Args::pods, berth::Range{1, 1'000'000}, berth::kRequired,
                 "The number of pods that all namespaces may run together."));

  NamespaceQuota(const berth::Host& host, const Args& args) : host_(host), pods_(args.pods) {}

  void OnChange(const berth::Change& change) {
    switch (change.kind) {
      case BERTH_CHANGE_POD_ADDED: return Count(*change.pod, {.placed = 1});
      case BERTH_CHANGE_POD_REMOVED: return Count(*change.pod, {.placed = -1});
      case BERTH_CHANGE_PENDING_ADDED: return Count(*change.pod, {.pending = 1});
      case BERTH_CHANGE_PENDING_REMOVED:
        rejected_.erase(std::string(berth::Pod(*change.pod).uid()));
        return Count(*change.pod, {.pending = -1});
      default: return;  // No pod moves to another namespace, and nodes have no effect.
    }
  }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    const auto found = namespaces_.find(cycle.pod()->meta->ns);
    const int64_t placed = found != namespaces_.end() ? found->second.placed : 0;
    if (placed < Share()) return berth::Status::Success();
    rejected_.insert_or_assign(std::string(cycle.pod().uid()), Share());
    return berth::Status::Unschedulable("The namespace runs its share of the pods");
  }

  // A pod that leaves its node makes room for others. No event tells that a namespace has no pods
  // any more, because its last one may have been pending: see Recheck().
  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE}};
  }

 private:
  struct Pods {
    int64_t placed = 0;
    int64_t pending = 0;
  };

  void Count(const berth_pod& pod, Pods change) {
    Pods& pods = namespaces_[pod.meta->ns];
    pods.placed += change.placed;
    pods.pending += change.pending;
    // The namespace's id may mean another text once none of its pods is left.
    if (pods.placed != 0 || pods.pending != 0) return;
    namespaces_.erase(pod.meta->ns);
    // Not at once: a pod that is assumed is pending no more before it is on its node.
    if (rejected_.empty() || std::exchange(rechecks_, true)) return;
    rechecks_ = host_.timers().Post([this] { Recheck(); }).ok();
  }
  // Requeues the pods that were rejected when the share was smaller.
  void Recheck() {
    rechecks_ = false;
    std::vector<std::string_view> uids;
    for (const auto& [uid, share] : rejected_) {
      if (share < Share()) uids.push_back(uid);
    }
    if (!uids.empty()) static_cast<void>(host_.activate().Pods(uids));
  }
  int64_t Share() const {
    const auto wanting = static_cast<int64_t>(namespaces_.size());
    return std::max<int64_t>(1, pods_ / std::max<int64_t>(1, wanting));
  }

  const berth::Host host_;
  const int64_t pods_;
  std::unordered_map<berth_id, Pods> namespaces_;  // Those with pods.
  // The pending pods that were rejected, by their uid, and the share when they were.
  std::unordered_map<std::string, int64_t> rejected_;
  bool rechecks_ = false;  // Recheck() is going to be called.
};

}  // namespace

BERTH_PLUGIN(NamespaceQuota)
