// Counts how many times the pods on nodes use each claim.
#ifndef BERTH_PLUGINS_VOLUME_RESTRICTIONS_CLAIMS_IN_USE_H_
#define BERTH_PLUGINS_VOLUME_RESTRICTIONS_CLAIMS_IN_USE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <berth/changes.h>
#include <berth/pod.h>

namespace restrictions {

// Follows the changes of the node table. A pod counts only while its node exists.
//
// Threading: OnChange: as for the extension point Changes; Count: [cycle].
class ClaimsInUse {
 public:
  void OnChange(const berth::Change& change);

  // Returns how many volumes of pods on nodes use the claim.
  // REQUIRES: `ns` is the namespace id of a live pod.
  int64_t Count(berth_id ns, std::string_view claim) const;

 private:
  struct Claim {
    berth_id ns = BERTH_ID_NONE;  // Kept alive by the counted pods.
    std::string name;

    friend bool operator==(const Claim&, const Claim&) = default;
  };
  struct ClaimView {
    berth_id ns;
    std::string_view name;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(const ClaimView& claim) const {
      return std::hash<std::string_view>()(claim.name) ^ claim.ns * size_t{0x9e3779b97f4a7c15};
    }
    size_t operator()(const Claim& claim) const { return (*this)(ClaimView{claim.ns, claim.name}); }
  };
  struct Equal {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return a.ns == b.ns && a.name == b.name;
    }
  };
  using Counts = std::unordered_map<Claim, int64_t, Hash, Equal>;
  struct Row {
    bool has_node = false;
    Counts claims;  // The number of claim volumes of the pods on the node.
  };

  void AddPod(Row& row, const berth::Pod& pod);
  void RemovePod(Row& row, const berth::Pod& pod);
  void SetNode(Row& row, bool has_node);
  static void AddTo(Counts& counts, const Claim& claim, int64_t change);

  std::unordered_map<uint32_t, Row> rows_;
  Counts counts_;
};

}  // namespace restrictions

#endif  // BERTH_PLUGINS_VOLUME_RESTRICTIONS_CLAIMS_IN_USE_H_
