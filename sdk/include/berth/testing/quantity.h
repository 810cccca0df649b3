// Amounts of resources in a test's notation: "500m", "1.5Gi", 4.
#ifndef BERTH_TESTING_QUANTITY_H_
#define BERTH_TESTING_QUANTITY_H_

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include <berth/abi.h>

namespace berth::testing {

// Reports a mistake in the test itself and ends the process.
[[noreturn]] void Misuse(const std::string& text);

// Amounts by resource name, in the resource's integer unit: thousandths for "cpu", the plain number
// for others.
using Amounts = std::map<std::string, int64_t>;

namespace internal {

// Returns a + b, limited to 2^63-1. REQUIRES: a and b are 0 or more.
constexpr int64_t AddAmounts(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace internal

// Returns the amount of resource `name` that `text` specifies, in the resource's unit, rounded up
// and limited to 2^63-1.
// A text that berth::ParseQuantity does not accept, or that is negative, ends the test.
int64_t ParseAmount(std::string_view name, std::string_view text);

}  // namespace berth::testing

#endif  // BERTH_TESTING_QUANTITY_H_
