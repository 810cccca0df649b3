// Writes counts for people.
#ifndef BERTH_HOST_BASE_COUNT_TEXT_H_
#define BERTH_HOST_BASE_COUNT_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::host {

// Returns `number` with a comma between groups of three digits: "8,152".
std::string WithCommas(uint64_t number);

// Returns a count with its noun: "1 node", "1,204 nodes". The plural of `noun` ends in "s".
std::string CountOf(size_t count, std::string_view noun);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_COUNT_TEXT_H_
