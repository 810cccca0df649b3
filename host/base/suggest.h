// Suggestions for misspelled names.
#ifndef BERTH_HOST_BASE_SUGGEST_H_
#define BERTH_HOST_BASE_SUGGEST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

// Returns the number of edits that turn `a` into `b`. An edit inserts, removes or replaces one
// character, or swaps two adjacent characters.
size_t EditDistance(std::string_view a, std::string_view b);

// Returns up to three of `names` that resemble `wanted`: their edit distance is at most a third of
// the length of `wanted` (at least 1), or they contain `wanted`. The nearest names come first;
// equally near names are sorted.
std::vector<std::string> NearMisses(std::string_view wanted, std::span<const std::string> names);

// Returns a text such as "; did you mean a, b or c?"; empty if no name resembles `wanted`.
std::string DidYouMean(std::string_view wanted, std::span<const std::string> names);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_SUGGEST_H_
