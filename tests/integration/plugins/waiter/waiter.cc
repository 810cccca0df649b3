// Two plugins that keep the scheduler waiting.
#include <chrono>
#include <string_view>
#include <thread>

#include <berth/plugin.h>

namespace {

// Permit makes every pod wait for a minute, and never allows one. The plugin has no
// EventsToRegister, so that every event requeues the pods that it rejected.
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

// Reserve returns when the host cancels the call, or after half a minute.
class Sleeper : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.Sleeper";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Sleeps in Reserve.";

  explicit Sleeper(const berth::Host& /*host*/) {}

  berth::Status Reserve(berth::Cycle& cycle, const berth::Target& /*target*/) {
    for (int i = 0; i < 30'000; ++i) {
      if (cycle.cancelled()) return berth::Status::Cancelled();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return berth::Status::Success();
  }
};

}  // namespace

BERTH_PLUGINS(Waiter, Sleeper);
