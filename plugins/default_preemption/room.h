// Amounts of the resources that every pod has.
#ifndef BERTH_PLUGINS_DEFAULT_PREEMPTION_ROOM_H_
#define BERTH_PLUGINS_DEFAULT_PREEMPTION_ROOM_H_

#include <cstdint>

#include <berth/abi.h>

namespace preemption {

// What pods need, or what is free on a node. A free amount may be negative.
// REQUIRES: no sum of amounts exceeds 64 bits; see kAmountMax.
struct Room {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  int64_t pods = 0;

  Room& operator+=(const Room& other) {
    milli_cpu += other.milli_cpu;
    memory += other.memory;
    ephemeral_storage += other.ephemeral_storage;
    pods += other.pods;
    return *this;
  }
  Room& operator-=(const Room& other) {
    milli_cpu -= other.milli_cpu;
    memory -= other.memory;
    ephemeral_storage -= other.ephemeral_storage;
    pods -= other.pods;
    return *this;
  }
  // Returns whether a pod with this request fits into the room. What the pod does not request does
  // not count, even where the room is negative.
  // NodeResourcesFit: plugins/node_resources_fit/node_resources_fit.cc
  bool Holds(const Room& wanted) const {
    const auto fits = [](int64_t want, int64_t free) { return want <= 0 || want <= free; };
    return wanted.pods <= pods && fits(wanted.milli_cpu, milli_cpu) &&
           fits(wanted.memory, memory) && fits(wanted.ephemeral_storage, ephemeral_storage);
  }
  // Returns whether sums of a thousand million such rooms do not exceed 64 bits.
  bool IsSmall() const {
    constexpr int64_t kAmountMax = int64_t{1} << 50;  // A million gibibytes.
    const auto is_small = [](int64_t amount) {
      return -kAmountMax < amount && amount < kAmountMax;
    };
    return is_small(milli_cpu) && is_small(memory) && is_small(ephemeral_storage) && is_small(pods);
  }
};

inline Room RoomOf(const berth_resources& amounts, int64_t pods) {
  return {.milli_cpu = amounts.milli_cpu,
          .memory = amounts.memory,
          .ephemeral_storage = amounts.ephemeral_storage,
          .pods = pods};
}
// Returns what the pod needs to be placed, and what it occupies once it has a place.
inline Room RequestOf(const berth_pod& pod) { return RoomOf(*pod.request, 1); }
inline Room UsedBy(const berth_pod& pod) { return RoomOf(*pod.accounted, 1); }

}  // namespace preemption

#endif  // BERTH_PLUGINS_DEFAULT_PREEMPTION_ROOM_H_
