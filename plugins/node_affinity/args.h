// The arguments of NodeAffinity.
// kube-scheduler: pkg/scheduler/apis/config/types_pluginargs.go,
// validation/validation_pluginargs.go
#ifndef BERTH_PLUGINS_NODE_AFFINITY_ARGS_H_
#define BERTH_PLUGINS_NODE_AFFINITY_ARGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/args.h>

namespace affinity {

enum class Operator : uint32_t {
  kIn = BERTH_OP_IN,
  kNotIn = BERTH_OP_NOT_IN,
  kExists = BERTH_OP_EXISTS,
  kDoesNotExist = BERTH_OP_DOES_NOT_EXIST,
  kGt = BERTH_OP_GT,
  kLt = BERTH_OP_LT,
};

struct Requirement {
  std::string key;
  Operator op = Operator::kIn;
  std::vector<std::string> values;

  static constexpr auto kArgs = berth::ArgRows<Requirement>(
      berth::Arg("key", &Requirement::key, berth::kRequired,
                 "A label key in matchExpressions, `metadata.name` in matchFields."),
      berth::Arg(
          "operator", &Requirement::op, berth::kRequired,
          berth::Names{berth::Name{"In", Operator::kIn}, berth::Name{"NotIn", Operator::kNotIn},
                       berth::Name{"Exists", Operator::kExists},
                       berth::Name{"DoesNotExist", Operator::kDoesNotExist},
                       berth::Name{"Gt", Operator::kGt}, berth::Name{"Lt", Operator::kLt}},
          "How the node's value is compared with `values`."),
      berth::Arg(
          "values", &Requirement::values,
          "The values: none for Exists and DoesNotExist, exactly one for Gt, Lt and matchFields."));
};

struct Term {
  std::vector<Requirement> expressions;
  std::vector<Requirement> fields;

  static constexpr auto kArgs =
      berth::ArgRows<Term>(berth::Arg("matchExpressions", &Term::expressions,
                                      "Requirements on node labels. All must be met."),
                           berth::Arg("matchFields", &Term::fields,
                                      "Requirements on `metadata.name`. All must be met."));
};

struct NodeSelector {
  std::vector<Term> terms;

  static constexpr auto kArgs = berth::ArgRows<NodeSelector>(
      berth::Arg("nodeSelectorTerms", &NodeSelector::terms, berth::kRequired, berth::Items{1},
                 "A node must match at least one term. An empty term matches no node."));
};

struct PreferredTerm {
  int32_t weight = 0;
  Term preference;

  static constexpr auto kArgs = berth::ArgRows<PreferredTerm>(
      berth::Arg("weight", &PreferredTerm::weight, berth::kRequired, berth::Range{0, 100},
                 "Added to the score of a node that matches. A term with weight 0 has no effect."),
      berth::Arg("preference", &PreferredTerm::preference, berth::kRequired,
                 "A term like those of nodeSelectorTerms."));
};

struct AddedAffinity {
  NodeSelector required;
  std::vector<PreferredTerm> preferred;

  static constexpr auto kArgs = berth::ArgRows<AddedAffinity>(
      berth::Arg("requiredDuringSchedulingIgnoredDuringExecution", &AddedAffinity::required,
                 "Nodes that do not match are rejected."),
      berth::Arg("preferredDuringSchedulingIgnoredDuringExecution", &AddedAffinity::preferred,
                 "Preferred terms. A node that matches a term scores higher."));
};

struct Args {
  AddedAffinity added_affinity;
};

inline constexpr auto kArgRows = berth::ArgRows<Args>(berth::Arg(
    "addedAffinity", &Args::added_affinity,
    "Node affinity that applies to every pod of the profile, in addition to the pod's own."));

// Checks the rules that kArgRows cannot express and adds every violation to `errors`.
void Check(const Args& args, berth::ArgErrors& errors);

}  // namespace affinity

#endif  // BERTH_PLUGINS_NODE_AFFINITY_ARGS_H_
