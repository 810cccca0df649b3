#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/internal/selector_text.h>
#include <berth/names.h>
#include <berth/selectors.h>
#include <berth/testing/selector_reader.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing::internal {
namespace {

using berth::internal::TextRequirement;

bool IsObject(const ValueSpec* value) {
  return value != nullptr && value->kind == BERTH_VALUE_OBJECT;
}

uint32_t OperatorOf(const ValueSpec* text) {
  constexpr std::pair<const char*, uint32_t> kOperators[] = {
      {"In", BERTH_OP_IN},         {"NotIn", BERTH_OP_NOT_IN},
      {"Exists", BERTH_OP_EXISTS}, {"DoesNotExist", BERTH_OP_DOES_NOT_EXIST},
      {"Gt", BERTH_OP_GT},         {"Lt", BERTH_OP_LT}};
  for (const auto& [name, op] : kOperators) {
    if (text != nullptr && text->text == name) return op;
  }
  return 0;
}

}  // namespace

bool SelectorReader::Fail(std::string why) {
  if (error_.empty()) error_ = std::move(why);
  return false;
}

bool SelectorReader::AddLabels(const ValueSpec* labels, Requirements* requirements) {
  if (!IsObject(labels)) return Fail("expected a map of labels");
  for (size_t i = 0; i < labels->items.size(); ++i) {
    const ValueSpec& value = labels->items[i];
    if (value.kind != BERTH_VALUE_STRING) {
      return Fail("/" + labels->keys[i] + ": expected a string");
    }
    requirements->push_back({labels->keys[i], BERTH_OP_IN, {value.text}});
  }
  return true;
}

bool SelectorReader::AddExpressions(const ValueSpec* expressions, Requirements* requirements) {
  if (expressions->kind != BERTH_VALUE_ARRAY) return Fail("expected an array of expressions");
  for (const ValueSpec& expression : expressions->items) {
    if (!IsObject(&expression)) return Fail("expected an object as expression");
    const ValueSpec* const key = expression.Find("key");
    TextRequirement requirement{
        key != nullptr ? key->text : "", OperatorOf(expression.Find("operator")), {}};
    if (const ValueSpec* const values = expression.Find("values")) {
      for (const ValueSpec& value : values->items) {
        if (value.kind != BERTH_VALUE_STRING) return Fail("expected strings as values");
        requirement.values.push_back(value.text);
      }
    }
    requirements->push_back(std::move(requirement));
  }
  return true;
}

bool SelectorReader::Check(const TextRequirement& requirement, Place place) {
  const std::string key = "\"" + requirement.key + "\"";
  if (place == Place::kNodeFields) {
    const bool fits = requirement.op == BERTH_OP_IN || requirement.op == BERTH_OP_NOT_IN;
    if (fits && requirement.values.size() == 1 && requirement.key == "metadata.name") return true;
    return Fail("matchFields: expected metadata.name with operator In or NotIn and one value");
  }
  if (!IsQualifiedName(requirement.key)) return Fail(key + " is not a label key");
  for (const std::string& value : requirement.values) {
    if (IsLabelValue(value)) continue;
    std::string why = "\"";
    why.append(value).append("\", a value of key ").append(key).append(", is not a label value");
    return Fail(std::move(why));
  }
  const size_t count = requirement.values.size();
  switch (requirement.op) {
    case BERTH_OP_IN:
    case BERTH_OP_NOT_IN:
      return count > 0 || Fail("In and NotIn need values, but key " + key + " has none");
    case BERTH_OP_EXISTS:
    case BERTH_OP_DOES_NOT_EXIST:
      return count == 0 ||
             Fail("Exists and DoesNotExist have no values, but key " + key + " has some");
    case BERTH_OP_GT:
    case BERTH_OP_LT:
      if (place == Place::kLabels) break;
      return (count == 1 && berth::internal::ParseInt64(requirement.values[0]).ok) ||
             Fail("Gt and Lt need one integer, but key " + key + " has another value");
    default: break;
  }
  return Fail("key " + key + " has an operator that is not allowed here");
}

bool SelectorReader::Keep(const Requirements& requirements, Place place, berth_array* out) {
  std::vector<berth_requirement> kept;
  for (const TextRequirement& requirement : requirements) {
    if (!Check(requirement, place)) return false;
    std::vector<berth_id> values;
    for (const std::string& value : requirement.values) values.push_back(memory_.Intern(value));
    const bool compares = requirement.op == BERTH_OP_GT || requirement.op == BERTH_OP_LT;
    kept.push_back({memory_.Intern(requirement.key), requirement.op, memory_.Array(values),
                    compares ? berth::internal::ParseInt64(requirement.values[0]).value : 0});
  }
  *out = memory_.Array(kept);
  return true;
}

const berth_selector* SelectorReader::Make(const Requirements& requirements, Place place) {
  berth_selector selector{};
  selector.struct_size = sizeof selector;
  return Keep(requirements, place, &selector.requirements) ? memory_.One(selector) : nullptr;
}

const berth_selector* SelectorReader::FromValue(const ValueSpec* label_selector) {
  if (!IsObject(label_selector)) return Fail("expected an object"), nullptr;
  Requirements requirements;
  const ValueSpec* const labels = label_selector->Find("matchLabels");
  const ValueSpec* const expressions = label_selector->Find("matchExpressions");
  if (labels != nullptr && !AddLabels(labels, &requirements)) return nullptr;
  if (expressions != nullptr && !AddExpressions(expressions, &requirements)) return nullptr;
  return Make(requirements, Place::kLabels);
}

const berth_selector* SelectorReader::FromMap(const ValueSpec* labels) {
  Requirements requirements;
  return AddLabels(labels, &requirements) ? Make(requirements, Place::kLabels) : nullptr;
}

const berth_selector* SelectorReader::FromText(std::string_view text) {
  berth::internal::SelectorText parsed(text);
  if (!parsed.Read()) return Fail(parsed.error()), nullptr;
  return Make(parsed.requirements(), Place::kText);
}

const berth_node_selector* SelectorReader::FromNodeSelector(const ValueSpec* node_selector) {
  const ValueSpec* const given =
      IsObject(node_selector) ? node_selector->Find("nodeSelectorTerms") : nullptr;
  if (given == nullptr || given->items.empty()) {
    return Fail("expected nodeSelectorTerms with at least one term"), nullptr;
  }
  std::vector<berth_node_term> terms;
  for (const ValueSpec& one : given->items) {
    if (!IsObject(&one)) return Fail("expected an object as term"), nullptr;
    berth_node_term term{};
    Requirements expressions;
    Requirements fields;
    const ValueSpec* const labels = one.Find("matchExpressions");
    const ValueSpec* const names = one.Find("matchFields");
    if (labels != nullptr && !AddExpressions(labels, &expressions)) return nullptr;
    if (names != nullptr && !AddExpressions(names, &fields)) return nullptr;
    if (!Keep(expressions, Place::kNodeLabels, &term.expressions)) return nullptr;
    if (!Keep(fields, Place::kNodeFields, &term.fields)) return nullptr;
    terms.push_back(term);
  }
  berth_node_selector selector{};
  selector.struct_size = sizeof selector;
  selector.terms = memory_.Array(terms);
  return memory_.One(selector);
}

}  // namespace berth::testing::internal
