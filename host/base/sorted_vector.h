// A vector that is used as a set.
#ifndef BERTH_HOST_BASE_SORTED_VECTOR_H_
#define BERTH_HOST_BASE_SORTED_VECTOR_H_

#include <algorithm>
#include <vector>

namespace berth::host {

// Sorts `values` in ascending order and removes values that occur more than once.
template <class T>
void SortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_SORTED_VECTOR_H_
