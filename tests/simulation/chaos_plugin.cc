// The plugins test.ChaosA and test.ChaosB, which misbehave as a pod's annotations and labels
// specify.
//
// The annotation "<a|b>.<point>" has the value "<action> [<number>]". `n` is the number of times
// that the action happens; after that the point succeeds. `s` is a time in seconds.
//   prefilter   error n | throw n | reject n | unresolvable n
//   postfilter  nominate | evict n | clear n | error n | throw n | unresolvable n
//               (evict: evicts a pod from the first node that has one; clear: clears the
//               nominations for the first node. Both are limited to n times: two pods that take
//               room from each other for ever would never back off)
//   reserve     error n | throw n | reject n | pending n
//               | activate s   (rejects once, and activates the pod after s)
//   permit      error n | throw n | reject n | allow s | deny s
//               | timeout s   (waits until the timeout s expires)
//               | group s   (waits for another pod with the same label "group" to reach Permit)
//   prebind     now | later s | fail s   (fails once, after s) | error n | throw n | reject n
//               | drop n   (drops its Done) | preflight n   (PreBindPreFlight fails)
//   bind        api | later s   (returns Skip after s) | error n | throw n | reject n | drop n
// The labels have an effect until they are removed.
//   <a|b>.preenqueue  reject | pending | error: the result of PreEnqueue
//   <a|b>.filter      reject | pending: the result of Filter for every node
//
// The plugins log each call with the pod's uid: "Reserve" when Reserve is called, "Reserved" when
// it succeeded, "Unreserve" and "PostBind".
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

// The value of an annotation.
struct Instruction {
  std::string_view action;
  int number = 0;
};

Instruction Parse(std::string_view text) {
  const std::size_t space = text.find(' ');
  Instruction instruction{text.substr(0, space), 1};
  if (space != std::string_view::npos) {
    std::from_chars(text.data() + space + 1, text.data() + text.size(), instruction.number);
  }
  return instruction;
}

Instruction FindInstruction(berth::Pod pod, std::string_view key) {
  for (const berth_str_pair& pair : pod.annotations()) {
    if (berth::Str(pair.key) == key) return Parse(berth::Str(pair.value));
  }
  return {};
}

template <char kLetter>
class Chaos : public berth::Plugin {
 public:
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Misbehaves as the annotations of a pod specify.";
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS,  BERTH_SERVICE_TIMER,
                                        BERTH_SERVICE_WAITING,  BERTH_SERVICE_ACTIVATE,
                                        BERTH_SERVICE_API,      BERTH_SERVICE_COMPLETION,
                                        BERTH_SERVICE_NOMINATOR};
  // Declares these fields as handled. No plugin of the simulation binds claims; the simulated users
  // do. Groups have no quorum: the members that fit are scheduled.
  static constexpr std::array kPodFields{"/spec/schedulingGroup",
                                         "/spec/volumes/persistentVolumeClaim"};
  static constexpr berth::Reasons kReasons{"chaos rejects the node", "chaos has no result yet"};
  enum Reason : int { kRejected, kNoResultYet };
  using Node = berth::NodeRow<Columns>;

  struct State {
    Uid pod;                           // The pod of the cycle.
    std::shared_ptr<const int> alive;  // Shared by all states and the plugin, to count the states.
  };

  explicit Chaos(const berth::Host& host)
      : host_(host),
        pre_enqueue_label_(host.Intern(KeyOf("preenqueue"))),
        filter_label_(host.Intern(KeyOf("filter"))),
        group_(host.Intern("group")),
        pending_(host.Intern("pending")),
        error_(host.Intern("error")) {}
  ~Chaos() {
    const long states = alive_.use_count() - 1;
    if (states > 0) host_.log().Error("states leaked", {{"count", std::to_string(states)}});
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{.resource = BERTH_RESOURCE_TARGET_POD, .actions = BERTH_ACTION_UPDATE_POD_LABEL}};
  }

  berth::Status PreEnqueue(const berth::Pod& pod) {
    const berth_id label = pod.Label(pre_enqueue_label_);
    if (label == BERTH_ID_NONE) return berth::Status::Success();
    if (label == pending_) return berth::Status::Pending("chaos");
    return label == error_ ? berth::Status::Error("chaos") : berth::Status::Unschedulable("chaos");
  }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    if (cycle.TryState<State>() != nullptr) {
      host_.log().Error("state not fresh", {{"uid", cycle.pod().uid()}});
    }
    State& state = cycle.Emplace<State>();
    state.pod = cycle.pod().uid();
    state.alive = alive_;
    return Misbehave(cycle.pod(), "prefilter");
  }

  berth::Verdict Filter(const berth::Cycle& cycle, const Node& /*node*/) const {
    const berth_id label = cycle.pod().Label(filter_label_);
    if (label == BERTH_ID_NONE) return berth::kPass;
    return label == pending_ ? berth::Pending(kNoResultYet) : berth::Unschedulable(kRejected);
  }

  berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& all,
                           const berth::Verdicts& /*verdicts*/, berth::PostFilterOut& out) {
    const Instruction instruction = FindInstruction(cycle.pod(), KeyOf("postfilter"));
    const berth::Status none = berth::Status::Unschedulable("no help");
    if (instruction.action == "evict") {
      if (!IsWithinFirst(cycle.pod(), "postfilter", instruction.number)) return none;
      return EvictOne(all, out) ? berth::Status::Success() : none;
    }
    const std::string first = FirstName(all);
    if (instruction.action == "nominate") {
      out.Nominate(first);
      return berth::Status::Success();
    }
    if (instruction.action == "clear") {
      if (IsWithinFirst(cycle.pod(), "postfilter", instruction.number)) ClearNominations(first);
      return none;
    }
    const berth::Status status = Misbehave(cycle.pod(), "postfilter");
    return status.ok() ? none : status;
  }

  berth::Status Reserve(berth::Cycle& cycle, const berth::Target& /*target*/) {
    const berth::Pod pod = cycle.pod();
    host_.log().Info("Reserve", {{"uid", pod.uid()}});
    CheckState(cycle.TryState<State>(), pod);
    const berth::Status status = MisbehaveInReserve(pod);
    if (status.ok()) host_.log().Info("Reserved", {{"uid", pod.uid()}});
    return status;
  }
  void Unreserve(const berth::Binding& binding) {
    CheckState(binding.TryState<State>(), binding.pod());
    host_.log().Info("Unreserve", {{"uid", binding.pod().uid()}});
  }

  berth::Status Permit(berth::Cycle& cycle, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& timeout) {
    const berth::Pod pod = cycle.pod();
    const Uid uid(pod.uid());
    const Instruction instruction = FindInstruction(pod, KeyOf("permit"));
    timeout = std::chrono::seconds(instruction.number + 5);
    if (instruction.action == "timeout") {
      if (!IsWithinFirst(pod, "permit", 2)) return berth::Status::Success();
      timeout = std::chrono::seconds(instruction.number);
      return berth::Status::Wait();
    }
    if (instruction.action == "allow") {
      StartTimer(instruction.number,
                 [this, uid] { static_cast<void>(host_.waiting().Allow(uid)); });
      return berth::Status::Wait("waiting for a timer");
    }
    if (instruction.action == "deny") {
      if (!IsWithinFirst(pod, "permit", 2)) return berth::Status::Success();
      StartTimer(instruction.number, [this, uid] {
        static_cast<void>(host_.waiting().Reject(uid, "rejected by a timer"));
      });
      return berth::Status::Wait();
    }
    if (instruction.action == "group") return PermitGroup(pod);
    return Misbehave(pod, "permit");
  }

  berth::Status PreBindPreFlight(const berth::Binding& binding) {
    const berth::Pod pod = binding.pod();
    const Instruction instruction = FindInstruction(pod, KeyOf("prebind"));
    if (instruction.action.empty()) return berth::Status::Skip();
    if (instruction.action == "preflight" && IsWithinFirst(pod, "preflight", instruction.number)) {
      return berth::Status::Error("chaos");
    }
    return berth::Status::Success();
  }
  berth::Status PreBind(const berth::Binding& binding, berth::Done& done) {
    const berth::Pod pod = binding.pod();
    const Instruction instruction = FindInstruction(pod, KeyOf("prebind"));
    if (instruction.action == "later")
      return Complete(instruction.number, berth::Status::Success(), done);
    if (instruction.action == "fail" && IsWithinFirst(pod, "prebind", 1)) {
      return Complete(instruction.number, berth::Status::Error("chaos"), done);
    }
    return MisbehaveInBinding(pod, "prebind", done);
  }

  berth::Status Bind(const berth::Binding& binding, berth::Done& done) {
    const Instruction instruction = FindInstruction(binding.pod(), KeyOf("bind"));
    if (instruction.action == "api") return host_.api().Bind(binding, done);
    if (instruction.action == "later")
      return Complete(instruction.number, berth::Status::Skip(), done);
    const berth::Status status = MisbehaveInBinding(binding.pod(), "bind", done);
    return status.ok() ? berth::Status::Skip() : status;
  }

  void PostBind(const berth::Binding& binding) {
    CheckState(binding.TryState<State>(), binding.pod());
    host_.log().Info("PostBind", {{"uid", binding.pod().uid()}});
  }

 private:
  static std::string KeyOf(std::string_view what) {
    return std::string(1, kLetter) + '.' + what.data();
  }

  // Logs an error if `state` is not the state of this pod's cycle. The host passes the state of an
  // attempt on to its binding.
  void CheckState(const State* state, berth::Pod pod) {
    if (state != nullptr && state->pod == pod.uid()) return;
    host_.log().Error("state of another cycle", {{"uid", pod.uid()}});
  }

  berth::Status MisbehaveInReserve(berth::Pod pod) {
    const Instruction instruction = FindInstruction(pod, KeyOf("reserve"));
    if (instruction.action != "activate") return Misbehave(pod, "reserve");
    if (!IsWithinFirst(pod, "reserve", 1)) return berth::Status::Success();
    StartTimer(instruction.number,
               [this, uid = Uid(pod.uid())] { static_cast<void>(host_.activate().Pod(uid)); });
    return berth::Status::Unschedulable("chaos");
  }

  // Counts the calls for each pod and `what`. Returns true for the first `times` calls.
  bool IsWithinFirst(berth::Pod pod, std::string_view what, int times) {
    return ++calls_[{Uid(pod.uid()), std::string(what)}] <= times;
  }

  berth::Status Misbehave(berth::Pod pod, std::string_view point) {
    const Instruction instruction = FindInstruction(pod, KeyOf(point));
    if (instruction.action.empty() || !IsWithinFirst(pod, point, instruction.number))
      return berth::Status::Success();
    if (instruction.action == "error") return berth::Status::Error("chaos");
    if (instruction.action == "reject") return berth::Status::Unschedulable("chaos");
    if (instruction.action == "unresolvable") return berth::Status::Unresolvable("chaos");
    if (instruction.action == "pending") return berth::Status::Pending("chaos");
    if (instruction.action == "throw") throw std::runtime_error("chaos");
    return berth::Status::Success();
  }

  berth::Status MisbehaveInBinding(berth::Pod pod, std::string_view point, berth::Done& done) {
    const Instruction instruction = FindInstruction(pod, KeyOf(point));
    if (instruction.action != "drop") return Misbehave(pod, point);
    if (!IsWithinFirst(pod, point, instruction.number)) return berth::Status::Success();
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
    const auto answered = [](const berth::ApiResult& /*result*/) {};
    return host_.api().Evict(*victim, "chaos makes room", answered).ok();
  }

  // The first pod of a group waits. The next one allows all waiting pods of the group.
  berth::Status PermitGroup(berth::Pod pod) {
    const berth_id group = pod.Label(group_);
    bool found = false;
    static_cast<void>(host_.waiting().ForEach([&](const berth_pod& other) {
      if (berth::Pod(other).Label(group_) != group) return;
      found |= host_.waiting().Allow(berth::Pod(other).uid()).ok();
    }));
    return found ? berth::Status::Success() : berth::Status::Wait("waiting for the group");
  }

  berth::Status Complete(int seconds, const berth::Status& status, berth::Done& done) {
    StartTimer(seconds, [status, kept = std::make_shared<berth::Done>(std::move(done))] {
      kept->Complete(status);
    });
    return berth::Status::Pending();
  }

  void StartTimer(int seconds, std::function<void()> task) {
    std::erase_if(timers_, [](const auto& timer) { return !timer->running(); });
    timers_.push_back(std::make_unique<berth::Timer>(host_.timers(), std::move(task)));
    static_cast<void>(timers_.back()->Start(std::chrono::seconds(seconds)));
  }

  const berth::Host host_;
  const berth_id pre_enqueue_label_, filter_label_, group_, pending_, error_;
  const std::shared_ptr<const int> alive_ = std::make_shared<int>(0);
  std::map<std::pair<Uid, std::string>, int> calls_;
  std::vector<std::unique_ptr<berth::Timer>> timers_;
};

class ChaosA : public Chaos<'a'> {
 public:
  static constexpr std::string_view kName = "test.ChaosA";
  using Chaos::Chaos;
};

// Blocks in binding, so that the host calls it on the pool.
class ChaosB : public Chaos<'b'> {
 public:
  static constexpr std::string_view kName = "test.ChaosB";
  static constexpr bool kBlocksInBind = true;
  using Chaos::Chaos;
};

}  // namespace

BERTH_PLUGINS(ChaosA, ChaosB);
