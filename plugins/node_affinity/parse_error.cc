#include "parse_error.h"

#include <cstddef>
#include <string_view>

#include <berth/names.h>

namespace affinity {
namespace {

constexpr std::string_view kPreferred =
    "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution";

std::string InQuotes(std::string_view text) { return "\"" + std::string(text) + "\""; }
std::string Index(std::size_t index) { return "[" + std::to_string(index) + "]"; }

// Explains one requirement.
class Explanation {
 public:
  Explanation(const berth_requirement& requirement, const berth::Host& host)
      : requirement_(requirement), values_(requirement.values), host_(host) {}

  // Returns "<field>: <what is wrong with it>" for an element of matchExpressions; empty if it is
  // right.
  std::string OfExpression() const {
    const std::string_view key = host_.Text(requirement_.key);
    if (!berth::IsQualifiedName(key)) {
      return Invalid("key", InQuotes(key),
                     "the key must be a qualified name, such as example.com/a");
    }
    std::string why = OfValues();
    for (std::size_t i = 0; i < values_.size() && why.empty(); ++i) {
      const std::string_view value = host_.Text(values_[i]);
      if (berth::IsLabelValue(value)) continue;
      why = Invalid("values" + Index(i), InQuotes(value),
                    "the value must be a valid label value: empty, or at most 63 letters, digits, "
                    "'-', '_' and '.' between a letter or digit at each end");
    }
    return why;
  }

  // Returns the same for an element of matchFields.
  std::string OfField() const {
    if (requirement_.op != BERTH_OP_IN && requirement_.op != BERTH_OP_NOT_IN) {
      return "operator: Unsupported value: " + InQuotes(OperatorName()) +
             ": supported values: \"In\", \"NotIn\"";
    }
    if (values_.size() != 1) return Invalid("values", ValueList(), "must have one element");
    const std::string_view key = host_.Text(requirement_.key);
    if (key == "metadata.name") return {};
    return "key: Unsupported value: " + InQuotes(key) + ": supported values: \"metadata.name\"";
  }

 private:
  static std::string Invalid(std::string_view field, std::string_view value, std::string_view why) {
    std::string text(field);
    return text.append(": Invalid value: ").append(value).append(": ").append(why);
  }

  // Checks the number of values, and whether those of Gt and Lt are integers.
  std::string OfValues() const {
    switch (requirement_.op) {
      case BERTH_OP_IN:
      case BERTH_OP_NOT_IN:
        if (!values_.empty()) return {};
        return Invalid("values", ValueList(),
                       "for 'in', 'notin' operators, values set can't be empty");
      case BERTH_OP_GT:
      case BERTH_OP_LT:
        if (values_.size() != 1) {
          return Invalid("values", ValueList(),
                         "for 'Gt', 'Lt' operators, exactly one value is required");
        }
        if (berth::internal::ParseInt64(host_.Text(values_[0])).ok) return {};
        return Invalid("values[0]", InQuotes(host_.Text(values_[0])),
                       "for 'Gt', 'Lt' operators, the value must be an integer");
      default:
        if (values_.empty()) return {};
        return Invalid("values", ValueList(),
                       "values set must be empty for exists and does not exist");
    }
  }

  std::string_view OperatorName() const {
    switch (requirement_.op) {
      case BERTH_OP_EXISTS: return "Exists";
      case BERTH_OP_DOES_NOT_EXIST: return "DoesNotExist";
      case BERTH_OP_GT: return "Gt";
      case BERTH_OP_LT: return "Lt";
      default: return "";
    }
  }

  // Returns the values as Go prints a []string with %#v.
  std::string ValueList() const {
    std::string text = "[]string{";
    for (const berth_id value : values_) {
      if (text.back() != '{') text += ", ";
      text += InQuotes(host_.Text(value));
    }
    return text + "}";
  }

  const berth_requirement& requirement_;
  const berth::Span<const berth_id> values_;
  const berth::Host& host_;
};

std::string WhyInvalid(const berth_node_term& term, const berth::Host& host) {
  const auto find = [&](std::string_view list, const berth_array& array, auto explain) {
    const berth::Span<const berth_requirement> requirements(array);
    for (std::size_t i = 0; i < requirements.size(); ++i) {
      const std::string why = (Explanation(requirements[i], host).*explain)();
      if (why.empty()) continue;
      const std::string key = InQuotes(host.Text(requirements[i].key));
      std::string text = ".";
      text.append(list).append(Index(i)).append(".").append(why);
      return text.append(" (key ").append(key).append(")");
    }
    return std::string();
  };
  std::string why = find("matchExpressions", term.expressions, &Explanation::OfExpression);
  if (why.empty()) why = find("matchFields", term.fields, &Explanation::OfField);
  return why.empty() ? ": a requirement could not be decoded" : why;
}

}  // namespace

std::string PreferredParseError(NodeTerms terms, const berth::Host& host) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if ((terms[i].flags & BERTH_SELECTOR_INVALID) == 0 || terms[i].weight == 0) continue;
    return std::string(kPreferred) + Index(i) + WhyInvalid(terms[i], host);
  }
  return {};
}

}  // namespace affinity
