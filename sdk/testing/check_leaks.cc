#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/call.h>
#include <berth/testing/check_leaks.h>
#include <berth/testing/cycle.h>
#include <berth/testing/ids.h>
#include <berth/testing/instance.h>
#include <berth/testing/report.h>
#include <berth/testing/slots.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {
namespace {

constexpr int64_t kMinuteNs = 60'000'000'000;

size_t HeapInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

template <class Round>
void LeakChecker::Expect(const std::string& what, Round round) {
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
      Check::kLeaks, what + " leaks about " + std::to_string(least / kRounds) + " bytes each time");
}

LeakChecker::LeakChecker(const Prober& prober, const Table& table, const PodHandle& pod)
    : prober_(prober), table_(table), pod_(pod) {}

void LeakChecker::Run() {
  // The texts of dropped ids must not count.
  Ids& ids = *prober_.world().ids;
  const bool kept = ids.keeps_dropped();
  ids.set_keeps_dropped(false);
  Measure();
  ids.set_keeps_dropped(kept);
}

void LeakChecker::Measure() {
  Instance instance(prober_.world(), prober_.objects(), prober_.now_ns());
  if (!instance.ok()) return;
  instance.Replay(table_);
  for (uint32_t i = 0; i < instance.plugin().slots.count; ++i)
    CheckSlot(*BERTH_AT(berth_slot, instance.plugin().slots, i));
  Expect("a cycle", [&] {
    {
      Cycle cycle(&instance, &table_, pod_);
      cycle.PreFilter();
      const auto clone = cycle.CloneForWhatIf();
    }
    // Posts, requests, timers and records do not count.
    instance.services().Advance(kMinuteNs);
    instance.services().ForgetRecords();
  });
  Expect("create and destroy",
         [&] { Instance(prober_.world(), prober_.objects(), prober_.now_ns()); });
}

void LeakChecker::CheckSlot(const berth_slot& slot) {
  const std::string name = slot.type_id != nullptr ? slot.type_id : "";
  Expect("construct, clone and destroy of slot \"" + name + "\"", [&] {
    const CallScope scope(&prober_.reporter(), "a slot's construct", kCycle);
    Slot one(slot);
    Slot other(slot);
    one.Construct();
    other.CloneFrom(one);
  });
}

}  // namespace berth::testing
