// Prefers nodes that already hold the pod's images.
// kube-scheduler: pkg/scheduler/framework/plugins/imagelocality/image_locality.go
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>
#include <berth/positions.h>

#include "image_index.h"

namespace {

constexpr int64_t kMinThreshold = int64_t{23} << 20;         // bytes
constexpr int64_t kMaxImageThreshold = int64_t{1000} << 20;  // bytes
constexpr int64_t kMaxScore = BERTH_SCORE_MAX;

// Returns the number of a pod's images that raise the upper threshold. `containers`: those of
// containers and init containers. Image volumes add to the sum of a node in every version.
// 1.36: image volumes do not raise the threshold.
// 1.37: they do, like containers.
// kube-scheduler: imagelocality/image_locality.go, sumImageScores; kubernetes/kubernetes#138951
constexpr int64_t CountImages(int64_t containers, int64_t volumes, berth::KubeVersion version) {
  return version >= berth::KubeVersion{1, 37} ? containers + volumes : containers;
}

// Returns `image` in the form in which nodes report it: with ":latest" if it names no tag.
std::string NormalName(std::string_view image) {
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  const bool has_tag =
      colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return has_tag ? std::string(image) : std::string(image) + ":latest";
}

// Returns size * holders / nodes, which is the value of an image on a node that holds it, limited
// to what int64_t can hold. The order of operations is that of kube-scheduler.
int64_t ScaledSize(const images::Image& image, uint64_t nodes) {
  const double spread = static_cast<double>(image.holders.size()) / static_cast<double>(nodes);
  const double scaled = static_cast<double>(image.size) * spread;
  constexpr double kLimit = static_cast<double>(int64_t{1} << 62);
  return static_cast<int64_t>(std::clamp(scaled, -kLimit, kLimit));
}

// Calls each(i, held) for every selected node i of the block. `held` is true if the row of the node
// is in `rows`.
template <class F>
void ForEachNode(const berth::RawBlock& block, const images::RowSet& rows, F&& each) {
  using images::RowSet;
  // The rows of a block are mostly neighbours, so the bits of a group serve many nodes.
  uint32_t group = 0;
  uint64_t bits = rows.BitsOf(group);
  block.ForEachIndex([&](uint32_t i) {
    const uint32_t row = block.Row(i);
    if (RowSet::GroupOf(row) != group) {
      group = RowSet::GroupOf(row);
      bits = rows.BitsOf(group);
    }
    each(i, (bits & RowSet::BitOf(row)) != 0);
  });
}

class ImageLocality : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "ImageLocality";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Prefers nodes that already hold the pod's images, weighted by image size and spread.";
  // The value of an image depends on all nodes; SignScore() covers it. It also covers the image
  // volumes: the part of all volumes differs between the pods of one template.
  static constexpr berth::Dependence kScoreDependence{.cluster = berth::kNode,
                                                      .pod_parts = BERTH_PART(IMAGES)};
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS};
  using Block = berth::Block<Columns>;

  // An image that the pod uses and at least one node holds.
  struct Wanted {
    const images::Image* image;  // Valid until Score: no node changes within a cycle.
    // The position of its first use among the images of containers; kInVolume if none uses it.
    uint32_t place;
    berth_id name;  // Valid until Score.
    int64_t times;  // The number of containers and volumes of the pod that use the image.
    int64_t value;  // The bytes that the image adds to the sum of a node that holds it.
  };
  struct State {
    std::vector<Wanted> images;
    int64_t max = 0;  // The upper threshold of a node's sum, in bytes.
  };

  explicit ImageLocality(berth::Host host) : host_(host) {}

  void OnChange(const berth::Change& change) { index_.OnChange(change); }

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& all) {
    State& state = cycle.Emplace<State>();
    CollectImages(cycle.pod(), state);
    int64_t largest_sum = 0;
    for (Wanted& wanted : state.images) {
      // A value above the maximum has the same effect as the maximum. The limit keeps sums small.
      const int64_t most = state.max / wanted.times + 1;
      const int64_t scaled = std::clamp(ScaledSize(*wanted.image, all.size()), -most, most);
      wanted.value = scaled * wanted.times;
      largest_sum += std::max<int64_t>(wanted.value, 0);
    }
    // All nodes score 0, whichever images they hold.
    if (largest_sum <= kMinThreshold) state.images.clear();
    return berth::Status::Success();
  }

  // The pod part determines the names of the images of containers. The value of an image covers its
  // size and the number of nodes that hold it.
  std::optional<berth::Signature> SignScore(const berth::Cycle& cycle) const {
    const State& state = cycle.State<State>();
    berth::Signer signer = host_.NewSigner();
    signer.Add(state.max);
    for (const Wanted& wanted : state.images) {
      signer.Add(wanted.place).Add(wanted.value);
      if (wanted.place == kInVolume) signer.Add(host_.Text(wanted.name));
    }
    return signer.Take();
  }

  berth::Status Score(const berth::Cycle& cycle, const Block& block, std::span<int64_t> out) const {
    const State& state = cycle.State<State>();
    if (state.images.size() == 1) {
      ScoreOneImage(state.images[0], state.max, block, out.data());
    } else {
      ScoreAllImages(state.images, state.max, block, out.data());
    }
    return berth::Status::Success();
  }

 private:
  static constexpr uint32_t kInVolume = std::numeric_limits<uint32_t>::max();

  static int64_t ScoreOf(int64_t sum, int64_t max) {
    sum = std::max(kMinThreshold, std::min(sum, max));
    const int64_t part = kMaxScore * (sum - kMinThreshold);
    const int64_t whole = max - kMinThreshold;
    // Doubles are divided several times faster than integers, and the result is exact: both are
    // below 2^53, and a quotient below an integer k <= 100 is at most k - 1 / whole, which rounding
    // to the nearest double cannot raise to k.
    constexpr int64_t kExact = int64_t{1} << 46;  // The pod has 67,108 images.
    if (whole <= kExact) [[likely]]
      return static_cast<int64_t>(static_cast<double>(part) / static_cast<double>(whole));
    return part / whole;
  }

  // Does the same as ScoreAllImages for most pods, with one score for all holders of the image.
  static void ScoreOneImage(const Wanted& wanted, int64_t max, const Block& block,
                            int64_t* __restrict out) {
    const int64_t score = ScoreOf(wanted.value, max);
    ForEachNode(block, wanted.image->holders,
                [=](uint32_t i, bool held) { out[i] = held ? score : 0; });
  }

  static void ScoreAllImages(std::span<const Wanted> all, int64_t max, const Block& block,
                             int64_t* __restrict out) {
    block.ForEachIndex([out](uint32_t i) { out[i] = 0; });
    if (all.empty()) return;
    for (const Wanted& wanted : all) {
      const int64_t value = wanted.value;
      ForEachNode(block, wanted.image->holders,
                  [=](uint32_t i, bool held) { out[i] += held ? value : 0; });
    }
    block.ForEachIndex([=](uint32_t i) { out[i] = ScoreOf(out[i], max); });
  }

  void CollectImages(berth::Pod pod, State& state) const {
    std::vector<Wanted>& wanted = state.images;
    berth::Positions<const images::Image*> known;
    const auto add = [&](berth_id name, uint32_t place) {
      const images::Image* const image = index_.Find(name);
      if (image == nullptr) return;
      const std::size_t at = known.Use(image);
      if (at == wanted.size()) wanted.push_back({image, place, name, 0, 0});
      ++wanted[at].times;
    };
    uint32_t containers = 0;
    for (const auto& list : {pod.init_containers(), pod.containers()}) {
      for (const berth_container& container : list) add(container.image_normal, containers++);
    }
    int64_t volumes = 0;
    for (const berth_volume& volume : pod.volumes()) {
      if (volume.kind != BERTH_VOLUME_IMAGE) continue;
      ++volumes;
      add(host_.Find(NormalName(berth::Str(volume.source))), kInVolume);
    }
    state.max = kMaxImageThreshold * CountImages(containers, volumes, host_.emulated_version());
  }

  berth::Host host_;
  images::ImageIndex index_;
};

}  // namespace

BERTH_PLUGIN(ImageLocality)
