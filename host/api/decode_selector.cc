#include <algorithm>
#include <charconv>
#include <string>

#include "host/api/decode_parts.h"
#include "host/api/selector.h"
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
  if (!IsLabelKey(interner.Text(requirement.key))) return key + " is not a label key";
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
  if (!IsLabelKey(interner.Text(requirement.key))) return false;
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

void NoteInvalid(Reader& reader, Owner owner, const berth_requirement& requirement, bool* valid) {
  *valid = false;
  if (!reader.invalid_selector.empty()) return;
  reader.invalid_selector = WhyInvalid(reader.interner(), owner, requirement);
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

bool ReadRequirement(Reader& reader, JsonValue& value, Owner owner,
                     berth_requirement* requirement) {
  return reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "key"_field: return reader.ReadId(v, &requirement->key);
      case "values"_field: return reader.ReadIds(v, &requirement->values);
      case "operator"_field: return ReadOperator(reader, v, owner, &requirement->op);
      default: return true;
    }
  });
}

// Appends the requirements to Reader::requirements. Sets `*valid` to false if one of them is
// invalid.
bool ReadRequirements(Reader& reader, JsonValue& value, Owner owner, bool* valid) {
  return reader.ForEachElement(value, [&](JsonValue& element) {
    berth_requirement requirement = {kEmptyId, 0, {nullptr, 0, sizeof(Id)}, 0};
    if (!ReadRequirement(reader, element, owner, &requirement)) return false;
    if (!IsValid(reader.interner(), owner, requirement)) {
      NoteInvalid(reader, owner, requirement, valid);
    }
    reader.requirements.Push(requirement);
    return true;
  });
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
    berth_requirement requirement = OneValue(reader, key, BERTH_OP_IN, label);
    if (!IsValidExpression(reader.interner(), requirement)) {
      NoteInvalid(reader, Owner::kLabelSelector, requirement, valid);
    }
    reader.requirements.Push(requirement);
    return true;
  });
}

bool Contains(std::span<const berth_requirement> requirements, Id key, uint32_t op, Id value) {
  for (const berth_requirement& requirement : requirements) {
    if (requirement.key == key && requirement.op == op && requirement.values.count == 1 &&
        Elements<Id>(requirement.values)[0] == value) {
      return true;
    }
  }
  return false;
}

bool HasKey(const berth_array& requirements, Id key) {
  return std::ranges::any_of(
      Elements<berth_requirement>(requirements),
      [key](const berth_requirement& requirement) { return requirement.key == key; });
}

void PushMerged(Reader& reader, const berth_array& pod_labels, const KeyMerge& merge,
                const berth_array& keys, uint32_t op, size_t mark) {
  for (const Id key : Elements<Id>(keys)) {
    const Id value = FindValue(pod_labels, key);
    if (value == kNoId) continue;
    if (merge.only_new_keys && HasKey(merge.selector->requirements, key)) continue;
    if (Contains(reader.requirements.Since(mark), key, op, value)) continue;
    reader.requirements.Push(OneValue(reader, key, op, value));
  }
}

}  // namespace

bool ReadLabelSelector(Reader& reader, JsonValue& value, berth_selector** selector) {
  const size_t mark = reader.requirements.size();
  bool valid = true;
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "matchLabels"_field: return ReadMatchLabels(reader, v, &valid);
      case "matchExpressions"_field:
        return ReadRequirements(reader, v, Owner::kLabelSelector, &valid);
      default: return true;
    }
  });
  if (!ok) return false;
  *selector = reader.arena().New<berth_selector>();
  (*selector)->struct_size = sizeof(berth_selector);
  (*selector)->flags = valid ? 0 : BERTH_SELECTOR_INVALID;
  (*selector)->requirements = AsArray(reader.requirements.Take(mark, reader.arena()));
  return true;
}

bool ReadNodeSelectorTerm(Reader& reader, JsonValue& value, berth_node_term* term) {
  bool valid = true;
  const auto read = [&](JsonValue& list, Owner owner, berth_array* out) {
    const size_t mark = reader.requirements.size();
    if (!ReadRequirements(reader, list, owner, &valid)) return false;
    *out = AsArray(reader.requirements.Take(mark, reader.arena()));
    return true;
  };
  const bool ok = reader.ForEachField(value, [&](const Field& field, JsonValue& v) {
    switch (field.hash) {
      case "matchExpressions"_field: return read(v, Owner::kNodeExpression, &term->expressions);
      case "matchFields"_field: return read(v, Owner::kNodeField, &term->fields);
      default: return true;
    }
  });
  term->flags = valid ? 0 : BERTH_SELECTOR_INVALID;
  return ok;
}

berth_selector* MakeSelector(Reader& reader,
                             std::span<const internal::TextRequirement> requirements) {
  const size_t mark = reader.requirements.size();
  bool valid = true;
  for (const internal::TextRequirement& one : requirements) {
    const size_t ids = reader.id_list.size();
    for (const std::string& value : one.values) reader.id_list.Push(reader.Intern(value));
    berth_requirement requirement = {reader.Intern(one.key), one.op,
                                     AsArray(reader.id_list.Take(ids, reader.arena())), 0};
    // A text may have the operators Gt and Lt, which a LabelSelector may not.
    if (!IsValid(reader.interner(), Owner::kNodeExpression, requirement)) {
      NoteInvalid(reader, Owner::kNodeExpression, requirement, &valid);
    }
    reader.requirements.Push(requirement);
  }
  auto* const selector = reader.arena().New<berth_selector>();
  selector->struct_size = sizeof(berth_selector);
  selector->flags = valid ? 0 : BERTH_SELECTOR_INVALID;
  selector->requirements = AsArray(reader.requirements.Take(mark, reader.arena()));
  return selector;
}

void MergeKeys(Reader& reader, const berth_array& pod_labels, const KeyMerge& merge) {
  if (merge.selector == nullptr) return;
  const size_t mark = reader.requirements.size();
  for (const berth_requirement& requirement :
       Elements<berth_requirement>(merge.selector->requirements)) {
    reader.requirements.Push(requirement);
  }
  PushMerged(reader, pod_labels, merge, merge.match, BERTH_OP_IN, mark);
  PushMerged(reader, pod_labels, merge, merge.mismatch, BERTH_OP_NOT_IN, mark);
  merge.selector->requirements = AsArray(reader.requirements.Take(mark, reader.arena()));
}

}  // namespace berth::host
