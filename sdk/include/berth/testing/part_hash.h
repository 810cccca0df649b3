// Hashes each part of a pod by its content.
#ifndef BERTH_TESTING_PART_HASH_H_
#define BERTH_TESTING_PART_HASH_H_

#include <array>
#include <cstdint>
#include <string>

#include <berth/abi.h>
#include <berth/siphash.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/spec.h>

namespace berth::testing {

// The key of the fake host, for hashes of parts and berth_host.hash_key. It is the same in every
// test, so that a failure can be repeated.
inline constexpr HashKey kHashKey = {0x626572746820746b, 0x736970686173680a};

using PartHashes = std::array<uint64_t, BERTH_PART_COUNT>;

// Returns the source of a volume as in the views: the generated name for an ephemeral volume.
std::string VolumeSource(const PodSpec& pod, const VolumeSpec& volume);

// Returns the hashes, indexed by BERTH_PART_*.
PartHashes HashParts(const PodSpec& pod);

}  // namespace berth::testing

#endif  // BERTH_TESTING_PART_HASH_H_
