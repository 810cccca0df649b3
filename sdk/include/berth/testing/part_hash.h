// Hashes each part of a pod by its content.
#ifndef BERTH_TESTING_PART_HASH_H_
#define BERTH_TESTING_PART_HASH_H_

#include <array>
#include <cstdint>
#include <string>

#include <berth/abi.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/spec.h>

namespace berth::testing {

using PartHashes = std::array<uint64_t, BERTH_PART_COUNT>;

// Returns the source of a volume as in the views: the generated name for an ephemeral volume.
std::string VolumeSource(const PodSpec& pod, const VolumeSpec& volume);

// Returns the hashes, indexed by BERTH_PART_*.
PartHashes HashParts(const PodSpec& pod);

}  // namespace berth::testing

#endif  // BERTH_TESTING_PART_HASH_H_
