// Shares the GPUs of a node between pods, in percent of one GPU.
//
// A node states how many GPUs it has in the label acme.com/gpus, and a pod how much of one GPU it
// needs in the annotation acme.com/gpu-percent. The plugin selects the GPU, and PreBind writes its
// number to the annotation acme.com/gpu, which the device plugin of the node reads. A scheduler
// that starts anew reads from these annotations what is taken.
#include <algorithm>
#include <charconv>
#include <cstdint>
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

// The part of one GPU that a pod takes.
struct Share {
  berth_id node = BERTH_ID_NONE;  // Its name.
  int gpu = 0;
  int percent = 0;
};

// The shares that are taken, and what is free on every node. Nodes and pods arrive in any order.
class Books {
 public:
  // Increases with every change.
  uint64_t version() const { return version_; }

  void SetGpus(berth_id node, int count) {
    counts_[node] = count;
    ++version_;
  }
  void Take(std::string_view uid, const Share& share) {
    Return(uid);
    shares_.emplace(uid, share);
    Used(share.node, share.gpu) += share.percent;
    ++version_;
  }
  void Return(std::string_view uid) {
    const auto found = shares_.find(std::string(uid));
    if (found == shares_.end()) return;
    Used(found->second.node, found->second.gpu) -= found->second.percent;
    shares_.erase(found);
    ++version_;
  }
  const Share* Find(std::string_view uid) const {
    const auto found = shares_.find(std::string(uid));
    return found != shares_.end() ? &found->second : nullptr;
  }
  // Returns what is free on each GPU of a node, in percent.
  std::vector<int> FreeOn(berth_id node) const {
    const auto count = counts_.find(node);
    std::vector<int> free(count != counts_.end() ? static_cast<size_t>(count->second) : 0, kWhole);
    const auto used = used_.find(node);
    const size_t known = used != used_.end() ? std::min(free.size(), used->second.size()) : 0;
    for (size_t i = 0; i < known; ++i) free[i] -= used->second[i];
    return free;
  }

 private:
  int& Used(berth_id node, int gpu) {
    std::vector<int>& used = used_[node];
    used.resize(std::max(used.size(), static_cast<size_t>(gpu) + 1));
    return used[static_cast<size_t>(gpu)];
  }

  std::unordered_map<berth_id, int> counts_;             // The GPUs of a node.
  std::unordered_map<berth_id, std::vector<int>> used_;  // The percentage taken of each.
  std::unordered_map<std::string, Share> shares_;        // By the uid of the pod.
  uint64_t version_ = 1;
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

class GpuShare : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.GpuShare";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Gives every pod its share of one GPU of its node.";
  static constexpr berth::Reasons kReasons{"No GPU has enough room"};
  enum Reason : int { kNoRoom };
  static constexpr std::array kServices{BERTH_SERVICE_API, BERTH_SERVICE_COMPLETION,
                                        BERTH_SERVICE_STRINGS};
  // PreBind patches pods: without an API server, the host has to keep their texts.
  static constexpr std::array kFields{"Pod:"};

  using Columns = berth::Columns<berth::NodeName>;
  using Node = berth::NodeRow<Columns>;

  // What the attempt needs, and how far the nodes of a what-if question differ from the books.
  struct State {
    int percent = 0;
    std::vector<Share> changes;  // Of removed pods with a negative percentage.
  };

  // The results depend on what was promised to other pods.
  static constexpr berth::Dependence kFilterDependence{
      .cluster = berth::kNode | berth::kNodePods | berth::kOther,
      .pod_parts = BERTH_PART(ANNOTATIONS)};

  explicit GpuShare(const berth::Host& host) : host_(host) {}

  void OnChange(const berth::Change& change) {
    switch (change.kind) {
      case BERTH_CHANGE_NODE_ADDED:
      case BERTH_CHANGE_NODE_CHANGED: {
        const auto gpus = berth::NodeView(*change.node).Label(kGpus, host_);
        return books_.SetGpus(change.node->name, NumberIn(gpus, 0, kMostGpus).value_or(0));
      }
      case BERTH_CHANGE_NODE_REMOVED: return books_.SetGpus(change.node->name, 0);
      case BERTH_CHANGE_POD_ADDED:
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
  berth::Stale FilterChanged(const berth::Cycle& /*cycle*/, uint64_t& token,
                             berth::RowSink& /*rows*/) const {
    const bool is_current = token == books_.version();
    token = books_.version();
    return is_current ? berth::Stale::kNone : berth::Stale::kAll;
  }

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& /*all*/) {
    return cycle.TryState<State>() != nullptr ? berth::Status::Success() : berth::Status::Skip();
  }
  // The fuller the GPU is afterwards, the better.
  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    const std::vector<int> free = Free(state, node);
    const int gpu = TightestFit(free, state.percent);
    return gpu < 0 ? 0 : kWhole - (free[static_cast<size_t>(gpu)] - state.percent);
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
  void Unreserve(const berth::Binding& binding) { books_.Return(binding.pod().uid()); }

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
            {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD | BERTH_ACTION_UPDATE_NODE_LABEL}};
  }

 private:
  // Returns the share that is written to a pod.
  static std::optional<Share> Written(const berth::Pod& pod, berth_id node) {
    const auto gpu = NumberIn(pod.Annotation(kGpu), 0, kMostGpus - 1);
    const auto percent = NumberIn(pod.Annotation(kPercent), 1, kWhole);
    if (!gpu.has_value() || !percent.has_value()) return std::nullopt;
    return Share{node, *gpu, *percent};
  }
  berth::Status NoteChange(berth::Cycle& cycle, const berth::Pod& pod, const Node& node, int sign) {
    const Share* const taken = books_.Find(pod.uid());
    const auto share =
        taken != nullptr ? std::optional(*taken) : Written(pod, node[berth::NodeName{}]);
    if (!share.has_value()) return berth::Status::Success();
    cycle.State<State>().changes.push_back({share->node, share->gpu, sign * share->percent});
    return berth::Status::Success();
  }
  // A pod whose annotation has not arrived yet keeps what Reserve took for it.
  void Read(const berth::Pod& pod) {
    if (const auto share = Written(pod, pod->node_name)) books_.Take(pod.uid(), *share);
  }
  std::vector<int> Free(const State& state, const Node& node) const {
    const berth_id name = node[berth::NodeName{}];
    std::vector<int> free = books_.FreeOn(name);
    for (const Share& share : state.changes) {
      const auto gpu = static_cast<size_t>(share.gpu);
      if (share.node == name && gpu < free.size()) free[gpu] -= share.percent;
    }
    return free;
  }

  const berth::Host host_;
  Books books_;
};

}  // namespace

BERTH_PLUGIN(GpuShare)
