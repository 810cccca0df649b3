// Node selectors on columns: evaluate the node selection of a pod for many nodes. They have the
// same results as the functions of selectors.h, which look up the labels of one node object, and
// cost a fraction of them for each node.
#ifndef BERTH_NODE_TERMS_H_
#define BERTH_NODE_TERMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/cycle.h>
#include <berth/host.h>
#include <berth/nodes.h>
#include <berth/pod.h>
#include <berth/selectors.h>
#include <berth/span.h>

namespace berth {

// Terms of node affinity.
//
// Lifetime: valid while the terms live and during the cycle in which they were bound.
class BoundTerms {
 public:
  // Binds a column for each key. Leaves out empty terms and terms that could not be parsed: they
  // match no node.
  // Called: from PreFilter and PreScore only. Errors: those of Cycle::Bind.
  void Bind(Span<const berth_node_term> terms, Cycle& cycle, const Host& host) {
    tests_.clear();
    bound_.clear();
    for (const berth_node_term& term : terms) {
      const uint32_t count = term.expressions.count + term.fields.count;
      if (count == 0 || (term.flags & BERTH_SELECTOR_INVALID) != 0) continue;
      for (const berth_requirement& field : Span<const berth_requirement>(term.fields)) {
        tests_.push_back({cycle.Bind<berth_id>("name"), &field});
      }
      for (const berth_requirement& label : Span<const berth_requirement>(term.expressions)) {
        const std::string column = "label:" + std::string(host.Text(label.key));
        tests_.push_back({cycle.Bind<berth_id>(column), &label});
      }
      bound_.push_back({count, term.weight});
    }
  }

  // Returns whether at least one term matches `node`, a NodeRow.
  template <class Node>
  bool MatchAny(const Node& node, const Host& host) const {
    const Test* test = tests_.data();
    for (const BoundTerm& term : bound_) {
      if (AllHold(test, term.tests, node, host)) return true;
      test += term.tests;
    }
    return false;
  }

  // Returns the sum of the weights of the terms that match `node`.
  template <class Node>
  int64_t SumWeights(const Node& node, const Host& host) const {
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
    ColumnRef<berth_id> column;
    const berth_requirement* requirement;
  };
  // One term: its weight, and the number of consecutive entries of tests_ that belong to it.
  struct BoundTerm {
    uint32_t tests;
    int32_t weight;
  };

  template <class Node>
  static bool AllHold(const Test* test, uint32_t count, const Node& node, const Host& host) {
    for (uint32_t i = 0; i < count; ++i) {
      if (!berth::Matches(*test[i].requirement, node.Get(test[i].column), host)) return false;
    }
    return true;
  }

  std::vector<Test> tests_;
  std::vector<BoundTerm> bound_;
};

// The node selection of a pod: its nodeSelector and its required node affinity.
//
// Lifetime: as BoundTerms; the pod must live as long.
class BoundNodeSelection {
 public:
  // Called: from PreFilter and PreScore only. Errors: those of Cycle::Bind.
  void Bind(const Pod& pod, Cycle& cycle, const Host& host) {
    labels_.clear();
    for (const berth_id_pair& label : pod.node_selector()) {
      // TryBind: a key that is not a valid label key has no column, and no node has such a label.
      const std::string column = "label:" + std::string(host.Text(label.key));
      labels_.push_back({cycle.TryBind<berth_id>(column), label.value});
    }
    has_terms_ = pod.affinity().has_required_node_terms != 0;
    terms_.Bind(Span<const berth_node_term>(pod.affinity().required_node_terms), cycle, host);
  }

  // Returns true if the pod selects every node.
  bool empty() const { return labels_.empty() && !has_terms_; }
  // Returns whether the pod selects `node`, a NodeRow: see MatchesNodeSelection().
  template <class Node>
  bool Matches(const Node& node, const Host& host) const {
    bool selected = true;
    for (const SelectedLabel& label : labels_) selected &= node.Get(label.column) == label.value;
    return selected && (!has_terms_ || terms_.MatchAny(node, host));
  }

 private:
  // One label that the nodeSelector requires.
  struct SelectedLabel {
    ColumnRef<berth_id> column;
    berth_id value;
  };

  std::vector<SelectedLabel> labels_;
  BoundTerms terms_;
  bool has_terms_ = false;
};

}  // namespace berth

#endif  // BERTH_NODE_TERMS_H_
