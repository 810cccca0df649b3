// Hashes of the parts of a pod. With them the host recognises pods that have equal parts.
#ifndef BERTH_HOST_API_PART_HASH_H_
#define BERTH_HOST_API_PART_HASH_H_

#include <cstdint>
#include <span>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/interner.h"

namespace berth::host {

// Returns the hash of part BERTH_PART_`part` of `pod`, with the key of `interner`. Equal parts have
// equal hashes for equal keys. The hash is computed from texts, not from ids, so that it does not
// change when a text gets a different id. The order of elements counts where it counts in the API
// (containers, terms, tolerations), and does not count for maps (labels, node selectors).
// Every member of a part is in its hash, because pods share the memory of parts with equal hashes
// (shared_parts.h).
// REQUIRES: `pod.meta` is set; the ids of the pod are ids of `interner`.
uint64_t HashPart(const berth_pod& pod, uint32_t part, const Interner& interner);

// Writes HashPart() of each part whose bit is set in `parts`, a mask of BERTH_PART bits, to
// hashes[part]. REQUIRES: `hashes` has an element for the highest of these parts.
void HashParts(const berth_pod& pod, uint64_t parts, const Interner& interner, uint64_t* hashes);

inline constexpr uint64_t kAllParts = (uint64_t{1} << BERTH_PART_COUNT) - 1;
inline constexpr uint64_t kOwnParts = (uint64_t{1} << BERTH_OWN_PARTS) - 1;

// Returns the hashes of the parts below BERTH_OWN_PARTS.
OwnPartHashes OwnHashes(const PartHashes& hashes);
// Returns the hashes of all other parts.
inline std::span<const uint64_t> OtherHashes(const PartHashes& hashes) {
  return std::span(hashes).subspan<BERTH_OWN_PARTS>();
}

}  // namespace berth::host

#endif  // BERTH_HOST_API_PART_HASH_H_
