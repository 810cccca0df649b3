// How arrays grow that have an element for every node or pod of a cluster.
#ifndef BERTH_HOST_BASE_GROWTH_H_
#define BERTH_HOST_BASE_GROWTH_H_

#include <algorithm>
#include <cstddef>

namespace berth::host {

// Returns the capacity, more than `capacity`, that an array of this capacity grows to when it is
// full: a quarter more, at least 64 elements. An array that doubles leaves a quarter of its memory
// unused on average, and half of it at worst; this one a tenth, and a fifth at worst. In return, to
// grow to n elements copies 4 n of them instead of n.
constexpr size_t GrownCapacity(size_t capacity) {
  return capacity + std::max<size_t>(64, capacity / 4);
}

// Makes room for one more element in each of these vectors.
template <class... Vectors>
void ReserveOneMore(Vectors&... vectors) {
  const auto reserve = [](auto& vector) {
    if (vector.size() == vector.capacity()) vector.reserve(GrownCapacity(vector.capacity()));
  };
  (reserve(vectors), ...);
}

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_GROWTH_H_
