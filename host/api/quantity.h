// Kubernetes resource quantities, such as "100m", "1.5Gi" and "12e6".
#ifndef BERTH_HOST_API_QUANTITY_H_
#define BERTH_HOST_API_QUANTITY_H_

#include <string_view>

#include <berth/quantity.h>

#include "host/base/status.h"

namespace berth::host {

// An exact amount between -(2^63-1) and 2^63-1 units, in steps of one nano-unit. A value type.
using Quantity = ::berth::internal::ExactQuantity;

// Parses a quantity with ParseExactQuantity() of the SDK, which states the syntax and how it
// differs from Kubernetes.
// Errors: kInvalidArgument with the text and what was expected.
Result<Quantity> ParseQuantity(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_API_QUANTITY_H_
