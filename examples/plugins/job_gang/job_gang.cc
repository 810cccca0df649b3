// Binds the pods of a job only when enough of them have a node at the same time.
//
// The pods of a job have the label batch.kubernetes.io/job-name, which the Job controller sets. The
// annotation acme.com/gang-size states how many of them must run together. A pod with a node waits
// in Permit until that many pods of its job have one. If an attempt of one member fails, the
// waiting members give their nodes back, so that another job can use them.
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/plugin.h>

namespace {

constexpr std::string_view kJob = "batch.kubernetes.io/job-name";
constexpr std::string_view kSize = "acme.com/gang-size";

class JobGang : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.JobGang";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Binds the pods of a job together or not at all.";
  static constexpr std::array kServices{BERTH_SERVICE_ACTIVATE, BERTH_SERVICE_STRINGS,
                                        BERTH_SERVICE_WAITING};
  static constexpr bool kPendingChanges = true;

  struct Args {
    int64_t timeout_seconds = 60;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("timeoutSeconds", &Args::timeout_seconds, berth::Range{1, 900},
                 "How long a pod with a node waits for the other pods of its job."));

  JobGang(const berth::Host& host, const Args& args)
      : host_(host), timeout_(std::chrono::seconds(args.timeout_seconds)) {}

  // A pod has a node from the moment that it is assumed until it is forgotten or deleted.
  void OnChange(const berth::Change& change) {
    switch (change.kind) {
      case BERTH_CHANGE_POD_ADDED: return Add(placed_, *change.pod);
      case BERTH_CHANGE_POD_CHANGED:
        return Remove(placed_, *change.old_pod), Add(placed_, *change.pod);
      case BERTH_CHANGE_POD_REMOVED: return Remove(placed_, *change.pod);
      case BERTH_CHANGE_PENDING_ADDED: return Add(pending_, *change.pod);
      case BERTH_CHANGE_PENDING_CHANGED:
        return Remove(pending_, *change.old_pod), Add(pending_, *change.pod);
      case BERTH_CHANGE_PENDING_REMOVED: return Remove(pending_, *change.pod);
      default: return;
    }
  }

  // The pods of a job are tried one after another, so that two jobs do not take nodes in turn.
  std::string_view Entity(const berth::Pod& pod) const {
    return GangOf(pod).has_value() ? pod.Label(kJob, host_).value_or("") : "";
  }

  berth::Status Permit(berth::Cycle& cycle, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& timeout) {
    const std::optional<Gang> gang = GangOf(cycle.pod());
    if (!gang.has_value()) return berth::Status::Success();
    if (!IsComplete(*gang)) {
      // The others may be parked: the node of this pod is no event for them.
      if (const auto others = pending_.find(gang->key); others != pending_.end()) {
        for (const std::string& uid : others->second) {
          static_cast<void>(host_.activate().Pod(uid));
        }
      }
      timeout = timeout_;
      return berth::Status::Wait("waiting for the other pods of the job");
    }
    for (const std::string& uid : placed_.at(gang->key)) {
      static_cast<void>(host_.waiting().Allow(uid));
    }
    return berth::Status::Success();
  }

  // Also called for the members that this rejects, when no member is left to reject.
  void AttemptFailed(const berth::FailedAttempt& attempt) {
    const std::optional<Gang> gang = GangOf(attempt.pod());
    if (!gang.has_value() || IsComplete(*gang)) return;
    const std::string reason = "another pod of the job has no node";
    static_cast<void>(host_.waiting().ForEach([&](const berth_pod& pod) {
      const std::optional<Gang> other = GangOf(pod);
      if (!other.has_value() || other->key != gang->key) return;
      static_cast<void>(host_.waiting().Reject(Uid(pod), reason));
    }));
  }

  // A pod that is rejected here may fit when a pod of its job arrives, or when room is made.
  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_ACTION_ADD},
            {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE},
            {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_ALLOCATABLE},
            {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE}};
  }

 private:
  using Pods = std::map<std::string, std::set<std::string>>;  // The uids of pods, by gang.
  struct Gang {
    std::string key;  // The namespace and the job.
    uint64_t size = 0;
  };

  static std::string Uid(const berth_pod& pod) { return std::string(berth::Pod(pod).uid()); }

  // Returns no value for a pod without a job or without a valid size, which is scheduled alone.
  std::optional<Gang> GangOf(const berth::Pod& pod) const {
    const std::optional<std::string_view> job = pod.Label(kJob, host_);
    const std::string_view text = pod.Annotation(kSize).value_or("");
    uint64_t size = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (!job.has_value() || error != std::errc() || stop != text.data() + text.size()) return {};
    return Gang{std::string(host_.Text(pod.ns())) + "/" + std::string(*job), size};
  }
  void Add(Pods& pods, const berth_pod& pod) {
    if (const auto gang = GangOf(pod)) pods[gang->key].insert(Uid(pod));
  }
  void Remove(Pods& pods, const berth_pod& pod) {
    const auto gang = GangOf(pod);
    if (!gang.has_value()) return;
    std::set<std::string>& uids = pods[gang->key];
    uids.erase(Uid(pod));
    if (uids.empty()) pods.erase(gang->key);
  }
  bool IsComplete(const Gang& gang) const {
    const auto placed = placed_.find(gang.key);
    return placed != placed_.end() && placed->second.size() >= gang.size;
  }

  const berth::Host host_;
  const std::chrono::nanoseconds timeout_;
  Pods placed_;   // With a node.
  Pods pending_;  // Without one.
};

}  // namespace

BERTH_PLUGIN(JobGang)
