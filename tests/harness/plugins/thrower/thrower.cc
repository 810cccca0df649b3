// A plugin that throws in the method that its arguments name, and that makes the host call that
// method.
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/plugin.h>

namespace {

struct ThrowerArgs {
  std::string at;
};

class Thrower : public berth::Plugin {
 public:
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kName = "test.Thrower";
  static constexpr std::string_view kAbout = "Throws in the method that its arguments name.";
  static constexpr berth::Reasons kReasons{"no room"};
  static constexpr std::array kKinds{"v1/Namespace"};
  using Args = ThrowerArgs;
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("at", &Args::at, "The method that throws."));
  using Node = berth::NodeRow<Columns>;

  // The copy constructor throws if `throws` is set.
  struct State {
    bool throws = false;

    State() = default;
    State(const State& other) {
      if (other.throws) throw std::runtime_error("thrown at clone");
    }
  };

  Thrower(const berth::Host& host, const Args& args)
      : host_(host), at_(args.at), timer_(host.timers(), [this] { At("timer"); }) {
    if (at_ == "constructor" || at_ == "EventsToRegister") LeavePending();
    At("constructor");
    (void)host_.objects().Watch<&Thrower::OnNamespace>("v1/Namespace", this);
  }

  berth::Status PreEnqueue(const berth::Pod& /*pod*/) { return Succeed("PreEnqueue"); }
  std::vector<berth::EventInterest> EventsToRegister() const {
    At("EventsToRegister");
    return {{.resource = BERTH_RESOURCE_NODE, .actions = BERTH_ACTION_ADD}};
  }
  berth::QueueingHint Hint(const berth::Queued& /*queued*/, const berth::Event& /*event*/) {
    At("Hint");
    return berth::QueueingHint::kQueue;
  }
  berth::SortKey Key(const berth::Queued& queued) const {
    At("Key");
    return berth::SortKey().Descending(queued.priority);
  }
  uint64_t Lane(const berth::Queued& /*queued*/) const {
    At("Lane");
    return 0;
  }
  std::size_t NextLane(const berth::Lanes& /*lanes*/) {
    At("NextLane");
    return 0;
  }
  std::string_view Entity(const berth::Pod& /*pod*/) const {
    At("Entity");
    return "";
  }
  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    cycle.Emplace<State>().throws = at_ == "clone";
    return Succeed("PreFilter");
  }
  berth::Status AddPod(berth::Cycle& /*cycle*/, const berth::Pod& /*pod*/, const Node& /*node*/) {
    return Succeed("AddPod");
  }
  berth::Status RemovePod(berth::Cycle& /*cycle*/, const berth::Pod& /*pod*/,
                          const Node& /*node*/) {
    return Succeed("RemovePod");
  }
  // Rejects every node if the method under test is called only for rejected pods: queueing hints,
  // PostFilter, and the methods of what-if questions.
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    At("Filter");
    for (const char* at : {"Hint", "PostFilter", "AddPod", "RemovePod", "clone"}) {
      if (at_ == at) return berth::UnschedulableIf(true, 0);
    }
    return berth::kPass;
  }
  berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& all,
                           const berth::Verdicts& /*verdicts*/, berth::PostFilterOut& /*out*/) {
    At("PostFilter");
    const uint32_t row = 0;
    if (auto question = host_.what_if().Begin(cycle, {&row, 1}, berth::WhatIfMode::kApart)) {
      const berth_pod_list pods = all.abi().block(&all.abi(), 0)->pods[0];
      if (at_ == "AddPod" || at_ == "clone") (void)question.AddPod(0, *cycle.pod());
      if (at_ == "RemovePod" && pods.count > 0) (void)question.RemovePod(0, *pods.data[0]);
    }
    return berth::Status::Unschedulable("no way");
  }
  berth::Status PreScore(berth::Cycle& /*cycle*/, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    return Succeed("PreScore");
  }
  int64_t Score(const berth::Cycle& /*cycle*/, const Node& /*node*/) const {
    At("Score");
    return 0;
  }
  berth::Status NormalizeScore(berth::Cycle& /*cycle*/, berth::Scores& /*scores*/) {
    return Succeed("NormalizeScore");
  }
  berth::Status Reserve(berth::Cycle& /*cycle*/, const berth::Target& /*target*/) {
    return Succeed("Reserve");
  }
  void Unreserve(const berth::Binding& /*binding*/) { At("Unreserve"); }
  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& /*timeout*/) {
    At("Permit");
    if (at_ == "Unreserve") return berth::Status::Unschedulable("not now");
    return {};
  }
  berth::Status PreBindPreFlight(const berth::Binding& /*binding*/) {
    return Succeed("PreBindPreFlight");
  }
  berth::Status PreBind(const berth::Binding& /*binding*/) { return Succeed("PreBind"); }
  berth::Status Bind(const berth::Binding& binding, berth::Done& done) {
    At("Bind");
    if (at_ == "AttemptFailed") return berth::Status::Error("not bound");
    return host_.api().Bind(binding, done);
  }
  void PostBind(const berth::Binding& binding) {
    At("PostBind");
    if (at_ == "timer") (void)timer_.Start(std::chrono::nanoseconds(1));
    if (at_ == "post") (void)host_.timers().Post([this] { At("post"); });
    if (at_ != "answer") return;
    (void)host_.api().PatchStatus(*binding.pod(), "{}",
                                  [this](const berth::ApiResult&) { At("answer"); });
  }
  void AttemptFailed(const berth::FailedAttempt& /*attempt*/) { At("AttemptFailed"); }
  void OnChange(const berth::Change& /*change*/) { At("OnChange"); }
  void Save(berth::HandOver& out) const {
    At("Save");
    out.Write("state");
  }
  berth::Status Restore(uint32_t /*version*/, std::string_view /*bytes*/) {
    return Succeed("Restore");
  }
  void OnNamespace(const berth::ObjectChange& /*change*/) { At("watch"); }
  void Quiesce() { At("Quiesce"); }

 private:
  // Leaves a posted function and a request without an answer when create() fails. A sanitizer
  // reports them if they are not freed, or if the host still calls one of them.
  void LeavePending() {
    static_cast<void>(host_.timers().Post([this, text = at_ + " was posted"] { At(text); }));
    static_cast<void>(host_.api().Request(
        {.path = "/version"},
        [this, text = at_ + " was answered"](const berth::ApiResult&) { At(text); }));
  }
  void At(std::string_view point) const {
    if (at_ == point) throw std::runtime_error("thrown at " + at_);
  }
  berth::Status Succeed(std::string_view point) const {
    At(point);
    return {};
  }

  const berth::Host host_;
  const std::string at_;
  berth::Timer timer_;
};

}  // namespace

BERTH_PLUGIN(Thrower)
