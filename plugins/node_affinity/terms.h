// Node selector terms: the terms of a profile, and terms that are evaluated on columns.
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

// Evaluates terms on columns, with the same results as berth::Matches has for one node object.
//
// Lifetime: valid while the terms live and during the cycle in which they were bound.
class BoundTerms {
 public:
  // Binds a column for each key. Leaves out empty terms and terms that do not parse: they match no
  // node. Errors: those of Cycle::Bind.
  void Bind(NodeTerms terms, berth::Cycle& cycle, const berth::Host& host);

  // Returns whether at least one term matches `node`.
  template <class Node>
  bool MatchAny(const Node& node, const berth::Host& host) const {
    const Test* test = tests_.data();
    for (const BoundTerm& term : bound_) {
      if (AllHold(test, term.tests, node, host)) return true;
      test += term.tests;
    }
    return false;
  }

  // Returns the sum of the weights of the terms that match `node`.
  template <class Node>
  int64_t SumWeights(const Node& node, const berth::Host& host) const {
    int64_t sum = 0;
    const Test* test = tests_.data();
    for (const BoundTerm& term : bound_) {
      if (AllHold(test, term.tests, node, host)) sum += term.weight;
      test += term.tests;
    }
    return sum;
  }

 private:
  struct Test {
    berth::ColumnRef<berth_id> column;
    const berth_requirement* requirement;
  };
  // One term: its weight, and the number of consecutive entries of tests_ that belong to it.
  struct BoundTerm {
    uint32_t tests;
    int32_t weight;
  };

  template <class Node>
  static bool AllHold(const Test* test, uint32_t count, const Node& node, const berth::Host& host) {
    for (uint32_t i = 0; i < count; ++i) {
      if (!berth::Matches(*test[i].requirement, node.Get(test[i].column), host)) return false;
    }
    return true;
  }

  std::vector<Test> tests_;
  std::vector<BoundTerm> bound_;
};

}  // namespace affinity

#endif  // BERTH_PLUGINS_NODE_AFFINITY_TERMS_H_
