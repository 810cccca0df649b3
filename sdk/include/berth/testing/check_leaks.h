// Checks for leaks. Under a sanitizer the sanitizer does this; otherwise the heap usage is
// compared.
#ifndef BERTH_TESTING_CHECK_LEAKS_H_
#define BERTH_TESTING_CHECK_LEAKS_H_

#include <cstddef>
#include <string>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

class LeakChecker {
 public:
  LeakChecker(const Prober& prober, const Table& table, const PodHandle& pod);

  void Run();

 private:
  static constexpr size_t kRounds = 16;
  static constexpr size_t kBatches = 4;
  static constexpr size_t kSmallestPiece = 16;  // no allocator returns less

  void Measure();
  void CheckSlot(const berth_slot& slot);

  // Runs `round` repeatedly and reports a failure if it leaks. Memory that is kept once (a cache, a
  // pool) is not a leak: the usage must grow in each of several batches.
  template <class Round>
  void Expect(const std::string& what, Round round);

  const Prober& prober_;
  const Table& table_;
  const PodHandle& pod_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_LEAKS_H_
