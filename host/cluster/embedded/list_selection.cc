#include "host/cluster/embedded/list_selection.h"

#include <algorithm>
#include <utility>

#include <berth/selectors.h>

#include "host/base/text.h"
#include "host/cluster/client.h"

namespace berth::host {
namespace {

std::string_view PhaseText(uint32_t phase) {
  switch (phase) {
    case BERTH_PHASE_RUNNING: return "Running";
    case BERTH_PHASE_SUCCEEDED: return "Succeeded";
    case BERTH_PHASE_FAILED: return "Failed";
    case BERTH_PHASE_UNKNOWN: return "Unknown";
    default: return "Pending";  // An API server sets the phase of a pod that has none.
  }
}

// Returns the value of a field; nullopt if objects of this kind are not selected by it.
std::optional<std::string_view> FieldOf(const AnyObject& object, std::string_view field) {
  const ObjectBase& base = Base(object);
  if (field == "metadata.name") return base.name();
  if (field == "metadata.namespace" && !std::holds_alternative<NodeRef>(object)) return base.ns();
  if (const auto* pod = std::get_if<PodRef>(&object)) {
    if (field == "spec.nodeName") return (*pod)->node_name();
    if (field == "spec.schedulerName") return (*pod)->scheduler_name();
    if (field == "status.phase") return PhaseText((*pod)->view().phase);
    if (field == "status.nominatedNodeName") return (*pod)->nominated_node();
  }
  if (const auto* node = std::get_if<NodeRef>(&object);
      node != nullptr && field == "spec.unschedulable") {
    return (*node)->view().unschedulable != 0 ? "true" : "false";
  }
  return std::nullopt;
}

bool HasField(std::string_view kind, std::string_view field) {
  constexpr std::string_view kPodFields[] = {"spec.nodeName", "spec.schedulerName", "status.phase",
                                             "status.nominatedNodeName"};
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return kind != kNodeKind;
  if (kind == kNodeKind) return field == "spec.unschedulable";
  return kind == kPodKind && std::ranges::find(kPodFields, field) != std::end(kPodFields);
}

}  // namespace

Status ListSelection::AddLabels(std::string_view text, Decoder& decoder) {
  Result<Parsed<berth_selector>> selector = decoder.DecodeSelectorText(text);
  if (!selector.ok()) return selector.status().Annotate("unable to parse the label selector");
  labels_.push_back(std::move(selector).value());
  return {};
}

Status ListSelection::AddFields(std::string_view text) {
  while (!text.empty()) {
    const std::string_view term = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), term.size() + 1));
    if (term.empty()) continue;
    const size_t at = term.find('=');
    if (at == std::string_view::npos) {
      return Status::InvalidArgument(
          "unable to parse the field selector: expected =, == or != in " + Quoted(term));
    }
    const bool is_equal = at == 0 || term[at - 1] != '!';
    const std::string_view field = term.substr(0, is_equal ? at : at - 1);
    std::string_view value = term.substr(at + 1);
    if (is_equal && value.starts_with('=')) value.remove_prefix(1);
    if (!HasField(kind_, field)) {
      return Status::InvalidArgument("field label not supported: " + std::string(field));
    }
    terms_.push_back({std::string(field), std::string(value), is_equal});
  }
  return {};
}

bool ListSelection::Contains(const AnyObject& object) const {
  const ObjectBase& base = Base(object);
  const Labels labels(base.meta().labels);
  return std::ranges::all_of(labels_,
                             [&](const Parsed<berth_selector>& selector) {
                               return Matches(selector.root, labels, base.interner());
                             }) &&
         std::ranges::all_of(terms_, [&](const Term& term) {
           return (FieldOf(object, term.field) == term.value) == term.is_equal;
         });
}

}  // namespace berth::host
