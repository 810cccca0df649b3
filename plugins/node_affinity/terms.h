// Node selector terms of a profile.
#ifndef BERTH_PLUGINS_NODE_AFFINITY_TERMS_H_
#define BERTH_PLUGINS_NODE_AFFINITY_TERMS_H_

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <berth/plugin.h>

#include "args.h"

namespace affinity {

using NodeTerms = berth::Span<const berth_node_term>;

// The terms of a profile, in the same form as the terms of a pod.
class ProfileTerms {
 public:
  ProfileTerms() = default;
  ProfileTerms(const ProfileTerms&) = delete;
  ProfileTerms& operator=(const ProfileTerms&) = delete;

  // Adds `term`. Its interned ids live as long as the plugin instance of `host`.
  // REQUIRES: Check() reported no error for `term`.
  void Add(const Term& term, int32_t weight, const berth::Host& host);

  NodeTerms terms() const { return NodeTerms(std::span(terms_)); }
  bool empty() const { return terms_.empty(); }

 private:
  berth_array Store(const std::vector<Requirement>& requirements, const berth::Host& host);

  std::vector<berth_node_term> terms_;
  // The arrays that terms_ points to. A deque does not move its elements when it grows.
  std::deque<std::vector<berth_requirement>> requirements_;
  std::deque<std::vector<berth_id>> values_;
};

}  // namespace affinity

#endif  // BERTH_PLUGINS_NODE_AFFINITY_TERMS_H_
