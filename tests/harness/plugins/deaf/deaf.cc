// A plugin that registers too few events: it rejects a pod until its namespace exists, but no event
// of a Namespace requeues the pod.
#include <array>
#include <string_view>
#include <vector>

#include <berth/plugin.h>

namespace {

constexpr const char* kNamespaces = "v1/Namespace";

class Deaf : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Deaf";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout =
      "Rejects pods whose namespace does not exist, and registers no events.";
  static constexpr std::array kServices{BERTH_SERVICE_OBJECTS};
  static constexpr std::array kKinds{kNamespaces};

  explicit Deaf(const berth::Host& host) : host_(host) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    const std::string_view ns = host_.Text(cycle.pod().ns());
    if (host_.objects().Get(kNamespaces, "", ns) != nullptr) return berth::Status::Skip();
    return berth::Status::Unschedulable("the namespace does not exist");
  }

  std::vector<berth::EventInterest> EventsToRegister() const { return {}; }

 private:
  const berth::Host host_;
};

}  // namespace

BERTH_PLUGIN(Deaf)
