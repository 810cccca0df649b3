// Changes one part of a pod and nothing else, to find out what a result depends on.
#ifndef BERTH_TESTING_PARTS_H_
#define BERTH_TESTING_PARTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/part_hash.h>
#include <berth/testing/pod_spec.h>

namespace berth::testing {

// Returns "LABELS" for BERTH_PART_LABELS.
std::string_view PartName(int part);

// Copies a part of `from` to `to`. What the part shares with another one (a request is in REQUESTS
// and in CONTAINERS) changes with it.
void CopyPart(int part, const PodSpec& from, PodSpec* to);

// Changes every value of the part, and adds one.
void ChangePart(int part, PodSpec* pod);

// Returns whether the pods differ in one of `parts` (BERTH_PART(..) | ..).
bool DifferIn(uint64_t parts, const PartHashes& a, const PartHashes& b);

struct Mutation {
  std::string how;  // "changed", "removed", "as in pod default/web"
  PodSpec pod;
  PartHashes hashes;
};

// Returns copies of `pod` in which `part` is changed, removed, and copied from each of `others`.
// Copies that do not differ are left out.
std::vector<Mutation> MutatePart(int part, const PodSpec& pod, std::span<const PodSpec> others);

// The mutations of one pod, each made once, when it is needed first. Holds no ids.
class MutatedPods {
 public:
  MutatedPods(PodSpec pod, std::span<const PodSpec> others)
      : pod_(std::move(pod)), hashes_(HashParts(pod_)), others_(others.begin(), others.end()) {}

  const PodSpec& pod() const { return pod_; }
  const PartHashes& hashes() const { return hashes_; }
  size_t others() const { return others_.size(); }
  const std::vector<Mutation>& Of(int part);

 private:
  const PodSpec pod_;
  const PartHashes hashes_;
  const std::vector<PodSpec> others_;
  std::array<std::optional<std::vector<Mutation>>, BERTH_PART_COUNT> of_part_;
};

// Returns the hashes of the parts of a view.
PartHashes HashesOf(const berth_pod& pod);

}  // namespace berth::testing

#endif  // BERTH_TESTING_PARTS_H_
