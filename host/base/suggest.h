// What somebody may have meant.
#ifndef BERTH_HOST_BASE_SUGGEST_H_
#define BERTH_HOST_BASE_SUGGEST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

// How many characters must be inserted, removed or replaced, or neighbours swapped, to get from `a`
// to `b`.
size_t EditDistance(std::string_view a, std::string_view b);

// Up to three of `names` that resemble `wanted`, the nearest first, equals sorted: at most a third
// of its characters differ, or it is a part of the name.
std::vector<std::string> NearMisses(std::string_view wanted, std::span<const std::string> names);

// "; did you mean a, b or c?"; empty when there is nothing to suggest.
std::string DidYouMean(std::string_view wanted, std::span<const std::string> names);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_SUGGEST_H_
