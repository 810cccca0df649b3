// Signer: computes the signature that SignFilter and SignScore return; see dependence.h.
//
//   return host_.NewSigner().Add(state.driver).Add(state.volumes).Take();
#ifndef BERTH_SIGNER_H_
#define BERTH_SIGNER_H_

#include <concepts>
#include <cstdint>
#include <ranges>
#include <string_view>
#include <type_traits>

#include <berth/abi.h>
#include <berth/siphash.h>

namespace berth {

// 128 bits that stand for everything that was added to a Signer: the host takes inputs with equal
// signatures for equal.
struct Signature {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(const Signature&, const Signature&) = default;
};

// Hashes what is added, in order, with the key of the process. Create it with Host::NewSigner().
//
// Add texts, or ids that the plugin interned, rather than other ids: the host reuses the ids of
// dropped strings.
class Signer {
 public:
  explicit Signer(const HashKey& key) : hash_(key) {}

  template <class T>
  requires std::integral<T> || std::is_enum_v<T> Signer& Add(T value) {
    hash_.Add(static_cast<uint64_t>(value));
    return *this;
  }
  Signer& Add(std::string_view text) {
    hash_.Add(text);
    return *this;
  }
  // Adds the number of elements and then each element.
  template <std::ranges::sized_range Items>
  requires(!std::convertible_to<const Items&, std::string_view>) Signer& Add(const Items& items) {
    hash_.Add(uint64_t{std::ranges::size(items)});
    for (const auto& item : items) Add(item);
    return *this;
  }

  // Returns the signature of everything that was added. Called: once; nothing may be added
  // afterwards.
  Signature Take() {
    const uint64_t low = hash_.Finish();
    return {low, hash_.FinishHigh()};
  }

 private:
  WideSipHash24 hash_;
};

}  // namespace berth

#endif  // BERTH_SIGNER_H_
