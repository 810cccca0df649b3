// The service berth.selectors/1.
#include <string>

#include <berth/selectors.h>

#include "host/api/value.h"
#include "host/runtime/services/plugin_owned.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// Calls `read` with a decoder and stores the selector that it returns in *out, or adds the reason
// of an error to the status. `read` passes a value as JSON, so that its selector is decoded and
// validated like one of an object.
template <class T, class Read>
berth_code ReadSelector(const berth_host* host, PluginOwned<T> ParsedSelectors::*owned,
                        const T** out, berth_status* status, const Read& read) {
  Status error;
  {
    const HostUse instance(host);
    if (!instance) return BERTH_CANCELLED;
    if (out == nullptr) return BERTH_BAD_ARGUMENT;
    Decoder decoder = DecoderForOne(instance->context().interner);
    Result<Parsed<T>> parsed = read(decoder);
    if (parsed.ok()) {
      *out = (StateOf<ParsedSelectors>(*instance).*owned).Add(std::move(parsed).value());
      return BERTH_SUCCESS;
    }
    error = std::move(parsed).status();
  }
  AddReason(status, error);  // Calls the plugin, so that no HostUse may exist.
  return BERTH_BAD_ARGUMENT;
}

berth_code FromValue(const berth_host* host, const berth_value* value, const berth_selector** out,
                     berth_status* status) noexcept {
  return ReadSelector(host, &ParsedSelectors::labels, out, status,
                      [&](Decoder& decoder) { return decoder.DecodeLabelSelector(JsonOf(value)); });
}

berth_code FromMap(const berth_host* host, const berth_value* labels, const berth_selector** out,
                   berth_status* status) noexcept {
  return ReadSelector(
      host, &ParsedSelectors::labels, out, status,
      [&](Decoder& decoder) -> Result<Parsed<berth_selector>> {
        if (ValuesService()->kind(labels) != BERTH_VALUE_OBJECT) {
          return Status::InvalidArgument("expected a map of labels");
        }
        return decoder.DecodeLabelSelector("{\"matchLabels\":" + JsonOf(labels) + "}");
      });
}

berth_code FromText(const berth_host* host, berth_str text, const berth_selector** out,
                    berth_status* status) noexcept {
  return ReadSelector(host, &ParsedSelectors::labels, out, status,
                      [&](Decoder& decoder) { return decoder.DecodeSelectorText(Text(text)); });
}

berth_code FromNodeSelector(const berth_host* host, const berth_value* value,
                            const berth_node_selector** out, berth_status* status) noexcept {
  return ReadSelector(host, &ParsedSelectors::nodes, out, status,
                      [&](Decoder& decoder) { return decoder.DecodeNodeSelector(JsonOf(value)); });
}

int32_t MatchesLabels(const berth_host* host, const berth_selector* selector,
                      berth_array labels) noexcept {
  const HostUse instance(host);
  if (!instance) return 0;
  return berth::Matches(selector, berth::Labels(labels), instance->context().interner) ? 1 : 0;
}

int32_t MatchesNode(const berth_host* host, const berth_node_selector* selector,
                    const berth_node* node) noexcept {
  const HostUse instance(host);
  if (!instance || node == nullptr) return 0;
  return berth::Matches(selector, *node, instance->context().interner) ? 1 : 0;
}

template <class T>
void Release(const berth_host* host, PluginOwned<T> ParsedSelectors::*owned, const T* selector) {
  const HostUse instance(host);
  if (!instance || selector == nullptr) return;
  if ((StateOf<ParsedSelectors>(*instance).*owned).Release(selector)) return;
  instance->NoteFaultAtCurrentPoint(
      "releases a selector that berth.selectors/1 did not return, or that was released before");
}

void ReleaseLabels(const berth_host* host, const berth_selector* selector) noexcept {
  Release(host, &ParsedSelectors::labels, selector);
}

void ReleaseNodes(const berth_host* host, const berth_node_selector* selector) noexcept {
  Release(host, &ParsedSelectors::nodes, selector);
}

constexpr berth_selectors kSelectors{
    sizeof(berth_selectors), 0,           FromValue,     FromMap,     FromText, FromNodeSelector,
    MatchesLabels,           MatchesNode, ReleaseLabels, ReleaseNodes};

}  // namespace

ServiceInfo SelectorsService() {
  return {.id = BERTH_SERVICE_SELECTORS,
          .functions = &kSelectors,
          .create_state = CreateState<ParsedSelectors>,
          .lifetime = StateLifetime::kReadByPlugin};
}

}  // namespace berth::host
