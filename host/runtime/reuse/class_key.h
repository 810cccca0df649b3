// Classes of pods: which answers of plugins may be reused for which pods.
//
// Two pods are in one class if everything that the answers of the plugins depend on is equal: the
// parts of the pod that the plugins declare (berth_dependence.pod_parts), their signatures, and
// which plugins take part.
#ifndef BERTH_HOST_RUNTIME_REUSE_CLASS_KEY_H_
#define BERTH_HOST_RUNTIME_REUSE_CLASS_KEY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/plan/plan.h"
#include "host/runtime/attempt/attempt.h"

namespace berth::host {

// How long an answer of a plugin for a class and a node stays valid.
enum class Reuse : uint8_t {
  kNever,  // For one cycle.
  kRow,    // Until the row changes: it depends on the node and its pods alone.
  kToken,  // Until the row changes, or `changed` of the plugin names it. Only verdicts.
};

// A plugin that takes part at Filter or Score in one attempt.
struct ClassUse {
  PlannedUse use;
  Reuse reuse;

  bool operator==(const ClassUse& other) const {
    return use.plugin == other.use.plugin && reuse == other.reuse;
  }
};

// The identity of a class at one extension point. Keys are compared word by word, so that two
// classes are mixed up only if two keyed hashes of 64 bits are equal.
class ClassKey {
 public:
  // Makes the key of Filter after PreFilter, or the key of Score after PreScore. Calls `sign` of
  // the plugins that have it. REQUIRES: `point` is Point::kFilter or Point::kScore.
  ClassKey(Attempt& attempt, Point point);

  // The plugins that take part, in the order of the profile.
  const std::vector<ClassUse>& uses() const { return uses_; }
  // Returns whether answers of at least one plugin can be reused.
  bool CanReuse() const;
  size_t hash() const { return hash_; }
  bool operator==(const ClassKey& other) const {
    return words_ == other.words_ && uses_ == other.uses_;
  }
  size_t bytes() const {
    return words_.capacity() * sizeof(uint64_t) + uses_.capacity() * sizeof(ClassUse);
  }

 private:
  // Appends the signature of the plugin, if it has one. Returns false if the plugin has none for
  // this attempt: its answers are not reused.
  bool AddSignature(PluginCycle& cycle, Point point);

  std::vector<ClassUse> uses_;
  // The signatures and the hashes of added reasons, in the order of the plugins; then the hashes of
  // the parts.
  std::vector<uint64_t> words_;
  size_t hash_ = 0;
};

// Returns the dependence that the plugin declares at Filter or Score; null if it declares none.
const berth_dependence* DependenceAt(const PlannedPlugin& plugin, Point point);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_CLASS_KEY_H_
