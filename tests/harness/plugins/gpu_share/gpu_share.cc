// Shares the GPUs of a node as third parties do: PreBind writes the GPU of a pod to an annotation,
// and Filter reads the annotations of the pods on a node. Until the API server has reported the
// annotation of a pod, its GPU counts as reserved.
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <berth/plugin.h>

namespace {

constexpr std::string_view kAnnotation = "acme.io/gpu";

class GpuShare : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.GpuShare";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Gives every pod a GPU of its node.";
  static constexpr berth::Reasons kReasons{"No GPU is free", "All free GPUs are reserved"};
  enum Reason : int { kNoGpu, kReserved };
  static constexpr std::array kServices{BERTH_SERVICE_API, BERTH_SERVICE_COMPLETION,
                                        BERTH_SERVICE_STRINGS};
  // The pods are patched: without an API server, the host has to keep their texts.
  static constexpr std::array kFields{"Pod:"};

  struct Args {
    int64_t gpus = 1;
  };
  static constexpr auto kArgs =
      berth::ArgRows<Args>(berth::Arg("gpus", &Args::gpus, berth::Range{1, 1000}, berth::kRequired,
                                      "The number of GPUs of every node."));

  GpuShare(const berth::Host& host, const Args& args) : host_(host), gpus_(args.gpus) {}

  void OnChange(const berth::Change& change) {
    switch (change.kind) {
      case BERTH_CHANGE_POD_ADDED: return Take(change.row, *change.pod);
      case BERTH_CHANGE_POD_REMOVED: return Return(change.row, *change.pod);
      case BERTH_CHANGE_POD_CHANGED:
        Return(change.row, *change.old_pod);
        return Take(change.row, *change.pod);
      default: return;
    }
  }

  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const berth::NodeRow<Columns>& node) const {
    const auto found = taken_.find(node.row());
    int64_t used = found == taken_.end() ? 0 : static_cast<int64_t>(found->second.size());
    if (used >= gpus_) return berth::Unschedulable(kNoGpu);
    for (const auto& [uid, reservation] : reserved_) used += reservation.row == node.row() ? 1 : 0;
    return berth::UnschedulableIf(used >= gpus_, kReserved);
  }

  berth::Status Reserve(berth::Cycle& cycle, const berth::Target& target) {
    int64_t gpu = 0;
    while (IsUsed(target.row(), gpu)) ++gpu;
    reserved_[std::string(cycle.pod().uid())] = {target.row(), gpu};
    return berth::Status::Success();
  }
  void Unreserve(const berth::Binding& binding) {
    reserved_.erase(std::string(binding.pod().uid()));
  }

  // The answer of the API server completes the call.
  berth::Status PreBind(const berth::Binding& binding, berth::Done& done) {
    const berth::Pod pod = binding.pod();
    const int64_t gpu = reserved_.at(std::string(pod.uid())).gpu;
    const std::string path = "/api/v1/namespaces/" + std::string(host_.Text(pod.ns())) + "/pods/" +
                             std::string(pod.name());
    const std::string body = R"({"metadata":{"annotations":{")" + std::string(kAnnotation) +
                             R"(":")" + std::to_string(gpu) + R"("}}})";
    auto promise = std::make_shared<berth::Done>(std::move(done));
    const berth::Status sent = host_.api().Request(
        {.verb = "PATCH",
         .path = path,
         .body = body,
         .content_type = "application/strategic-merge-patch+json"},
        [promise](const berth::ApiResult& result) {
          promise->Complete(result.code() == BERTH_SUCCESS ? berth::Status::Success()
                                                           : berth::Status::Error(result.error()));
        });
    if (sent.ok()) return berth::Status::Pending();
    done = std::move(*promise);
    return sent;
  }

 private:
  // Returns the GPU in the annotation of a pod, or -1.
  static int64_t GpuOf(const berth::Pod& pod) {
    int64_t gpu = -1;
    for (const berth_str_pair& pair : pod.annotations()) {
      if (berth::Str(pair.key) != kAnnotation) continue;
      const std::string_view text = berth::Str(pair.value);
      std::from_chars(text.data(), text.data() + text.size(), gpu);
    }
    return gpu;
  }
  bool IsUsed(uint32_t row, int64_t gpu) const {
    const auto found = taken_.find(row);
    if (found != taken_.end() && found->second.contains(gpu)) return true;
    for (const auto& [uid, reservation] : reserved_) {
      if (reservation.row == row && reservation.gpu == gpu) return true;
    }
    return false;
  }
  void Take(uint32_t row, const berth::Pod& pod) {
    const int64_t gpu = GpuOf(pod);
    if (gpu < 0) return;
    taken_[row].insert(gpu);
    reserved_.erase(std::string(pod.uid()));
  }
  void Return(uint32_t row, const berth::Pod& pod) { taken_[row].erase(GpuOf(pod)); }

  struct Reservation {
    uint32_t row = 0;
    int64_t gpu = 0;
  };

  const berth::Host host_;
  const int64_t gpus_;
  std::map<uint32_t, std::set<int64_t>> taken_;  // The GPUs of annotations by the row of the node.
  std::map<std::string, Reservation> reserved_;  // By the uids of pods.
};

}  // namespace

BERTH_PLUGIN(GpuShare)
