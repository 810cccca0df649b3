// Prefers nodes that already hold the pod's images.
// kube-scheduler: pkg/scheduler/framework/plugins/imagelocality/image_locality.go
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>
#include <berth/positions.h>

#include "image_index.h"

namespace {

constexpr int64_t kMinThreshold = int64_t{23} << 20;             // bytes
constexpr int64_t kMaxContainerThreshold = int64_t{1000} << 20;  // bytes
constexpr int64_t kMaxScore = BERTH_SCORE_MAX;

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
  // The value of an image depends on all nodes; SignScore() covers it.
  static constexpr berth::Dependence kScoreDependence{
      .cluster = berth::kNode, .pod_parts = BERTH_PART(IMAGES) | BERTH_PART(VOLUMES)};
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS};
  using Block = berth::Block<Columns>;

  // An image that the pod uses and at least one node holds.
  struct Wanted {
    const images::Image* image;  // Valid until Score: no node changes within a cycle.
    // The position of its first use among the names of images that the pod uses.
    uint32_t place;
    int64_t times;  // The number of containers and volumes of the pod that use the image.
    int64_t value;  // The bytes that the image adds to the sum of a node that holds it.
  };
  struct State {
    std::vector<Wanted> images;
  };

  explicit ImageLocality(berth::Host host) : host_(host) {}

  void OnChange(const berth::Change& change) { index_.OnChange(change); }

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& all) {
    State& state = cycle.Emplace<State>();
    CollectImages(cycle.pod(), state.images);
    const int64_t max = MaxThreshold(cycle.pod());
    int64_t largest_sum = 0;
    for (Wanted& wanted : state.images) {
      // A value above `max` has the same effect as `max`. The limit keeps sums small.
      const int64_t most = max / wanted.times + 1;
      const int64_t scaled = std::clamp(ScaledSize(*wanted.image, all.size()), -most, most);
      wanted.value = scaled * wanted.times;
      largest_sum += std::max<int64_t>(wanted.value, 0);
    }
    // All nodes score 0, whichever images they hold.
    if (largest_sum <= kMinThreshold) state.images.clear();
    return berth::Status::Success();
  }

  // The pod parts determine the names of the images. The value of an image covers its size and the
  // number of nodes that hold it.
  std::optional<berth::Signature> SignScore(const berth::Cycle& cycle) const {
    berth::Signer signer = host_.NewSigner();
    for (const Wanted& wanted : cycle.State<State>().images) {
      signer.Add(wanted.place).Add(wanted.value);
    }
    return signer.Take();
  }

  berth::Status Score(const berth::Cycle& cycle, const Block& block, std::span<int64_t> out) const {
    const State& state = cycle.State<State>();
    const int64_t max = MaxThreshold(cycle.pod());
    if (state.images.size() == 1) {
      ScoreOneImage(state.images[0], max, block, out.data());
    } else {
      ScoreAllImages(state.images, max, block, out.data());
    }
    return berth::Status::Success();
  }

 private:
  static int64_t MaxThreshold(berth::Pod pod) {
    return kMaxContainerThreshold *
           static_cast<int64_t>(pod.containers().size() + pod.init_containers().size());
  }

  static int64_t ScoreOf(int64_t sum, int64_t max) {
    sum = std::max(kMinThreshold, std::min(sum, max));
    const int64_t part = kMaxScore * (sum - kMinThreshold);
    const int64_t whole = max - kMinThreshold;
    // Doubles are divided several times faster than integers, and the result is exact: both are
    // below 2^53, and a quotient below an integer k <= 100 is at most k - 1 / whole, which rounding
    // to the nearest double cannot raise to k.
    constexpr int64_t kExact = int64_t{1} << 46;  // The pod has 67,108 containers.
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

  void CollectImages(berth::Pod pod, std::vector<Wanted>& wanted) const {
    uint32_t place = 0;
    berth::Positions<const images::Image*> known;
    const auto add = [&](berth_id name) {
      const uint32_t first = place++;
      const images::Image* const image = index_.Find(name);
      if (image == nullptr) return;
      const std::size_t at = known.Use(image);
      if (at == wanted.size()) wanted.push_back({image, first, 0, 0});
      ++wanted[at].times;
    };
    for (const berth_container& container : pod.init_containers()) add(container.image_normal);
    for (const berth_container& container : pod.containers()) add(container.image_normal);
    for (const berth_volume& volume : pod.volumes()) {
      if (volume.kind != BERTH_VOLUME_IMAGE) continue;
      add(host_.Find(NormalName(berth::Str(volume.source))));
    }
  }

  berth::Host host_;
  images::ImageIndex index_;
};

}  // namespace

BERTH_PLUGIN(ImageLocality)
