// Shares the GPUs of a node between pods, in percent of one GPU.
//
// A node states how many GPUs it has in the label acme.com/gpus, and a pod how much of one GPU it
// needs in the annotation acme.com/gpu-percent. The plugin selects the GPU, and PreBind writes its
// number to the annotation acme.com/gpu, for the device plugin of the node and for later runs.
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <berth/plugin.h>

namespace {

constexpr std::string_view kGpus = "acme.com/gpus";
constexpr std::string_view kPercent = "acme.com/gpu-percent";
constexpr std::string_view kGpu = "acme.com/gpu";
constexpr int kWhole = 100;  // One GPU, in percent.
constexpr int kMostGpus = 64;

// Returns the number that a text states, if it is from `low` to `high`.
std::optional<int> NumberIn(std::optional<std::string_view> text, int low, int high) {
  if (!text.has_value()) return std::nullopt;
  int number = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end || number < low || number > high) return std::nullopt;
  return number;
}

// The part of one GPU that a pod takes. Its annotation has been seen on a node if it is confirmed.
struct Share {
  berth_id node = BERTH_ID_NONE;  // Its name.
  int gpu = 0;
  int percent = 0;
  bool is_confirmed = false;
};

// Returns the GPU with the least room that is enough, so that whole GPUs stay free; -1 if none has.
int TightestFit(const std::vector<int>& free, int percent) {
  int best = -1;
  for (size_t i = 0; i < free.size(); ++i) {
    if (free[i] < percent) continue;
    if (best < 0 || free[i] < free[static_cast<size_t>(best)]) best = static_cast<int>(i);
  }
  return best;
}

// The shares that are taken, and what is free on every node. Nodes and pods arrive in any order.
// The name of a node is an id of the node and of its pods; its entry goes with the last of them.
class Books {
 public:
  void SetGpus(berth_id node, int count) {
    nodes_[node].gpus = count;
    Settle(node);
  }
  void Take(std::string_view uid, const Share& share) {
    Return(uid);
    shares_.emplace(uid, share);
    Add(share, share.percent);
  }
  void Return(std::string_view uid) {
    const auto share = shares_.extract(std::string(uid));
    if (!share.empty()) Add(share.mapped(), -share.mapped().percent);
  }
  const Share* Find(std::string_view uid) const {
    const auto found = shares_.find(std::string(uid));
    return found != shares_.end() ? &found->second : nullptr;
  }
  // Returns what is free on each GPU of a node, in percent.
  std::vector<int> FreeOn(berth_id node) const {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return {};
    std::vector<int> free(static_cast<size_t>(found->second.gpus), kWhole);
    for (size_t i = 0; i < free.size(); ++i) free[i] -= found->second.used[i];
    return free;
  }

 private:
  struct Node {
    int gpus = 0;
    std::array<int, kMostGpus> used{};  // The percentage taken of each.
  };

  void Add(const Share& share, int percent) {
    nodes_[share.node].used[static_cast<size_t>(share.gpu)] += percent;
    Settle(share.node);
  }
  void Settle(berth_id name) {
    const Node& node = nodes_[name];
    if (node.gpus == 0 && node.used == Node().used) nodes_.erase(name);
  }

  std::unordered_map<berth_id, Node> nodes_;       // By name.
  std::unordered_map<std::string, Share> shares_;  // By the uid of the pod.
};

class GpuShare : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.GpuShare";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Gives every pod its share of one GPU of its node.";
  static constexpr berth::Reasons kReasons{"No GPU has enough room"};
  enum Reason : int { kNoRoom };
  static constexpr std::array kServices{BERTH_SERVICE_API, BERTH_SERVICE_COMPLETION,
                                        BERTH_SERVICE_SHARED, BERTH_SERVICE_STRINGS};
  // PreBind patches pods: without an API server, the host has to keep their texts.
  static constexpr std::array kFields{"Pod:"};

  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;

  // The need of the pod, and the changes of nodes in a what-if question.
  struct State {
    int percent = 0;
    std::map<std::string, Share> changes;  // By uid; of removed pods with a negative percentage.
  };

  explicit GpuShare(const berth::Host& host)
      : host_(host), books_(host.shared().Get<Books>("books")) {}

  void OnChange(const berth::Change& change) {
    switch (change.kind) {
      case BERTH_CHANGE_NODE_ADDED:
      case BERTH_CHANGE_NODE_CHANGED: {
        const auto gpus = berth::NodeView(*change.node).Label(kGpus, host_);
        return books_.SetGpus(change.node->name, NumberIn(gpus, 0, kMostGpus).value_or(0));
      }
      case BERTH_CHANGE_NODE_REMOVED: return books_.SetGpus(change.node->name, 0);
      case BERTH_CHANGE_POD_ADDED:
        if (change.flags == BERTH_CHANGE_FLAG_ASSUMED) return;  // Reserve follows.
        [[fallthrough]];
      case BERTH_CHANGE_POD_CHANGED: return Read(*change.pod);
      case BERTH_CHANGE_POD_REMOVED: return books_.Return(berth::Pod(*change.pod).uid());
      default: return;
    }
  }

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    const auto text = cycle.pod().Annotation(kPercent);
    if (!text.has_value()) return berth::Status::Skip();
    const std::optional<int> percent = NumberIn(text, 1, kWhole);
    if (!percent.has_value()) {
      return berth::Status::Unresolvable("expected 1 to 100 in annotation acme.com/gpu-percent");
    }
    cycle.Emplace<State>().percent = *percent;
    return berth::Status::Success();
  }
  berth::Status AddPod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    return NoteChange(cycle, pod, node, 1);
  }
  berth::Status RemovePod(berth::Cycle& cycle, const berth::Pod& pod, const Node& node) {
    return NoteChange(cycle, pod, node, -1);
  }
  berth::Verdict Filter(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    return berth::UnschedulableIf(TightestFit(Free(state, node), state.percent) < 0, kNoRoom);
  }
  // The fuller the GPU is afterwards, the better.
  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    const State* const state = cycle.TryState<State>();
    if (state == nullptr) return 0;
    const std::vector<int> free = Free(*state, node);
    const int gpu = TightestFit(free, state->percent);
    return gpu < 0 ? 0 : kWhole - (free[static_cast<size_t>(gpu)] - state->percent);
  }

  berth::Status Reserve(berth::Cycle& cycle, const berth::Target& target) {
    const State* const state = cycle.TryState<State>();
    if (state == nullptr) return berth::Status::Success();
    const berth_id node = target.node()->name;
    const int gpu = TightestFit(books_.FreeOn(node), state->percent);
    if (gpu < 0) return berth::Status::Unschedulable("No GPU has enough room");
    books_.Take(cycle.pod().uid(), {node, gpu, state->percent});
    return berth::Status::Success();
  }
  // The cluster may have confirmed a pod whose binding seems to have failed.
  void Unreserve(const berth::Binding& binding) {
    const Share* const share = books_.Find(binding.pod().uid());
    if (share != nullptr && !share->is_confirmed) books_.Return(binding.pod().uid());
  }

  // The answer of the API server completes the call.
  berth::Status PreBind(const berth::Binding& binding, berth::Done& done) {
    const Share* const share = books_.Find(binding.pod().uid());
    if (share == nullptr) return berth::Status::Success();
    berth::Patch patch;
    patch.Annotation(kGpu, std::to_string(share->gpu));
    return host_.api().PatchPod(binding.pod(), patch, done);
  }

  std::vector<berth::EventInterest> EventsToRegister() const {
    return {{BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE},
            {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL},
            {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE}};
  }

 private:
  // Returns the share of a pod on a node: the one in the books, or the one that is written to it. A
  // pod without either, such as a nominated one, takes the tightest of `free`.
  std::optional<Share> ShareOf(const berth::Pod& pod, berth_id node,
                               const std::vector<int>& free) const {
    const auto gpu = NumberIn(pod.Annotation(kGpu), 0, kMostGpus - 1);
    const auto percent = NumberIn(pod.Annotation(kPercent), 1, kWhole);
    if (!percent.has_value()) return std::nullopt;
    if (gpu.has_value()) return Share{node, *gpu, *percent, true};
    if (const Share* const taken = books_.Find(pod.uid())) return *taken;
    const int guess = TightestFit(free, *percent);
    return guess < 0 ? std::nullopt : std::optional(Share{node, guess, *percent});
  }
  // The opposite of an earlier change of the pod takes that one back.
  berth::Status NoteChange(berth::Cycle& cycle, const berth::Pod& pod, const Node& node, int sign) {
    State& state = cycle.State<State>();
    const std::string uid(pod.uid());
    const auto before = state.changes.find(uid);
    if (before != state.changes.end() && (before->second.percent > 0) != (sign > 0)) {
      state.changes.erase(before);
    } else if (auto share = ShareOf(pod, node[berth::NodeName{}], Free(state, node))) {
      share->percent *= sign;
      state.changes[uid] = *share;
    }
    return berth::Status::Success();
  }
  void Read(const berth::Pod& pod) {
    const auto share = ShareOf(pod, pod->node_name, books_.FreeOn(pod->node_name));
    if (share.has_value()) books_.Take(pod.uid(), *share);
  }
  std::vector<int> Free(const State& state, const Node& node) const {
    const berth_id name = node[berth::NodeName{}];
    std::vector<int> free = books_.FreeOn(name);
    for (const auto& [uid, share] : state.changes) {
      const auto gpu = static_cast<size_t>(share.gpu);
      if (share.node == name && gpu < free.size()) free[gpu] -= share.percent;
    }
    return free;
  }

  const berth::Host host_;
  Books& books_;  // The same in all profiles.
};

}  // namespace

BERTH_PLUGIN(GpuShare)
