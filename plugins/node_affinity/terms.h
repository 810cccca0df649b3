// Node selector terms: those of the profile, and any as tests on columns.
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

// The terms of a profile in the form in which pods have theirs.
class OwnTerms {
 public:
  OwnTerms() = default;
  OwnTerms(const OwnTerms&) = delete;
  OwnTerms& operator=(const OwnTerms&) = delete;

  // REQUIRES: Check() found no error. The ids live as long as the instance of `host`.
  void Add(const Term& term, int32_t weight, const berth::Host& host);

  NodeTerms terms() const { return NodeTerms(std::span(terms_)); }
  bool empty() const { return terms_.empty(); }

 private:
  berth_array Keep(const std::vector<Requirement>& requirements, const berth::Host& host);

  std::vector<berth_node_term> terms_;
  // What the terms point to; stays where it is.
  std::deque<std::vector<berth_requirement>> requirements_;
  std::deque<std::vector<berth_id>> values_;
};

// Terms as tests on columns: what berth::Matches says of one node object, for many nodes.
//
// Lifetime: that of the terms, and of the cycle in which they were bound.
class BoundTerms {
 public:
  // Binds a column for each key. Terms that match no node, being empty or unreadable, are left out.
  // Errors: those of Cycle::Bind.
  void Bind(NodeTerms terms, berth::Cycle& cycle, const berth::Host& host);

  // One of them matches.
  template <class Node>
  bool MatchAny(const Node& node, const berth::Host& host) const {
    const Test* test = tests_.data();
    for (const Part& part : parts_) {
      if (AllHold(test, part.tests, node, host)) return true;
      test += part.tests;
    }
    return false;
  }

  // The sum of the weights of those that match.
  template <class Node>
  int64_t SumWeights(const Node& node, const berth::Host& host) const {
    int64_t sum = 0;
    const Test* test = tests_.data();
    for (const Part& part : parts_) {
      if (AllHold(test, part.tests, node, host)) sum += part.weight;
      test += part.tests;
    }
    return sum;
  }

 private:
  struct Test {
    berth::ColumnRef<berth_id> column;
    const berth_requirement* requirement;
  };
  // One term: its weight, and how many of the tests are its own.
  struct Part {
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
  std::vector<Part> parts_;
};

}  // namespace affinity

#endif  // BERTH_PLUGINS_NODE_AFFINITY_TERMS_H_
