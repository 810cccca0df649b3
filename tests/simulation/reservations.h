// What plugins have reserved and not given back, as they say themselves.
#ifndef BERTH_TESTS_SIMULATION_RESERVATIONS_H_
#define BERTH_TESTS_SIMULATION_RESERVATIONS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

// Holds the host to the contract of Reserve: each is asked once, and then told once, either that
// the pod is bound or to give back; of the latter the last first, and whoever comes after a failed
// Reserve is told though it was never asked.
class Reservations {
 public:
  // `quarantine`: a plugin may fail without being called: all are told, and nobody was asked.
  explicit Reservations(bool quarantine) : quarantine_(quarantine) {}

  // `what`: "Reserve", "Reserved" (it succeeded), "Unreserve" or "PostBind".
  // Returns: what is wrong with it; empty: nothing.
  std::string Note(std::string_view plugin, std::string_view what, std::string_view uid);
  // Who still holds something; empty: nobody.
  std::string StillHeld() const;

 private:
  enum class State { kAsked, kReserved, kGivenBack };
  struct Part {
    std::string plugin;
    State state = State::kAsked;
  };
  using Parts = std::vector<Part>;  // In the order in which they were asked.

  std::string OnUnreserve(Parts& parts, std::string_view plugin) const;

  const bool quarantine_;
  std::map<std::string, Parts, std::less<>> pods_;  // By uid.
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_RESERVATIONS_H_
