#include "terms.h"

namespace affinity {
namespace {

template <class T>
berth_array ArrayOf(const std::vector<T>& items) {
  return {items.data(), static_cast<uint32_t>(items.size()), sizeof(T)};
}

}  // namespace

void ProfileTerms::Add(const Term& term, int32_t weight, const berth::Host& host) {
  terms_.push_back({0, weight, Store(term.expressions, host), Store(term.fields, host)});
}

berth_array ProfileTerms::Store(const std::vector<Requirement>& requirements,
                                const berth::Host& host) {
  std::vector<berth_requirement>& kept = requirements_.emplace_back();
  for (const Requirement& requirement : requirements) {
    std::vector<berth_id>& values = values_.emplace_back();
    for (const std::string& value : requirement.values) values.push_back(host.Intern(value));
    const bool compares = requirement.op == Operator::kGt || requirement.op == Operator::kLt;
    const int64_t number =
        compares ? berth::internal::ParseInt64(requirement.values.front()).value : 0;
    kept.push_back({host.Intern(requirement.key), static_cast<uint32_t>(requirement.op),
                    ArrayOf(values), number});
  }
  return ArrayOf(kept);
}

}  // namespace affinity
