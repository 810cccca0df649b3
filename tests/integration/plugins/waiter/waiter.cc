// A plugin whose Permit makes every pod wait for a minute, and which never allows one. It has no
// EventsToRegister, so that every event requeues the pods that it rejected.
#include <chrono>
#include <string_view>

#include <berth/plugin.h>

namespace {

class Waiter : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Waiter";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Makes every pod wait for a minute.";

  explicit Waiter(const berth::Host& /*host*/) {}

  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& /*target*/,
                       std::chrono::nanoseconds& timeout) {
    timeout = std::chrono::minutes(1);
    return berth::Status::Wait("waiting for a pod that never comes");
  }
};

}  // namespace

BERTH_PLUGIN(Waiter)
