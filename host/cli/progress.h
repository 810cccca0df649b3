// A line on the terminal that says how far long work is.
#ifndef BERTH_HOST_CLI_PROGRESS_H_
#define BERTH_HOST_CLI_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>

namespace berth::host {

// Silent in the first second, then at most five times a second; the line is erased at the end.
// Threading: any.
class Progress {
 public:
  // `enabled` is false where `out` is not a terminal. `steady_ns` only goes forward.
  Progress(std::ostream& out, bool enabled, std::function<int64_t()> steady_ns);
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // "Reading cluster.json ..."
  void Say(std::string_view what);
  // "Scheduling: 1,204 of 8,152 pods"
  void Count(std::string_view what, size_t done, size_t total, std::string_view unit);
  // Takes the line away, so that something else can be printed.
  void Clear();
  // Prints `text` where the line was; whole, whoever else prints.
  void Print(std::string_view text);

 private:
  // REQUIRES, of all below: the mutex is held.
  void Erase();
  bool Due();
  void Show(const std::string& line);

  std::ostream& out_;
  const bool enabled_;
  std::function<int64_t()> steady_ns_;
  std::mutex mutex_;  // Guards what follows, and `out_`.
  int64_t next_ns_ = 0;
  bool shown_ = false;
};

// "8,152"
std::string WithCommas(uint64_t number);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_PROGRESS_H_
