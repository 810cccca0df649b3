// Kubernetes resource quantities, such as "100m", "1.5Gi" and "12e6".
#ifndef BERTH_HOST_API_QUANTITY_H_
#define BERTH_HOST_API_QUANTITY_H_

#include <compare>
#include <cstdint>
#include <limits>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// An exact amount between -(2^63-1) and 2^63-1 units, in steps of one nano-unit. A value type.
class Quantity {
 public:
  static constexpr int32_t kNanosPerUnit = 1'000'000'000;

  constexpr Quantity() = default;
  // REQUIRES: `nanos` is less than one unit in magnitude; if neither `units` nor `nanos` is 0, both
  // have the same sign.
  constexpr Quantity(int64_t units, int32_t nanos) : units_(units), nanos_(nanos) {}

  // Adds `other`. The sum is exact, but limited to 2^63-1 units in magnitude.
  constexpr void Add(const Quantity& other) {
    int64_t units = 0;
    const bool overflows = __builtin_add_overflow(units_, other.units_, &units);
    if (overflows || units < -kMax) [[unlikely]] {
      *this = Quantity(units_ < 0 ? -kMax : kMax, 0);
      return;
    }
    units_ = units;
    if ((nanos_ | other.nanos_) != 0) [[unlikely]]
      AddNanos(other.nanos_);
  }

  // Returns the amount in units, rounded away from zero: "100m" is 1.
  constexpr int64_t Value() const {
    if (nanos_ == 0) return units_;
    if (nanos_ > 0) return units_ == kMax ? kMax : units_ + 1;
    return units_ == -kMax ? -kMax : units_ - 1;
  }

  // Returns the amount in thousandths, rounded away from zero and limited to 2^63-1 in magnitude:
  // "0.5m" is 1.
  constexpr int64_t MilliValue() const {
    int64_t milli = 0;
    if (__builtin_mul_overflow(units_, int64_t{1000}, &milli) ||
        __builtin_add_overflow(milli, NanosAsMilli(), &milli) || milli < -kMax) {
      return Sign() < 0 ? -kMax : kMax;
    }
    return milli;
  }

  // Returns -1, 0 or 1.
  constexpr int32_t Sign() const {
    if (units_ != 0) return units_ < 0 ? -1 : 1;
    return (nanos_ > 0) - (nanos_ < 0);
  }

  // units() returns the whole units, rounded towards zero; nanos() returns the rest in nano-units.
  constexpr int64_t units() const { return units_; }
  constexpr int32_t nanos() const { return nanos_; }

  // Compares amounts: "1" equals "1000m".
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 reports a false positive here.
  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;

 private:
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  static constexpr int32_t kNanosPerMilli = 1'000'000;

  constexpr int64_t NanosAsMilli() const {
    const int32_t rest = nanos_ % kNanosPerMilli;
    return nanos_ / kNanosPerMilli + (rest > 0) - (rest < 0);
  }

  // Adds the nano-units. `units_` is already the sum of the units.
  constexpr void AddNanos(int32_t other) {
    nanos_ += other;
    if (nanos_ >= kNanosPerUnit || (nanos_ > 0 && units_ < 0)) {
      nanos_ -= kNanosPerUnit;
      if (units_ != kMax) ++units_;
    } else if (nanos_ <= -kNanosPerUnit || (nanos_ < 0 && units_ > 0)) {
      nanos_ += kNanosPerUnit;
      if (units_ != -kMax) --units_;
    }
    if (units_ == kMax || units_ == -kMax) nanos_ = 0;
  }

  int64_t units_ = 0;
  int32_t nanos_ = 0;
};

// Parses a quantity as k8s.io/apimachinery/pkg/api/resource/quantity.go does:
//
//   quantity ::= [+-] number suffix
//   number   ::= "" | digits | digits "." | digits "." digits | "." digits | "."
//   suffix   ::= "" | n u m k M G T P E | Ki Mi Gi Ti Pi Ei | (e|E) [+-] digits
//
// "1E" is one exa; an exponent must have digits. A number without a digit is 0, but an empty text
// is an error. Fractions of a nano-unit are rounded away from zero. Amounts of more than 2^63-1
// units become 2^63-1 units.
//
// The parser accepts every text that Kubernetes accepts. It differs from Kubernetes where the
// behaviour of Kubernetes is accidental:
// - Kubernetes refuses some texts without a digit, such as "Ei", and accepts "Gi" as 0.
// - Value() and MilliValue() saturate. Kubernetes limits only Ki..Ei to 2^63-1; for larger amounts
//   its int64 accessors return 0 or wrap around, MilliValue() already above 2^63/1000.
// - Negative amounts are rounded away from zero, no matter how many digits they have.
//
// Errors: kInvalidArgument with the text and what was expected.
Result<Quantity> ParseQuantity(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_API_QUANTITY_H_
