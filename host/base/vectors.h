// Functions on vectors: how they grow, and how they are used as sets.
#ifndef BERTH_HOST_BASE_VECTORS_H_
#define BERTH_HOST_BASE_VECTORS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace berth::host {

// Returns the capacity, more than `capacity`, that an array with an element for every node or pod
// of a cluster grows to when it is full: a quarter more, at least 64 elements. An array that
// doubles leaves a quarter of its memory unused on average, and half of it at worst; this one a
// tenth, and a fifth at worst. In return, to grow to n elements copies 4 n of them instead of n.
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

// Sorts `values` in ascending order and removes values that occur more than once.
template <class T>
void SortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_VECTORS_H_
