// Prefers nodes that already hold the pod's images.
// kube-scheduler: pkg/scheduler/framework/plugins/imagelocality/image_locality.go
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

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

bool HasName(const berth_image& image, berth_id wanted) {
  for (const berth_id name : berth::Span<const berth_id>(image.names)) {
    if (name == wanted) return true;
  }
  return false;
}

class ImageLocality : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "ImageLocality";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Prefers nodes that already hold the pod's images, weighted by image size and spread.";
  // kOther: the fraction of nodes that hold an image depends on all nodes.
  static constexpr berth::Dependence kScoreDependence{
      .cluster = berth::kNode | berth::kOther,
      .pod_parts = BERTH_PART(IMAGES) | BERTH_PART(VOLUMES)};
  static constexpr std::array kServices{BERTH_SERVICE_STRINGS};
  using Columns = berth::Columns<berth::Images>;
  using Node = berth::NodeRow<Columns>;

  // An image that the pod uses.
  struct Wanted {
    berth_id name;
    int64_t times;   // The number of containers and volumes of the pod that use the image.
    int64_t size;    // Bytes, as reported by the first node that holds the image.
    int64_t nodes;   // The number of nodes that hold the image.
    int64_t scaled;  // The bytes that one use adds to the sum of a node that holds the image.
  };
  struct State {
    bool has_pre_scored = false;  // PreScore has run.
    std::vector<Wanted> images;
  };

  explicit ImageLocality(berth::Host host) : host_(host) {}

  berth::Status PreScore(berth::Cycle& cycle, const berth::Nodes& /*feasible*/,
                         const berth::Nodes& all) {
    State& state = cycle.State<State>();
    std::vector<Wanted>& images = state.images;
    images.clear();
    state.has_pre_scored = true;
    CollectImages(cycle.pod(), images);
    all.ForEach<Columns>([&images](const Node& node) { CountHolder(node, images); });
    for (Wanted& image : images) {
      const double spread = static_cast<double>(image.nodes) / static_cast<double>(all.size());
      image.scaled = static_cast<int64_t>(static_cast<double>(image.size) * spread);
    }
    return berth::Status::Success();
  }

  int64_t Score(const berth::Cycle& cycle, const Node& node) const {
    const State& state = cycle.State<State>();
    if (!state.has_pre_scored)
      throw berth::Error(
          "PreScore has not run, but Score requires it: enable the plugin at PreScore");
    int64_t sum = 0;
    if (node[berth::Images{}].size() != 0) {
      for (const Wanted& image : state.images) {
        if (image.scaled != 0 && Holder(node, image.name) != nullptr) {
          sum += image.scaled * image.times;
        }
      }
    }
    const berth::Pod pod = cycle.pod();
    const auto containers =
        static_cast<int64_t>(pod.containers().size() + pod.init_containers().size());
    const int64_t max = kMaxContainerThreshold * containers;
    sum = std::max(kMinThreshold, std::min(sum, max));
    return kMaxScore * (sum - kMinThreshold) / (max - kMinThreshold);
  }

 private:
  static void AddImage(berth_id name, std::vector<Wanted>& images) {
    if (name == BERTH_ID_NONE) return;
    for (Wanted& image : images) {
      if (image.name != name) continue;
      ++image.times;
      return;
    }
    images.push_back({name, 1, 0, 0, 0});
  }

  void CollectImages(berth::Pod pod, std::vector<Wanted>& images) const {
    for (const berth_container& container : pod.init_containers()) {
      AddImage(container.image_normal, images);
    }
    for (const berth_container& container : pod.containers()) {
      AddImage(container.image_normal, images);
    }
    for (const berth_volume& volume : pod.volumes()) {
      if (volume.kind != BERTH_VOLUME_IMAGE) continue;
      AddImage(host_.Find(NormalName(berth::Str(volume.source))), images);
    }
  }

  static const berth_image* Holder(const Node& node, berth_id name) {
    for (const berth_image& image : node[berth::Images{}]) {
      if (HasName(image, name)) return &image;
    }
    return nullptr;
  }

  static void CountHolder(const Node& node, std::vector<Wanted>& images) {
    if (node[berth::Images{}].size() == 0) return;
    for (Wanted& wanted : images) {
      const berth_image* image = Holder(node, wanted.name);
      if (image == nullptr) continue;
      if (wanted.nodes++ == 0) wanted.size = image->size;
    }
  }

  berth::Host host_;
};

}  // namespace

BERTH_PLUGIN(ImageLocality)
