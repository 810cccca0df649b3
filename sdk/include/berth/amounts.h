// Amounts of resources: finds one by its name.
#ifndef BERTH_AMOUNTS_H_
#define BERTH_AMOUNTS_H_

#include <cstddef>
#include <cstdint>

#include <berth/abi.h>
#include <berth/span.h>

namespace berth {

// Returns the amount of a resource other than cpu, memory and ephemeral storage, or 0 if
// `resources` does not contain it.
inline int64_t FindAmount(const berth_resources& resources, berth_id name) {
  const Span<const berth_quantity> scalars(resources.scalars);  // Sorted by name id.
  std::size_t low = 0;
  std::size_t high = scalars.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (scalars[middle].name < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < scalars.size() && scalars[low].name == name ? scalars[low].value : 0;
}

}  // namespace berth

#endif  // BERTH_AMOUNTS_H_
