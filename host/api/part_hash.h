// The parts of a pod as numbers: what lets the host treat pods of one shape as one.
#ifndef BERTH_HOST_API_PART_HASH_H_
#define BERTH_HOST_API_PART_HASH_H_

#include <cstdint>

#include <berth/abi.h>

#include "host/base/interner.h"

namespace berth::host {

// The hash of what part BERTH_PART_`part` of `pod` holds: equal parts, equal hashes, in every
// process. It is made of texts, not of ids, so that an id that is given out anew changes nothing.
// Order matters where the API's does (containers, terms, tolerations), and does not where it has
// none (labels, node selectors).
// `pod.meta` must be set; its ids are those of `interner`.
uint64_t HashPart(const berth_pod& pod, uint32_t part, const Interner& interner);

// Writes HashPart() of each part whose bit is set in `parts` (BERTH_PART) to hashes[part].
void HashParts(const berth_pod& pod, uint64_t parts, const Interner& interner,
               uint64_t hashes[BERTH_PART_COUNT]);

inline constexpr uint64_t kAllParts = (uint64_t{1} << BERTH_PART_COUNT) - 1;

}  // namespace berth::host

#endif  // BERTH_HOST_API_PART_HASH_H_
