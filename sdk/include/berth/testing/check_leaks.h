// Checks for leaks. Under a sanitizer the sanitizer does this; otherwise the heap usage is
// compared.
#ifndef BERTH_TESTING_CHECK_LEAKS_H_
#define BERTH_TESTING_CHECK_LEAKS_H_

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <berth/testing/attempt.h>
#include <berth/testing/cycle.h>
#include <berth/testing/instance.h>
#include <berth/testing/slots.h>
#include <berth/testing/table.h>

namespace berth::testing {

class LeakChecker {
 public:
  LeakChecker(const Prober& prober, const Table& table, const PodHandle& pod)
      : prober_(prober), table_(table), pod_(pod) {}

  void Run() {
    Instance instance(prober_.world(), prober_.objects(), prober_.now_ns());
    if (!instance.ok()) return;
    instance.Replay(table_);
    for (uint32_t i = 0; i < instance.plugin().slots.count; ++i)
      CheckSlot(*BERTH_AT(berth_slot, instance.plugin().slots, i));
    Expect("a cycle", [&] {
      Cycle cycle(&instance, &table_, pod_);
      cycle.PreFilter();
      const auto clone = cycle.CloneForWhatIf();
    });
    Expect("create and destroy",
           [&] { Instance(prober_.world(), prober_.objects(), prober_.now_ns()); });
  }

 private:
  static constexpr size_t kRounds = 16;
  static constexpr size_t kBatches = 4;
  static constexpr size_t kSmallestPiece = 16;  // no allocator returns less

  static size_t HeapInUse() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  }

  void CheckSlot(const berth_slot& slot) {
    const std::string name = slot.type_id != nullptr ? slot.type_id : "";
    Expect("construct, clone and destroy of slot \"" + name + "\"", [&] {
      const CallScope scope(&prober_.reporter(), "a slot's construct", kCycle);
      Slot one(slot);
      Slot other(slot);
      one.Construct();
      other.CloneFrom(one);
    });
  }

  // Runs `round` repeatedly and reports a failure if it leaks. Memory that is kept once (a cache, a
  // pool) is not a leak: the usage must grow in each of several batches.
  template <class Round>
  void Expect(const std::string& what, Round round) {
    for (size_t i = 0; i < 2 * kRounds; ++i) round();
    size_t least = SIZE_MAX;
    for (size_t batch = 0; batch < kBatches; ++batch) {
      const size_t before = HeapInUse();
      for (size_t i = 0; i < kRounds; ++i) round();
      const size_t after = HeapInUse();
      least = std::min(least, after > before ? after - before : 0);
    }
    if (least < kRounds * kSmallestPiece) return;
    prober_.reporter().Fail(
        Check::kLeaks,
        what + " leaks about " + std::to_string(least / kRounds) + " bytes each time");
  }

  const Prober& prober_;
  const Table& table_;
  const PodHandle& pod_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_LEAKS_H_
