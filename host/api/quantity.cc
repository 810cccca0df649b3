#include "host/api/quantity.h"

#include <string>

namespace berth::host {

Result<Quantity> ParseQuantity(std::string_view text) {
  const ::berth::internal::QuantityOrError read = ::berth::internal::ParseExactQuantity(text);
  if (read.expected == nullptr) return read.amount;
  return Status::InvalidArgument(
      std::string("quantity \"").append(text).append("\": expected ").append(read.expected));
}

}  // namespace berth::host
