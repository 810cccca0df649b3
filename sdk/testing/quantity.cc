#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <berth/quantity.h>
#include <berth/testing/quantity.h>

namespace berth::testing {

void Misuse(const std::string& text) {
  std::fprintf(stderr, "berth::testing: %s\n", text.c_str());
  std::abort();
}

int64_t ParseAmount(std::string_view name, std::string_view text) {
  const berth::internal::QuantityOrError read = berth::internal::ParseExactQuantity(text);
  const auto reject = [&](const std::string& why) {
    Misuse("\"" + std::string(text) + "\" is not a quantity: " + why);
  };
  if (read.expected != nullptr) reject("expected " + std::string(read.expected));
  if (read.amount.Sign() < 0) reject("expected 0 or more");
  return name == "cpu" ? read.amount.MilliValue() : read.amount.Value();
}

}  // namespace berth::testing
