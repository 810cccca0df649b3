// Rates nodes with a model in the format ONNX, which was trained elsewhere. All nodes of a block
// are rated in one run of the model.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

#include "onnx_model.h"

namespace {

class OnnxScore : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.OnnxScore";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Rates nodes with a trained model.";

  using Columns = berth::Columns<berth::AllocCpu, berth::ReqCpu, berth::AllocMemory,
                                 berth::ReqMemory, berth::AllocPods, berth::PodsCount>;
  using Node = berth::NodeRow<Columns>;

  struct Args {
    std::string model;
  };
  static constexpr auto kArgs = berth::ArgRows<Args>(
      berth::Arg("model", &Args::model, berth::kRequired, "The path of the model, an ONNX file."));

  // The data that the scores depend on. The host may reuse a score until this data changes.
  static constexpr berth::Dependence kScoreDependence{.cluster = berth::kNode | berth::kNodePods,
                                                      .pod_parts = BERTH_PART(REQUESTS)};

  explicit OnnxScore(const Args& args) : model_(args.model, kFeatures) {}

  berth::Status Score(const berth::Cycle& cycle, const berth::Block<Columns>& block,
                      std::span<int64_t> out) const {
    std::vector<float> features;
    features.reserve(kFeatures * block.selected_count());
    block.ForEach([&](const Node& node) { AddFeatures(cycle.pod().request(), node, features); });

    std::vector<float> scores(block.selected_count());
    model_.Rate(features, scores);
    std::size_t next = 0;
    block.ForEachIndex([&](uint32_t i) { out[i] = ToScore(scores[next++]); });
    return berth::Status::Success();
  }

 private:
  static constexpr std::size_t kFeatures = 4;

  // Appends the features of a node as if the pod ran on it, in the order of train.py.
  static void AddFeatures(const berth_resources& pod, const Node& node,
                          std::vector<float>& features) {
    features.push_back(Share(node[berth::ReqCpu{}], pod.milli_cpu, node[berth::AllocCpu{}]));
    features.push_back(Share(node[berth::ReqMemory{}], pod.memory, node[berth::AllocMemory{}]));
    features.push_back(Share(node[berth::PodsCount{}], 1, node[berth::AllocPods{}]));
    const int64_t cores = std::max<int64_t>(1, node[berth::AllocCpu{}] / 1000);
    features.push_back(std::log2(static_cast<float>(cores)));
  }
  // Returns the used share of a resource, at most 1: the model knows no more.
  static float Share(int64_t used, int64_t added, int64_t of) {
    const int64_t sum = berth::AddAmounts(used, added);
    return sum >= of ? 1 : static_cast<float>(static_cast<double>(sum) / static_cast<double>(of));
  }
  // Returns the score of 0..100 for the result of the model, 0..1.
  static int64_t ToScore(float rated) {
    if (std::isnan(rated)) throw berth::Error("the model rates a node with NaN");
    return std::lround(100 * std::clamp(rated, 0.0F, 1.0F));
  }

  OnnxModel model_;
};

}  // namespace

BERTH_PLUGIN(OnnxScore)
