// A gang scheduling plugin as a third party would write it, with the SDK only. It makes the pods of
// a gang wait in Permit until all of them have a node. A pod belongs to the gang that its
// spec.schedulingGroup or its label "gang" names; the label "gang-size" is the number of members.
// When a member loses its node, the other members are rejected and release their nodes.
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include <berth/plugin.h>

namespace {

class Gang : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Gang";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Makes the pods of a gang wait until all have a node.";
  static constexpr std::array kPodFields{"/spec/schedulingGroup"};
  static constexpr std::array kServices{BERTH_SERVICE_WAITING, BERTH_SERVICE_STRINGS};
  struct Args {
    int64_t timeout_ms = 60'000;
    bool count_by_gang = false;
  };
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("timeoutMs", &Args::timeout_ms, berth::Range{1, 900'000},
                                      "How long a member waits for the others."),
                           berth::Arg("countByGang", &Args::count_by_gang,
                                      "Whether the metric has a label with the gang."));

  Gang(const berth::Host& host, const Args& args)
      : host_(host),
        timeout_(std::chrono::milliseconds(args.timeout_ms)),
        gang_(host.Intern("gang")),
        size_(host.Intern("gang-size")),
        counts_by_gang_(args.count_by_gang),
        lost_(args.count_by_gang ? host.metrics().Counter("gang_lost_total", kLost, {"gang"})
                                 : host.metrics().Counter("gang_lost_total", kLost)) {}

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_POD_ANY, BERTH_ACTION_ADD, true}};
  }

  berth::Status Reserve(berth::Cycle& cycle, const berth::Target& /*target*/) {
    const std::string gang = GangOf(cycle.pod());
    if (!gang.empty()) members_[gang].emplace(cycle.pod().uid());
    return berth::Status::Success();
  }

  // The first member that loses its node rejects the others. Unreserve is then called for them as
  // well, and does nothing.
  void Unreserve(const berth::Binding& binding) {
    const berth::Pod pod = binding.pod();
    const auto gang = members_.find(GangOf(pod));
    if (gang == members_.end() || gang->second.erase(std::string(pod.uid())) == 0) return;
    const std::set<std::string> others = std::move(gang->second);
    if (counts_by_gang_) {
      lost_.Observe(1, {gang->first});
    } else {
      lost_.Observe(1);
    }
    members_.erase(gang);
    for (const std::string& uid : others) {
      static_cast<void>(host_.waiting().Reject(uid, "a member of the gang has lost its node"));
    }
  }

  berth::Status Permit(berth::Cycle& cycle, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& timeout) {
    const auto gang = members_.find(GangOf(cycle.pod()));
    if (gang == members_.end()) return berth::Status::Success();
    if (static_cast<int64_t>(gang->second.size()) < SizeOf(cycle.pod())) {
      timeout = timeout_;
      return berth::Status::Wait("waiting for the rest of the gang");
    }
    for (const std::string& uid : gang->second) static_cast<void>(host_.waiting().Allow(uid));
    return berth::Status::Success();
  }

  void PostBind(const berth::Binding& binding) {
    const auto gang = members_.find(GangOf(binding.pod()));
    if (gang == members_.end()) return;
    gang->second.erase(std::string(binding.pod().uid()));
    if (gang->second.empty()) members_.erase(gang);
  }

 private:
  static constexpr std::string_view kLost = "The number of gangs in which a member lost its node.";

  std::string GangOf(berth::Pod pod) const {
    if (!pod.group().empty()) {
      return std::string(host_.Text(pod.ns())).append(1, '/').append(pod.group());
    }
    return std::string(host_.Text(pod.Label(gang_)));
  }
  int64_t SizeOf(berth::Pod pod) const {
    const std::string_view text = host_.Text(pod.Label(size_));
    int64_t size = 0;
    std::from_chars(text.data(), text.data() + text.size(), size);
    return size;
  }

  berth::Host host_;
  std::chrono::nanoseconds timeout_;
  berth_id gang_;
  berth_id size_;
  bool counts_by_gang_;
  berth::Metric lost_;
  std::unordered_map<std::string, std::set<std::string>> members_;  // The uids by gang.
};

}  // namespace

BERTH_PLUGIN(Gang)
