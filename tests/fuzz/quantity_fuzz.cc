// Fuzzes the parser of quantities: checks the sign, the order and the bounds of parsed values.
#include <cstdint>
#include <limits>
#include <string_view>

#include "host/api/quantity.h"
#include "host/base/assert.h"

namespace berth::host {
namespace {

int32_t SignOf(int64_t number) { return (number > 0) - (number < 0); }

void Run(std::string_view text) {
  const Result<Quantity> parsed = ParseQuantity(text);
  if (!parsed.ok()) return;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const int64_t value = parsed->Value();
  const int64_t milli = parsed->MilliValue();
  BERTH_ASSERT(SignOf(value) == parsed->Sign() && SignOf(milli) == parsed->Sign());
  BERTH_ASSERT(value >= -kMax && milli >= -kMax);
  BERTH_ASSERT((parsed->Sign() >= 0 && milli >= value) || (parsed->Sign() < 0 && milli <= value));
  const bool saturated = milli == kMax || milli == -kMax;
  BERTH_ASSERT(saturated || milli / 1000 == parsed->units() || milli / 1000 == value);
  BERTH_ASSERT(*parsed == *parsed && !(*parsed < *parsed));
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
