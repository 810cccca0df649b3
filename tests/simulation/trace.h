// The trace of a simulation, one line for each action.
#ifndef BERTH_TESTS_SIMULATION_TRACE_H_
#define BERTH_TESTS_SIMULATION_TRACE_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "host/base/clock.h"
#include "host/base/hash.h"

namespace berth::host {

// Prints each line immediately, so that no line is lost when an assertion ends the process.
// Computes a digest of all lines: equal runs have equal digests.
class Trace {
 public:
  // Prints nothing if `out` is null.
  Trace(const Clock& clock, std::FILE* out) : clock_(clock), start_ns_(clock.NowNs()), out_(out) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  template <class... Part>
  void Line(const Part&... parts) {
    line_.clear();
    (line_.append(std::string_view(parts)), ...);
    const int64_t ms = (clock_.NowNs() - start_ns_) / 1'000'000;
    digest_ = (digest_ ^ HashBytes(line_) ^ static_cast<uint64_t>(ms)) * 0x9e3779b97f4a7c15;
    if (out_ == nullptr) return;
    std::fprintf(out_, "%6lld.%03lld  %s\n", static_cast<long long>(ms / 1000),
                 static_cast<long long>(ms % 1000), line_.c_str());
    std::fflush(out_);
  }

  uint64_t digest() const { return digest_; }

 private:
  const Clock& clock_;
  const int64_t start_ns_;
  std::FILE* const out_;
  std::string line_;
  uint64_t digest_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_TRACE_H_
