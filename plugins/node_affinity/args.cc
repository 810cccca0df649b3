#include "args.h"

#include <cstddef>
#include <string_view>

#include <berth/names.h>
#include <berth/selectors.h>

namespace affinity {
namespace {

std::string At(const std::string& path, std::size_t index) {
  return path + "/" + std::to_string(index);
}

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

// Checks the number of values for each operator.
// apimachinery: pkg/labels/selector.go, NewRequirement.
void CheckCount(const Requirement& requirement, const std::string& path, berth::ArgErrors& errors) {
  const std::size_t count = requirement.values.size();
  const std::string found = ", found " + std::to_string(count);
  switch (requirement.op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (count == 0) {
        errors.Add(path + "/values", "for In and NotIn, values must not be empty");
      }
      return;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (count != 0) {
        errors.Add(path + "/values", "for Exists and DoesNotExist, values must be empty" + found);
      }
      return;
    default:
      if (count != 1) {
        errors.Add(path + "/values", "for Gt and Lt, exactly one value is required" + found);
      }
  }
}

void CheckExpression(const Requirement& requirement, const std::string& path,
                     berth::ArgErrors& errors) {
  if (!berth::IsQualifiedName(requirement.key)) {
    errors.Add(path + "/key", "expected a label's key, such as example.com/tier, found " +
                                  Quoted(requirement.key));
  }
  CheckCount(requirement, path, errors);
  const bool compares = requirement.op == Operator::kGt || requirement.op == Operator::kLt;
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const std::string& value = requirement.values[i];
    if (compares && !berth::internal::ParseInt64(value).ok) {
      errors.Add(At(path + "/values", i),
                 "for Gt and Lt, expected an integer, found " + Quoted(value));
    } else if (!berth::IsLabelValue(value)) {
      errors.Add(At(path + "/values", i), "expected a label's value, found " + Quoted(value));
    }
  }
}

// Accepts only metadata.name. kube-scheduler accepts any key here, but a node has no other field
// that can be selected.
// component-helpers: scheduling/corev1/nodeaffinity, nodeSelectorRequirementsAsFieldSelector.
void CheckField(const Requirement& requirement, const std::string& path, berth::ArgErrors& errors) {
  if (requirement.key != "metadata.name") {
    errors.Add(path + "/key", "expected \"metadata.name\", found " + Quoted(requirement.key));
  }
  if (requirement.op != Operator::kIn && requirement.op != Operator::kNotIn) {
    errors.Add(path + "/operator", "for a field, expected In or NotIn");
  }
  if (requirement.values.size() != 1) {
    errors.Add(path + "/values", "for a field, exactly one value is required, found " +
                                     std::to_string(requirement.values.size()));
  }
}

void CheckTerm(const Term& term, const std::string& path, berth::ArgErrors& errors) {
  for (std::size_t i = 0; i < term.expressions.size(); ++i) {
    CheckExpression(term.expressions[i], At(path + "/matchExpressions", i), errors);
  }
  for (std::size_t i = 0; i < term.fields.size(); ++i) {
    CheckField(term.fields[i], At(path + "/matchFields", i), errors);
  }
}

}  // namespace

void Check(const Args& args, berth::ArgErrors& errors) {
  const AddedAffinity& added = args.added_affinity;
  const std::string required =
      "/addedAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
  for (std::size_t i = 0; i < added.required.terms.size(); ++i) {
    CheckTerm(added.required.terms[i], At(required, i), errors);
  }
  const std::string preferred = "/addedAffinity/preferredDuringSchedulingIgnoredDuringExecution";
  for (std::size_t i = 0; i < added.preferred.size(); ++i) {
    CheckTerm(added.preferred[i].preference, At(preferred, i) + "/preference", errors);
  }
}

}  // namespace affinity
