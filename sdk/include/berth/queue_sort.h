// QueueSort: orders the pods of the active queue. There is exactly one plugin for it per process,
// so every profile must use the same one.
//
//   berth::SortKey Key(const berth::Queued& queued) const;   // the lowest key is tried first; or
//   bool Less(const berth::Queued& a, const berth::Queued& b) const;
//
// Called:    Key when an entity enters the active queue; Less for each comparison. Key is faster.
// Threading: [queue].
// Must not:  depend on anything but the entity. The order must be strict and must not change while
//            the entity waits.
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
BERTH_INTERNAL_DETECT(Key);
BERTH_INTERNAL_DETECT(Less);

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

namespace internal {

struct QueueSortPoint {
  static constexpr const char* kId = BERTH_POINT_QUEUE_SORT;
  template <class P>
  static constexpr bool kNamed = kHasKey<P> || kHasLess<P>;

  template <class P>
  static constexpr void Check() {
    constexpr bool kKeyFits = requires(const P& plugin, const Queued& queued) {
      { plugin.Key(queued) } -> std::same_as<SortKey>;
    };
    constexpr bool kLessFits = requires(const P& plugin, const Queued& queued) {
      { plugin.Less(queued, queued) } -> std::same_as<bool>;
    };
    static_assert(!kHasKey<P> || kKeyFits,
                  "Key has the wrong signature; expected\n"
                  "  berth::SortKey Key(const berth::Queued& queued) const");
    static_assert(!kHasLess<P> || kLessFits,
                  "Less has the wrong signature; expected\n"
                  "  bool Less(const berth::Queued& a, const berth::Queued& b) const");
    static_assert(!(kHasKey<P> && kHasLess<P>), "implement Key or Less, not both");
  }

  template <class I>
  struct Table {
    berth_queue_sort abi = {sizeof(berth_queue_sort), 0, nullptr, nullptr};

    explicit Table(const I& /*instance*/) {
      if constexpr (kHasKey<typename I::PluginType>) abi.key = &Key;
      if constexpr (kHasLess<typename I::PluginType>) abi.less = &Less;
    }
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
  };
};

}  // namespace internal
}  // namespace berth

#endif  // BERTH_QUEUE_SORT_H_
