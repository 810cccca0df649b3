#include <algorithm>
#include <charconv>
#include <string>

#include <berth/internal/selector_text.h>
#include <berth/names.h>

#include "host/api/decode_parts.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

constexpr EnumValue kOperators[] = {
    {"In", BERTH_OP_IN},         {"NotIn", BERTH_OP_NOT_IN},
    {"Exists", BERTH_OP_EXISTS}, {"DoesNotExist", BERTH_OP_DOES_NOT_EXIST},
    {"Gt", BERTH_OP_GT},         {"Lt", BERTH_OP_LT}};

// The construct that contains a requirement. Each has its own validation rules.
enum class Owner { kLabelSelector, kNodeExpression, kNodeField };

uint32_t FindOperator(std::string_view text) {
  for (const EnumValue& candidate : kOperators) {
    if (candidate.text == text) return candidate.number;
  }
  return 0;
}

// Parses an integer as Go's strconv.ParseInt(text, 10, 64) does. ParseInt also accepts a leading
// "+", but no label value begins with it.
bool ParseInt64(std::string_view text, int64_t* number) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && at == end;
}

// Returns a reason for messages why the requirement is invalid.
std::string WhyInvalid(const Interner& interner, Owner owner,
                       const berth_requirement& requirement) {
  const std::string key = Quoted(interner.Text(requirement.key));
  if (owner == Owner::kNodeField) {
    return "matchFields: expected metadata.name with operator In or NotIn and one value, found "
           "key " +
           key;
  }
  if (!IsQualifiedName(interner.Text(requirement.key))) return key + " is not a label key";
  for (const Id value : Elements<Id>(requirement.values)) {
    if (IsLabelValue(interner.Text(value))) continue;
    return Quoted(interner.Text(value)) + ", a value of key " + key + ", is not a label value";
  }
  switch (requirement.op) {
    case BERTH_OP_IN:
    case BERTH_OP_NOT_IN:
      return "the operators In and NotIn need values, but key " + key + " has none";
    case BERTH_OP_EXISTS:
    case BERTH_OP_DOES_NOT_EXIST:
      return "the operators Exists and DoesNotExist have no values, but key " + key + " has some";
    case BERTH_OP_GT:
    case BERTH_OP_LT:
      if (owner != Owner::kLabelSelector) {
        return "the operators Gt and Lt need one integer, but key " + key + " has another value";
      }
      break;
    default: break;
  }
  return "key " + key + " has an operator other than In, NotIn, Exists and DoesNotExist";
}

// Validates a requirement on a label and parses the number of Gt and Lt. Kubernetes: NewRequirement
// in apimachinery/pkg/labels/selector.go.
bool IsValidExpression(const Interner& interner, berth_requirement& requirement) {
  const auto values = Elements<Id>(requirement.values);
  if (!IsQualifiedName(interner.Text(requirement.key))) return false;
  for (const Id value : values) {
    if (!IsLabelValue(interner.Text(value))) return false;
  }
  switch (requirement.op) {
    case BERTH_OP_IN:
    case BERTH_OP_NOT_IN: return !values.empty();
    case BERTH_OP_EXISTS:
    case BERTH_OP_DOES_NOT_EXIST: return values.empty();
    case BERTH_OP_GT:
    case BERTH_OP_LT:
      return values.size() == 1 && ParseInt64(interner.Text(values[0]), &requirement.number);
    default: return false;
  }
}

// Validates a requirement on a field. The only field of a node that can be selected is its name.
// Kubernetes: nodeSelectorRequirementsAsFieldSelector in
// component-helpers/scheduling/corev1/nodeaffinity.
bool IsValidField(const Interner& interner, const berth_requirement& requirement) {
  const bool has_operator = requirement.op == BERTH_OP_IN || requirement.op == BERTH_OP_NOT_IN;
  return has_operator && requirement.values.count == 1 &&
         interner.Text(requirement.key) == "metadata.name";
}

bool IsValid(const Interner& interner, Owner owner, berth_requirement& requirement) {
  if (owner == Owner::kNodeField) return IsValidField(interner, requirement);
  const bool compares = requirement.op == BERTH_OP_GT || requirement.op == BERTH_OP_LT;
  if (compares && owner == Owner::kLabelSelector) return false;
  return IsValidExpression(interner, requirement);
}

// Pushes the requirement to the stack of the reader. Sets `*valid` to false if it is invalid.
void Push(Reader& reader, Owner owner, berth_requirement requirement, bool* valid) {
  if (!IsValid(reader.interner(), owner, requirement)) {
    *valid = false;
    if (reader.problems.invalid_selector().empty()) {
      reader.problems.SetInvalidSelector(WhyInvalid(reader.interner(), owner, requirement));
    }
  }
  reader.stack<berth_requirement>().Push(requirement);
}

// Reads an operator. An unknown operator of a label selector makes the selector invalid, as in
// Kubernetes; an unknown operator of a node selector term is an error.
bool ReadOperator(Reader& reader, JsonValue& value, Owner owner, uint32_t* op) {
  if (owner != Owner::kLabelSelector) return reader.ReadEnum(value, kOperators, op);
  std::string_view text;
  if (!reader.ReadText(value, &text)) return false;
  *op = FindOperator(text);
  return true;
}

// Pushes the requirements to the stack of the reader. Sets `*valid` to false if one is invalid.
bool ReadRequirements(Reader& reader, JsonValue& value, Owner owner, bool* valid) {
  return reader.ForEachElement(value, [&](JsonValue& element) {
    berth_requirement requirement = {kEmptyId, 0, {nullptr, 0, sizeof(Id)}, 0};
    const bool ok = reader.ForEachField(element, [&](const Field& field, JsonValue& v) {
      switch (field.hash) {
        case "key"_field: return reader.ReadId(v, &requirement.key);
        case "values"_field: return reader.ReadIds(v, &requirement.values);
        case "operator"_field: return ReadOperator(reader, v, owner, &requirement.op);
        default: return true;
      }
    });
    if (ok) Push(reader, owner, requirement, valid);
    return ok;
  });
}

berth_array TakeRequirements(Reader& reader, size_t mark) {
  return AsArray(reader.stack<berth_requirement>().Take(mark, reader.arena()));
}

// Makes a selector of the requirements on the stack above `mark`.
berth_selector* TakeSelector(Reader& reader, size_t mark, bool valid) {
  auto* const selector = reader.arena().New<berth_selector>();
  selector->struct_size = sizeof(berth_selector);
  selector->flags = valid ? 0 : BERTH_SELECTOR_INVALID;
  selector->requirements = TakeRequirements(reader, mark);
  return selector;
}

berth_requirement OneValue(Reader& reader, Id key, uint32_t op, Id value) {
  const Id values[] = {value};
  return {key, op, AsArray(reader.arena().CopyArray(std::span<const Id>(values))), 0};
}

bool ReadMatchLabels(Reader& reader, JsonValue& value, bool* valid) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& text) {
    const Id key = reader.Intern(field.name);
    Id label = kNoId;
    if (!reader.ReadId(text, &label)) return false;
    Push(reader, Owner::kLabelSelector, OneValue(reader, key, BERTH_OP_IN, label), valid);
    return true;
  });
}

// Pushes requirements for those of `keys` that the pod has as labels.
void PushMerged(Reader& reader, const berth_array& pod_labels, const KeyMerge& merge,
                const berth_array& keys, uint32_t op, size_t mark) {
  Stack<berth_requirement>& requirements = reader.stack<berth_requirement>();
  for (const Id key : Elements<Id>(keys)) {
    const Id value = FindValue(pod_labels, key);
    if (value == kNoId) continue;
    const auto is_of_key = [&](const berth_requirement& known) { return known.key == key; };
    const auto is_same = [&](const berth_requirement& known) {
      return known.key == key && known.op == op && known.values.count == 1 &&
             Elements<Id>(known.values)[0] == value;
    };
    if (merge.only_new_keys &&
        std::ranges::any_of(Elements<berth_requirement>(merge.selector->requirements), is_of_key)) {
      continue;
    }
    if (std::ranges::any_of(requirements.Since(mark), is_same)) continue;
    requirements.Push(OneValue(reader, key, op, value));
  }
}

// ---- Affinity, spreading and tolerations --------------------------------------------------------

constexpr EnumValue kTolerationOperators[] = {{"Equal", BERTH_TOLERATION_EQUAL},
                                              {"Exists", BERTH_TOLERATION_EXISTS},
                                              {"Gt", BERTH_TOLERATION_GT},
                                              {"Lt", BERTH_TOLERATION_LT}};
constexpr EnumValue kEffects[] = {{"NoSchedule", BERTH_EFFECT_NO_SCHEDULE},
                                  {"PreferNoSchedule", BERTH_EFFECT_PREFER_NO_SCHEDULE},
                                  {"NoExecute", BERTH_EFFECT_NO_EXECUTE}};
constexpr EnumValue kWhenUnsatisfiable[] = {{"DoNotSchedule", BERTH_DO_NOT_SCHEDULE},
                                            {"ScheduleAnyway", BERTH_SCHEDULE_ANYWAY}};
constexpr EnumValue kPolicies[] = {{"Honor", BERTH_POLICY_HONOR}, {"Ignore", BERTH_POLICY_IGNORE}};

bool ReadNodeTerm(Reader& reader, JsonValue& value, berth_node_term* term) {
  bool valid = true;
  const size_t problems = reader.problems.count();
  const auto read = [&](JsonValue& list, Owner owner, berth_array* requirements) {
    const size_t mark = reader.stack<berth_requirement>().size();
    if (!ReadRequirements(reader, list, owner, &valid)) return false;
    *requirements = TakeRequirements(reader, mark);
    return true;
  };
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "matchExpressions"_field: return read(v, Owner::kNodeExpression, &term->expressions);
      case "matchFields"_field: return read(v, Owner::kNodeField, &term->fields);
      default: return true;
    }
  });
  valid = valid && reader.problems.count() == problems;
  term->flags = valid ? 0 : BERTH_SELECTOR_INVALID;
  return ok;
}

bool ReadPreferredNodeTerms(Reader& reader, JsonValue& value, berth_array* terms) {
  return reader.ReadObjects(value, berth_node_term{}, terms,
                            [&](const Field& field, JsonValue& v, berth_node_term& term) {
                              switch (field.hash) {
                                case "weight"_field: return reader.ReadInt32(v, &term.weight);
                                case "preference"_field: return ReadNodeTerm(reader, v, &term);
                                default: return true;
                              }
                            });
}

bool ReadNodeAffinity(Reader& reader, JsonValue& value, berth_affinity* affinity) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "requiredDuringSchedulingIgnoredDuringExecution"_field:
        affinity->has_required_node_terms = 1;
        return reader.ForEachField(v, [&](const Field& inner, JsonValue& terms) {
          if (inner.hash != "nodeSelectorTerms"_field) return true;
          return ReadNodeTerms(reader, terms, &affinity->required_node_terms);
        });
      case "preferredDuringSchedulingIgnoredDuringExecution"_field:
        return ReadPreferredNodeTerms(reader, v, &affinity->preferred_node_terms);
      default: return true;
    }
  });
}

bool ReadPodTerm(Reader& reader, JsonValue& value, berth_pod_term* term, Stack<KeyMerge>* merges) {
  KeyMerge merge;
  merge.only_new_keys = true;
  berth_selector* namespaces = nullptr;
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "labelSelector"_field: return ReadLabelSelector(reader, v, &merge.selector);
      case "namespaceSelector"_field: return ReadLabelSelector(reader, v, &namespaces);
      case "namespaces"_field: return reader.ReadIds(v, &term->namespaces);
      case "topologyKey"_field: return reader.ReadName(v, &term->topology_key);
      case "matchLabelKeys"_field: return reader.ReadIds(v, &merge.match);
      case "mismatchLabelKeys"_field: return reader.ReadIds(v, &merge.mismatch);
      default: return true;
    }
  });
  term->selector = merge.selector;
  term->namespace_selector = namespaces;
  if (merge.match.count + merge.mismatch.count != 0) merges->Push(merge);
  return ok;
}

bool ReadPodTerms(Reader& reader, JsonValue& value, berth_array* terms, Stack<KeyMerge>* merges) {
  return reader.ReadList(value, berth_pod_term{}, terms,
                         [&](JsonValue& element, berth_pod_term& term) {
                           return ReadPodTerm(reader, element, &term, merges);
                         });
}

bool ReadPreferredPodTerms(Reader& reader, JsonValue& value, berth_array* terms,
                           Stack<KeyMerge>* merges) {
  return reader.ReadObjects(value, berth_pod_term{}, terms,
                            [&](const Field& field, JsonValue& v, berth_pod_term& term) {
                              switch (field.hash) {
                                case "weight"_field: return reader.ReadInt32(v, &term.weight);
                                case "podAffinityTerm"_field:
                                  return ReadPodTerm(reader, v, &term, merges);
                                default: return true;
                              }
                            });
}

bool ReadPodAffinity(Reader& reader, JsonValue& value, berth_array* required,
                     berth_array* preferred, Stack<KeyMerge>* merges) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "requiredDuringSchedulingIgnoredDuringExecution"_field:
        return ReadPodTerms(reader, v, required, merges);
      case "preferredDuringSchedulingIgnoredDuringExecution"_field:
        return ReadPreferredPodTerms(reader, v, preferred, merges);
      default: return true;
    }
  });
}

bool ReadSpread(Reader& reader, JsonValue& value, berth_spread* spread, Stack<KeyMerge>* merges) {
  KeyMerge merge;
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "maxSkew"_field: return reader.ReadInt32(v, &spread->max_skew);
      case "topologyKey"_field: return reader.ReadName(v, &spread->topology_key);
      case "whenUnsatisfiable"_field:
        return reader.ReadEnum(v, kWhenUnsatisfiable, &spread->when_unsatisfiable);
      case "labelSelector"_field: return ReadLabelSelector(reader, v, &merge.selector);
      case "minDomains"_field: return reader.ReadInt32(v, &spread->min_domains);
      case "nodeAffinityPolicy"_field:
        return reader.ReadEnum(v, kPolicies, &spread->node_affinity_policy);
      case "nodeTaintsPolicy"_field:
        return reader.ReadEnum(v, kPolicies, &spread->node_taints_policy);
      case "matchLabelKeys"_field: return reader.ReadIds(v, &merge.match);
      default: return true;
    }
  });
  if (spread->node_affinity_policy == 0) spread->node_affinity_policy = BERTH_POLICY_HONOR;
  if (spread->node_taints_policy == 0) spread->node_taints_policy = BERTH_POLICY_IGNORE;
  spread->selector = merge.selector;
  if (merge.match.count != 0) merges->Push(merge);
  return ok;
}

}  // namespace

bool ReadLabelSelector(Reader& reader, JsonValue& value, berth_selector** selector) {
  const size_t mark = reader.stack<berth_requirement>().size();
  const size_t problems = reader.problems.count();
  bool valid = true;
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "matchLabels"_field: return ReadMatchLabels(reader, v, &valid);
      case "matchExpressions"_field:
        return ReadRequirements(reader, v, Owner::kLabelSelector, &valid);
      default: return true;
    }
  });
  // Without a requirement that cannot be read, the selector would match more than it should.
  valid = valid && reader.problems.count() == problems;
  if (ok) *selector = TakeSelector(reader, mark, valid);
  return ok;
}

bool ReadNodeTerms(Reader& reader, JsonValue& value, berth_array* terms) {
  return reader.ReadList(value, berth_node_term{}, terms,
                         [&](JsonValue& element, berth_node_term& term) {
                           return ReadNodeTerm(reader, element, &term);
                         });
}

berth_selector* MakeSelector(Reader& reader,
                             std::span<const internal::TextRequirement> requirements) {
  const size_t mark = reader.stack<berth_requirement>().size();
  bool valid = true;
  Stack<Id>& values = reader.stack<Id>();
  for (const internal::TextRequirement& one : requirements) {
    const size_t ids = values.size();
    for (const std::string& value : one.values) values.Push(reader.Intern(value));
    // A text may have the operators Gt and Lt, which a LabelSelector may not.
    Push(reader, Owner::kNodeExpression,
         {reader.Intern(one.key), one.op, AsArray(values.Take(ids, reader.arena())), 0}, &valid);
  }
  return TakeSelector(reader, mark, valid);
}

void MergeKeys(Reader& reader, const berth_array& pod_labels, const KeyMerge& merge) {
  if (merge.selector == nullptr) return;
  Stack<berth_requirement>& requirements = reader.stack<berth_requirement>();
  const size_t mark = requirements.size();
  for (const auto& known : Elements<berth_requirement>(merge.selector->requirements)) {
    requirements.Push(known);
  }
  PushMerged(reader, pod_labels, merge, merge.match, BERTH_OP_IN, mark);
  PushMerged(reader, pod_labels, merge, merge.mismatch, BERTH_OP_NOT_IN, mark);
  merge.selector->requirements = TakeRequirements(reader, mark);
}

bool ReadAffinity(Reader& reader, JsonValue& value, berth_affinity* affinity,
                  Stack<KeyMerge>* merges) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "nodeAffinity"_field: return ReadNodeAffinity(reader, v, affinity);
      case "podAffinity"_field:
        return ReadPodAffinity(reader, v, &affinity->required_pod_terms,
                               &affinity->preferred_pod_terms, merges);
      case "podAntiAffinity"_field:
        return ReadPodAffinity(reader, v, &affinity->required_pod_anti_terms,
                               &affinity->preferred_pod_anti_terms, merges);
      default: return true;
    }
  });
}

bool ReadSpreads(Reader& reader, JsonValue& value, berth_array* spreads, Stack<KeyMerge>* merges) {
  berth_spread initial = {};
  initial.min_domains = 1;
  return reader.ReadList(value, initial, spreads, [&](JsonValue& element, berth_spread& spread) {
    return ReadSpread(reader, element, &spread, merges);
  });
}

bool ReadEffect(Reader& reader, JsonValue& value, uint32_t* effect) {
  return reader.ReadEnum(value, kEffects, effect);
}

bool ReadTolerations(Reader& reader, JsonValue& value, berth_array* tolerations) {
  constexpr berth_toleration kInitial = {kNoId, kEmptyId, 0, 0, -1};
  return reader.ReadList(
      value, kInitial, tolerations, [&](JsonValue& element, berth_toleration& toleration) {
        const bool ok = reader.ForEachField(element, [&](const Field& field, JsonValue& v) {
          switch (field.hash) {
            case "key"_field: return reader.ReadName(v, &toleration.key);
            case "value"_field: return reader.ReadId(v, &toleration.value);
            case "operator"_field: return reader.ReadEnum(v, kTolerationOperators, &toleration.op);
            case "effect"_field: return ReadEffect(reader, v, &toleration.effect);
            case "tolerationSeconds"_field:
              // A negative value means the same as 0: evict immediately.
              if (!reader.ReadInt64(v, &toleration.seconds)) return false;
              toleration.seconds = std::max<int64_t>(toleration.seconds, 0);
              return true;
            default: return true;
          }
        });
        if (toleration.op == 0) toleration.op = BERTH_TOLERATION_EQUAL;
        return ok;
      });
}

}  // namespace berth::host
