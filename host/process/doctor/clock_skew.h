// Measures how far the clock of this machine is ahead of the clock of a server.
#ifndef BERTH_HOST_PROCESS_DOCTOR_CLOCK_SKEW_H_
#define BERTH_HOST_PROCESS_DOCTOR_CLOCK_SKEW_H_

#include <cstdint>
#include <optional>

namespace berth::host {

// The header Date of an answer has whole seconds, so that one answer gives a range of at least one
// second. Several answers at different parts of a second narrow it.
class ClockSkew {
 public:
  // Adds an answer. `sent_ns` and `received_ns`: this machine's wall clock before the request and
  // after the answer. `date_ns`: the header Date; 0 if there was none.
  // An answer that contradicts the others, because a clock was set in between, replaces them.
  void Add(int64_t sent_ns, int64_t received_ns, int64_t date_ns);

  // Returns how far this machine is ahead: the value of the range that is nearest to 0, so that
  // equal clocks give 0. Negative: this machine is behind. Nullopt: no answer had a date.
  std::optional<int64_t> AheadNs() const;

 private:
  bool has_range_ = false;
  int64_t min_ns_ = 0;
  int64_t max_ns_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_CLOCK_SKEW_H_
