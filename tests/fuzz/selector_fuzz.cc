// Fuzzes the decoding of selectors: a selector that is decoded as valid has valid requirements, so
// that matching need not check them.
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include <berth/names.h>

#include "host/api/decode.h"
#include "host/base/assert.h"

namespace berth::host {
namespace {

bool IsNumber(std::string_view text, int64_t expected) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number == expected;
}

void CheckRequirements(const Interner& interner, const berth_array& requirements, bool labels) {
  for (const auto& requirement : Elements<berth_requirement>(requirements)) {
    const auto values = Elements<Id>(requirement.values);
    BERTH_ASSERT(!labels || IsQualifiedName(interner.Text(requirement.key)));
    for (const Id value : values) BERTH_ASSERT(!labels || IsLabelValue(interner.Text(value)));
    switch (requirement.op) {
      case BERTH_OP_IN:
      case BERTH_OP_NOT_IN: BERTH_ASSERT(!values.empty()); break;
      case BERTH_OP_EXISTS:
      case BERTH_OP_DOES_NOT_EXIST: BERTH_ASSERT(values.empty()); break;
      case BERTH_OP_GT:
      case BERTH_OP_LT:
        BERTH_ASSERT(values.size() == 1);
        BERTH_ASSERT(IsNumber(interner.Text(values[0]), requirement.number));
        break;
      default: BERTH_ASSERT(false);
    }
  }
}

void CheckNodeTerms(const Interner& interner, const berth_array& terms) {
  for (const auto& term : Elements<berth_node_term>(terms)) {
    if ((term.flags & BERTH_SELECTOR_INVALID) != 0) continue;
    CheckRequirements(interner, term.expressions, true);
    CheckRequirements(interner, term.fields, false);
  }
}

void CheckSelector(const Interner& interner, const berth_selector* selector) {
  if (selector == nullptr || (selector->flags & BERTH_SELECTOR_INVALID) != 0) return;
  CheckRequirements(interner, selector->requirements, true);
}

void CheckPodTerms(const Interner& interner, const berth_array& terms) {
  for (const auto& term : Elements<berth_pod_term>(terms)) {
    CheckSelector(interner, term.selector);
    CheckSelector(interner, term.namespace_selector);
  }
}

// Decodes a pod with `text` as its affinity and as the label selector of a spread constraint.
void Run(std::string_view text) {
  static Interner interner;
  static Decoder decoder(interner);
  std::string json = R"({"metadata":{"name":"p","labels":{"a":"1","b":""}},"spec":{"affinity":)";
  json.append(text).append(R"(,"topologySpreadConstraints":[{"labelSelector":)");
  json.append(text).append(R"(,"matchLabelKeys":["a","b","c"]}]}})");
  const Result<PodRef> pod = decoder.DecodePod(json);
  if (!pod.ok()) return;
  const berth_affinity& affinity = *(*pod)->view().affinity;
  CheckNodeTerms(interner, affinity.required_node_terms);
  CheckNodeTerms(interner, affinity.preferred_node_terms);
  CheckPodTerms(interner, affinity.required_pod_terms);
  CheckPodTerms(interner, affinity.preferred_pod_terms);
  CheckPodTerms(interner, affinity.required_pod_anti_terms);
  CheckPodTerms(interner, affinity.preferred_pod_anti_terms);
  for (const auto& spread : Elements<berth_spread>((*pod)->view().spreads)) {
    CheckSelector(interner, spread.selector);
  }
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
