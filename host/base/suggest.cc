#include "host/base/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::host {
namespace {

constexpr size_t kMaxSuggestions = 3;

}  // namespace

size_t EditDistance(std::string_view a, std::string_view b) {
  // The distances from the first i characters of `a` to the first j characters of `b`.
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  std::vector<size_t> above(row.size());   // The row of i - 1.
  std::vector<size_t> before(row.size());  // The row of i - 2.
  for (size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::vector<std::string> NearMisses(std::string_view wanted, std::span<const std::string> names) {
  std::vector<std::pair<size_t, std::string_view>> near;
  const size_t limit = std::max<size_t>(1, wanted.size() / 3);
  for (const std::string& name : names) {
    const size_t longer = std::max(name.size(), wanted.size());
    const size_t shorter = std::min(name.size(), wanted.size());
    const bool part = !wanted.empty() && name.find(wanted) != std::string::npos;
    if (longer - shorter > limit && !part) continue;
    const size_t distance = EditDistance(wanted, name);
    if (distance <= limit || part) near.emplace_back(std::min(distance, limit), name);
  }
  const size_t count = std::min(near.size(), kMaxSuggestions);
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(count));
  std::vector<std::string> misses;
  for (size_t i = 0; i < count; ++i) misses.emplace_back(near[i].second);
  return misses;
}

std::string DidYouMean(std::string_view wanted, std::span<const std::string> names) {
  const auto misses = NearMisses(wanted, names);
  if (misses.empty()) return "";
  std::string text = "; did you mean ";
  for (size_t i = 0; i < misses.size(); ++i) {
    if (i > 0) text += i + 1 == misses.size() ? " or " : ", ";
    text += misses[i];
  }
  return text + "?";
}

}  // namespace berth::host
