// QueueSort: orders the pods of the active queue. There is exactly one plugin for it per process,
// so every profile must use the same one. The host calls the instance of the first profile; when
// another instance takes over, it is called for every entity again.
//
//   berth::SortKey Key(const berth::Queued& queued) const;   // the lowest key is tried first; or
//   bool Less(const berth::Queued& a, const berth::Queued& b) const;
//
// A plugin whose order depends on what was tried before, such as one that is fair to namespaces,
// divides the queue into lanes. Key or Less is then the order within a lane.
//
//   uint64_t Lane(const berth::Queued& queued) const;       // entities with equal numbers
//   std::size_t NextLane(const berth::Lanes& lanes);        // the index of the lane to try now
//
// Called:    Key when an entity enters the active queue; Less for each comparison. Key is faster.
//            Lane when an entity enters the active queue, where it stays in its lane. NextLane once
//            for each entity that is taken from the active queue: from the front of this lane.
// Threading: [queue].
// Must not:  Key, Less and Lane: depend on anything but the entity. The order must be strict and
//            must not change while the entity waits. NextLane: return lanes.size() or more. It may
//            depend on anything, and may count what it returns. Its cost should not exceed a loop
//            over the lanes.
#ifndef BERTH_QUEUE_SORT_H_
#define BERTH_QUEUE_SORT_H_

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <berth/abi.h>
#include <berth/enqueue_extensions.h>
#include <berth/internal/detect.h>
#include <berth/internal/guard.h>
#include <berth/span.h>
BERTH_INTERNAL_DETECT(Key);
BERTH_INTERNAL_DETECT(Less);
BERTH_INTERNAL_DETECT(Lane);
BERTH_INTERNAL_DETECT(NextLane);

namespace berth {
// A key that sorts by several fields in turn: SortKey().Descending(priority).Ascending(queued_ns).
//
// The fields are stored big-endian, signed ones with the sign bit flipped, so that comparing the
// bytes compares the values. All fields together have at most 32 bytes.
class SortKey {
 public:
  template <std::integral T>
  SortKey& Ascending(T value) {
    Put(Biased(value), sizeof(T));
    return *this;
  }
  template <std::integral T>
  SortKey& Descending(T value) {
    Put(~Biased(value), sizeof(T));
    return *this;
  }
  const std::array<uint8_t, BERTH_SORT_KEY_SIZE>& bytes() const { return bytes_; }

 private:
  template <std::integral T>
  static uint64_t Biased(T value) {
    const uint64_t sign = std::is_signed_v<T> ? uint64_t{1} << (sizeof(T) * 8 - 1) : 0;
    return static_cast<uint64_t>(value) ^ sign;
  }
  // Appends the lowest `size` bytes of `value`. Bytes that do not fit are dropped.
  void Put(uint64_t value, std::size_t size) {
    for (std::size_t i = size; i-- > 0 && used_ < bytes_.size(); ++used_) {
      bytes_[used_] = static_cast<uint8_t>(value >> (i * 8));
    }
  }

  std::array<uint8_t, BERTH_SORT_KEY_SIZE> bytes_ = {};
  std::size_t used_ = 0;
};

// The lanes that have entities, by ascending number: lanes[i].lane, .count and .first.
using Lanes = Span<const berth_lane>;

namespace internal {

template <class P>
inline constexpr bool kHasLanes = kHasLane<P> || kHasNextLane<P>;

// Calls Key and Less of instance class I for both revisions.
template <class I>
struct SortOrder {
  static void Key(void* self, const berth_queued* queued,
                  uint8_t out[BERTH_SORT_KEY_SIZE]) noexcept {
    const I& instance = *static_cast<I*>(self);
    SortKey key;
    GuardVoid(instance.services, "Key", [&] { key = instance.plugin().Key(*queued); });
    std::memcpy(out, key.bytes().data(), BERTH_SORT_KEY_SIZE);
  }
  static int32_t Less(void* self, const berth_queued* a, const berth_queued* b) noexcept {
    const I& instance = *static_cast<I*>(self);
    bool less = false;
    GuardVoid(instance.services, "Less", [&] { less = instance.plugin().Less(*a, *b); });
    return less ? 1 : 0;
  }
  // Sets key and less of the table `abi`.
  template <class Abi>
  static void FillIn(Abi& abi) {
    if constexpr (kHasKey<typename I::PluginType>) abi.key = &Key;
    if constexpr (kHasLess<typename I::PluginType>) abi.less = &Less;
  }
};

struct QueueSortPoint {
  static constexpr const char* kId = BERTH_POINT_QUEUE_SORT;
  template <class P>
  static constexpr bool kNamed = (kHasKey<P> || kHasLess<P>)&&!kHasLanes<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kKeyFits = requires(const P& plugin, const Queued& queued) {
      { plugin.Key(queued) } -> std::same_as<SortKey>;
    };
    constexpr bool kLessFits = requires(const P& plugin, const Queued& queued) {
      { plugin.Less(queued, queued) } -> std::same_as<bool>;
    };
    BERTH_INTERNAL_CHECK_METHOD(Key, P, (kKeyFits),
                                "expected\n"
                                "  berth::SortKey Key(const berth::Queued& queued) const");
    BERTH_INTERNAL_CHECK_METHOD(
        Less, P, (kLessFits),
        "expected\n"
        "  bool Less(const berth::Queued& a, const berth::Queued& b) const");
    static_assert(!(kHasKey<P> && kHasLess<P>), "implement Key or Less, not both");
  }

  template <class I>
  struct Table {
    berth_queue_sort abi = {sizeof(berth_queue_sort), 0, nullptr, nullptr};

    explicit Table(const I& /*instance*/) { SortOrder<I>::FillIn(abi); }
  };
};

struct QueueSortLanesPoint {
  static constexpr const char* kId = BERTH_POINT_QUEUE_SORT_2;
  template <class P>
  static constexpr bool kNamed = kHasLanes<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kLaneFits = requires(const P& plugin, const Queued& queued) {
      { plugin.Lane(queued) } -> std::same_as<uint64_t>;
    };
    constexpr bool kNextLaneFits = requires(P & plugin, const Lanes& lanes) {
      { plugin.NextLane(lanes) } -> std::same_as<std::size_t>;
    };
    BERTH_INTERNAL_CHECK_METHOD(Lane, P, (kLaneFits),
                                "expected\n"
                                "  uint64_t Lane(const berth::Queued& queued) const");
    BERTH_INTERNAL_CHECK_METHOD(NextLane, P, (kNextLaneFits),
                                "expected\n"
                                "  std::size_t NextLane(const berth::Lanes& lanes)");
    static_assert(kHasLane<P> == kHasNextLane<P>, "implement both Lane and NextLane, or neither");
    static_assert(!kHasLanes<P> || kHasKey<P> || kHasLess<P>,
                  "implement Key or Less beside Lane and NextLane: the order within a lane");
  }

  template <class I>
  struct Table {
    berth_queue_sort_2 abi = {sizeof(berth_queue_sort_2), 0, nullptr, nullptr, &Lane, &Next};

    explicit Table(const I& /*instance*/) { SortOrder<I>::FillIn(abi); }
    static uint64_t Lane(void* self, const berth_queued* queued) noexcept {
      const I& instance = *static_cast<I*>(self);
      uint64_t lane = 0;
      GuardVoid(instance.services, "Lane", [&] { lane = instance.plugin().Lane(*queued); });
      return lane;
    }
    static uint32_t Next(void* self, berth_array lanes) noexcept {
      I& instance = *static_cast<I*>(self);
      std::size_t next = 0;
      GuardVoid(instance.services, "NextLane",
                [&] { next = instance.plugin().NextLane(Lanes(lanes)); });
      return static_cast<uint32_t>(std::min<std::size_t>(next, UINT32_MAX));
    }
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_QUEUE_SORT_H_
