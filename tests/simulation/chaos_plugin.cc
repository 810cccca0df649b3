// Plugins that misbehave as the annotations and labels of a pod tell them to: test.ChaosA and
// test.ChaosB.
//
// Annotations, "<a|b>.<point>": "<what> [<number>]". Where the number counts, it says how often;
// then the pod is let through. Where it is a time, it is in seconds.
//   prefilter   error n | throw n | reject n | unresolvable n
//   postfilter  nominate | evict n | clear n | error n | throw n | unresolvable n
//               (evict: a pod of the first node that has any; clear: whose nomination is for the
//               first node. Both count: two that take from each other for ever never back off)
//   reserve     error n | throw n | reject n | pending n
//               | activate s   (rejects once, activates it)
//   permit      error n | throw n | reject n | allow s | deny s
//               | forget s   (waits s, in vain)
//               | group s   (waits for another pod of its label "group" to come to Permit)
//   prebind     now | later s | fail s   (once, later) | error n | throw n | reject n | drop n
//               | flight n   (PreBindPreFlight fails)
//   bind        api | later s   (skips, later) | error n | throw n | reject n | drop n
// Labels: they stay until somebody takes them off.
//   <a|b>.held     no | pending | error: what PreEnqueue answers
//   <a|b>.refused  no | pending: what Filter answers for every node
//
// What is reserved and given back is logged, with the uid: "Reserve" on the way in, "Reserved"
// where that succeeded, "Unreserve" and "PostBind".
#include <array>
#include <charconv>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/plugin.h>

namespace {

using Uid = std::string;

// What an annotation says.
struct Order {
  std::string_view what;
  int number = 0;
};

Order Parse(std::string_view text) {
  const std::size_t space = text.find(' ');
  Order order{text.substr(0, space), 1};
  if (space != std::string_view::npos) {
    std::from_chars(text.data() + space + 1, text.data() + text.size(), order.number);
  }
  return order;
}

Order FindOrder(berth::Pod pod, std::string_view key) {
  for (const berth_str_pair& pair : pod.annotations()) {
    if (berth::Str(pair.key) == key) return Parse(berth::Str(pair.value));
  }
  return {};
}

template <char kLetter>
class Chaos : public berth::Plugin {
 public:
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Misbehaves as pods tell it to.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS,  BERTH_SERVICE_TIMER,
                                        BERTH_SERVICE_WAITING,  BERTH_SERVICE_ACTIVATE,
                                        BERTH_SERVICE_API,      BERTH_SERVICE_COMPLETION,
                                        BERTH_SERVICE_NOMINATOR};
  // Nothing here binds claims: they are as users make them, and that is that. Nor does a group need
  // a quorum: those of its members go that fit.
  static constexpr std::array kPodFields{"/spec/schedulingGroup",
                                         "/spec/volumes/persistentVolumeClaim"};
  static constexpr berth::Reasons kReasons{"chaos refuses the node", "chaos cannot say yet"};
  enum Reason : int { kRefused, kNotYet };
  using Node = berth::NodeRow<Columns>;

  struct State {
    Uid pod;                           // Whose cycle it is.
    std::shared_ptr<const int> alive;  // As many owners as there are states, and the plugin.
  };

  explicit Chaos(const berth::Host& host)
      : host_(host),
        held_(host.Intern(Mine("held"))),
        refused_(host.Intern(Mine("refused"))),
        group_(host.Intern("group")),
        pending_(host.Intern("pending")),
        error_(host.Intern("error")) {}
  ~Chaos() {
    const long states = alive_.use_count() - 1;
    if (states > 0) host_.log().Error("states left", {{"count", std::to_string(states)}});
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{.resource = BERTH_RESOURCE_TARGET_POD, .actions = BERTH_ACTION_UPDATE_POD_LABEL}};
  }

  berth::Status PreEnqueue(const berth::Pod& pod) {
    const berth_id held = pod.Label(held_);
    if (held == BERTH_ID_NONE) return berth::Status::Success();
    if (held == pending_) return berth::Status::Pending("held");
    return held == error_ ? berth::Status::Error("held") : berth::Status::Unschedulable("held");
  }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    State& state = cycle.State<State>();
    if (!state.pod.empty()) host_.log().Error("state used before", {{"uid", cycle.pod().uid()}});
    state.pod = cycle.pod().uid();
    state.alive = alive_;
    return Misbehave(cycle.pod(), "prefilter");
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& /*node*/) const {
    const berth_id refused = cycle.pod().Label(refused_);
    if (refused == BERTH_ID_NONE) return berth::kPass;
    return refused == pending_ ? berth::Pending(kNotYet) : berth::Unschedulable(kRefused);
  }

  berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& all,
                           const berth::Verdicts& /*verdicts*/, berth::PostFilterOut& out) {
    const Order order = FindOrder(cycle.pod(), Mine("postfilter"));
    const berth::Status none = berth::Status::Unschedulable("no help");
    if (order.what == "evict") {
      if (!IsTurn(cycle.pod(), "postfilter", order.number)) return none;
      return EvictOne(all, out) ? berth::Status::Success() : none;
    }
    const std::string first = FirstName(all);
    if (order.what == "nominate") {
      out.Nominate(first);
      return berth::Status::Success();
    }
    if (order.what == "clear") {
      if (IsTurn(cycle.pod(), "postfilter", order.number)) ClearNominations(first);
      return none;
    }
    const berth::Status status = Misbehave(cycle.pod(), "postfilter");
    return status.ok() ? none : status;
  }

  berth::Status Reserve(berth::Cycle& cycle, const berth::Target& /*target*/) {
    const berth::Pod pod = cycle.pod();
    host_.log().Info("Reserve", {{"uid", pod.uid()}});
    CheckState(cycle.State<State>(), pod);
    const berth::Status status = TryToReserve(pod);
    if (status.ok()) host_.log().Info("Reserved", {{"uid", pod.uid()}});
    return status;
  }
  void Unreserve(const berth::Binding& binding) {
    CheckState(binding.State<State>(), binding.pod());
    host_.log().Info("Unreserve", {{"uid", binding.pod().uid()}});
  }

  berth::Status Permit(berth::Cycle& cycle, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& timeout) {
    const berth::Pod pod = cycle.pod();
    const Uid uid(pod.uid());
    const Order order = FindOrder(pod, Mine("permit"));
    timeout = std::chrono::seconds(order.number + 5);
    if (order.what == "forget") {
      if (!IsTurn(pod, "permit", 2)) return berth::Status::Success();
      timeout = std::chrono::seconds(order.number);
      return berth::Status::Wait();
    }
    if (order.what == "allow") {
      Later(order.number, [this, uid] { static_cast<void>(host_.waiting().Allow(uid)); });
      return berth::Status::Wait("for a timer");
    }
    if (order.what == "deny") {
      if (!IsTurn(pod, "permit", 2)) return berth::Status::Success();
      Later(order.number,
            [this, uid] { static_cast<void>(host_.waiting().Reject(uid, "the timer says no")); });
      return berth::Status::Wait();
    }
    if (order.what == "group") return PermitGroup(pod);
    return Misbehave(pod, "permit");
  }

  berth::Status PreBindPreFlight(const berth::Binding& binding) {
    const berth::Pod pod = binding.pod();
    const Order order = FindOrder(pod, Mine("prebind"));
    if (order.what.empty()) return berth::Status::Skip();
    if (order.what == "flight" && IsTurn(pod, "flight", order.number)) {
      return berth::Status::Error("no flight today");
    }
    return berth::Status::Success();
  }
  berth::Status PreBind(const berth::Binding& binding, berth::Done& done) {
    const berth::Pod pod = binding.pod();
    const Order order = FindOrder(pod, Mine("prebind"));
    if (order.what == "later") return Complete(order.number, berth::Status::Success(), done);
    if (order.what == "fail" && IsTurn(pod, "prebind", 1)) {
      return Complete(order.number, berth::Status::Error("failed late"), done);
    }
    return MisbehaveOnTheWay(pod, "prebind", done);
  }

  berth::Status Bind(const berth::Binding& binding, berth::Done& done) {
    const Order order = FindOrder(binding.pod(), Mine("bind"));
    if (order.what == "api") return host_.api().Bind(binding, done);
    if (order.what == "later") return Complete(order.number, berth::Status::Skip(), done);
    const berth::Status status = MisbehaveOnTheWay(binding.pod(), "bind", done);
    return status.ok() ? berth::Status::Skip() : status;
  }

  void PostBind(const berth::Binding& binding) {
    CheckState(binding.State<State>(), binding.pod());
    host_.log().Info("PostBind", {{"uid", binding.pod().uid()}});
  }

 private:
  static std::string Mine(std::string_view what) {
    return std::string(1, kLetter) + '.' + what.data();
  }

  // The state is handed from the attempt to the binding: that of another cycle is no good.
  void CheckState(const State& state, berth::Pod pod) {
    if (state.pod != pod.uid()) host_.log().Error("state of another", {{"uid", pod.uid()}});
  }

  berth::Status TryToReserve(berth::Pod pod) {
    const Order order = FindOrder(pod, Mine("reserve"));
    if (order.what != "activate") return Misbehave(pod, "reserve");
    if (!IsTurn(pod, "reserve", 1)) return berth::Status::Success();
    Later(order.number,
          [this, uid = Uid(pod.uid())] { static_cast<void>(host_.activate().Pod(uid)); });
    return berth::Status::Unschedulable("not yet");
  }

  // True for the first `times` times that it is asked about the pod.
  bool IsTurn(berth::Pod pod, std::string_view what, int times) {
    return ++turns_[{Uid(pod.uid()), std::string(what)}] <= times;
  }

  berth::Status Misbehave(berth::Pod pod, std::string_view point) {
    const Order order = FindOrder(pod, Mine(point));
    if (order.what.empty() || !IsTurn(pod, point, order.number)) return berth::Status::Success();
    if (order.what == "error") return berth::Status::Error("chaos");
    if (order.what == "reject") return berth::Status::Unschedulable("chaos");
    if (order.what == "unresolvable") return berth::Status::Unresolvable("chaos");
    if (order.what == "pending") return berth::Status::Pending("chaos");
    if (order.what == "throw") throw std::runtime_error("chaos");
    return berth::Status::Success();
  }

  berth::Status MisbehaveOnTheWay(berth::Pod pod, std::string_view point, berth::Done& done) {
    const Order order = FindOrder(pod, Mine(point));
    if (order.what != "drop") return Misbehave(pod, point);
    if (!IsTurn(pod, point, order.number)) return berth::Status::Success();
    const berth::Done dropped = std::move(done);
    return berth::Status::Pending();
  }

  static std::string FirstName(const berth::Nodes& all) {
    std::string name;
    all.ForEach<Columns>([&name](const Node& node) {
      if (name.empty()) name = node.view().name();
    });
    return name;
  }

  void ClearNominations(const std::string& node) {
    std::vector<Uid> uids;
    static_cast<void>(host_.nominator().ForEach(
        node, [&uids](const berth_pod& pod) { uids.emplace_back(berth::Pod(pod).uid()); }));
    for (const Uid& uid : uids) static_cast<void>(host_.nominator().Clear(uid));
  }

  bool EvictOne(const berth::Nodes& all, berth::PostFilterOut& out) {
    const berth_pod* victim = nullptr;
    std::string_view where;
    all.ForEach<Columns>([&](const Node& node) {
      if (victim != nullptr || node.pods().empty()) return;
      victim = node.pods().front();
      where = node.view().name();
    });
    if (victim == nullptr) return false;
    out.Nominate(where);
    const auto answered = [](berth_code /*code*/, std::string_view /*body*/) {};
    return host_.api().Evict(*victim, "chaos makes room", answered).ok();
  }

  // The first waits; whoever comes next takes those that wait along.
  berth::Status PermitGroup(berth::Pod pod) {
    const berth_id group = pod.Label(group_);
    bool found = false;
    static_cast<void>(host_.waiting().ForEach([&](const berth_pod& other) {
      if (berth::Pod(other).Label(group_) != group) return;
      found |= host_.waiting().Allow(berth::Pod(other).uid()).ok();
    }));
    return found ? berth::Status::Success() : berth::Status::Wait("for the others");
  }

  berth::Status Complete(int seconds, const berth::Status& status, berth::Done& done) {
    Later(seconds, [status, kept = std::make_shared<berth::Done>(std::move(done))] {
      kept->Complete(status);
    });
    return berth::Status::Pending();
  }

  void Later(int seconds, std::function<void()> task) {
    std::erase_if(timers_, [](const auto& timer) { return !timer->running(); });
    timers_.push_back(std::make_unique<berth::Timer>(host_.timers(), std::move(task)));
    static_cast<void>(timers_.back()->Start(std::chrono::seconds(seconds)));
  }

  const berth::Host host_;
  const berth_id held_, refused_, group_, pending_, error_;
  const std::shared_ptr<const int> alive_ = std::make_shared<int>(0);
  std::map<std::pair<Uid, std::string>, int> turns_;
  std::vector<std::unique_ptr<berth::Timer>> timers_;
};

class ChaosA : public Chaos<'a'> {
 public:
  static constexpr std::string_view kName = "test.ChaosA";
  using Chaos::Chaos;
};

// Is called on the pool.
class ChaosB : public Chaos<'b'> {
 public:
  static constexpr std::string_view kName = "test.ChaosB";
  static constexpr bool kBlocksInBind = true;
  using Chaos::Chaos;
};

}  // namespace

BERTH_PLUGINS(ChaosA, ChaosB);
