// What a profile may say to NodeAffinity.
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
      berth::Arg("key", &Requirement::key, berth::kRequired, "A label's key, or `metadata.name`."),
      berth::Arg(
          "operator", &Requirement::op, berth::kRequired,
          berth::Names{berth::Name{"In", Operator::kIn}, berth::Name{"NotIn", Operator::kNotIn},
                       berth::Name{"Exists", Operator::kExists},
                       berth::Name{"DoesNotExist", Operator::kDoesNotExist},
                       berth::Name{"Gt", Operator::kGt}, berth::Name{"Lt", Operator::kLt}},
          "How the value is compared."),
      berth::Arg("values", &Requirement::values,
                 "For Exists and DoesNotExist none, for Gt, Lt and fields one."));
};

struct Term {
  std::vector<Requirement> expressions;
  std::vector<Requirement> fields;

  static constexpr auto kArgs = berth::ArgRows<Term>(
      berth::Arg("matchExpressions", &Term::expressions, "Of labels; all of them hold."),
      berth::Arg("matchFields", &Term::fields, "Of `metadata.name`; all of them hold."));
};

struct NodeSelector {
  std::vector<Term> terms;

  static constexpr auto kArgs = berth::ArgRows<NodeSelector>(
      berth::Arg("nodeSelectorTerms", &NodeSelector::terms, berth::kRequired, berth::Items{1},
                 "One of them matches; an empty one matches no node."));
};

struct PreferredTerm {
  int32_t weight = 0;
  Term preference;

  static constexpr auto kArgs = berth::ArgRows<PreferredTerm>(
      berth::Arg("weight", &PreferredTerm::weight, berth::kRequired, berth::Range{0, 100},
                 "What a node that matches gets; 0 makes the term idle."),
      berth::Arg("preference", &PreferredTerm::preference, berth::kRequired,
                 "As one of nodeSelectorTerms."));
};

struct AddedAffinity {
  NodeSelector required;
  std::vector<PreferredTerm> preferred;

  static constexpr auto kArgs = berth::ArgRows<AddedAffinity>(
      berth::Arg("requiredDuringSchedulingIgnoredDuringExecution", &AddedAffinity::required,
                 "Other nodes are rejected."),
      berth::Arg("preferredDuringSchedulingIgnoredDuringExecution", &AddedAffinity::preferred,
                 "Nodes that match are preferred."));
};

struct Args {
  AddedAffinity added_affinity;
};

inline constexpr auto kArgRows =
    berth::ArgRows<Args>(berth::Arg("addedAffinity", &Args::added_affinity,
                                    "Node affinity of all pods of the profile, beside their own."));

// What the rows cannot say.
void Check(const Args& args, berth::ArgErrors& errors);

}  // namespace affinity

#endif  // BERTH_PLUGINS_NODE_AFFINITY_ARGS_H_
