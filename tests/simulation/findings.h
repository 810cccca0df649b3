// The violations that the audits of a simulation have found.
#ifndef BERTH_TESTS_SIMULATION_FINDINGS_H_
#define BERTH_TESTS_SIMULATION_FINDINGS_H_

#include <string>
#include <utility>

#include "host/api/objects.h"
#include "tests/simulation/trace.h"

namespace berth::host {

// Traces every finding and keeps the first one, because later ones may be its consequences.
//
// Threading: one thread.
// Lifetime:  the trace must outlive this object.
class Findings {
 public:
  explicit Findings(Trace& trace) : trace_(trace) {}
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  void Add(std::string finding) {
    trace_.Line("FINDING: ", finding);
    if (first_.empty()) first_ = std::move(finding);
  }
  // Returns the first finding, or an empty string.
  const std::string& first() const { return first_; }

 private:
  Trace& trace_;
  std::string first_;
};

// Returns the pod's name and uid, for a finding.
inline std::string Describe(const Pod& pod) {
  return "pod " + std::string(pod.name()) + " (" + std::string(pod.uid()) + ")";
}

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_FINDINGS_H_
