// The services for what a plugin reads and keeps: berth.strings/1, berth.refs/1, berth.values/1 and
// berth.selectors/1. host/api/value.cc implements the functions that read values.
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include <berth/selectors.h>

#include "host/api/decode.h"
#include "host/api/value.h"
#include "host/base/text.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// --- berth.strings/1 -----------------------------------------------------------------------------

// Ids that the plugin has interned and not released. Counts each call; the interner has one
// reference for each id. The destructor releases all.
// Threading: any; the destructor when no other thread uses it.
// Lifetime:  the interner must outlive it.
class InternedIds final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kStrings;

  explicit InternedIds(const InstanceHost& host) : interner_(host.context().interner) {}
  ~InternedIds() override {
    for (const auto& [id, count] : counts_) interner_.Release(id);
  }

  Id Intern(std::string_view text) {
    const std::scoped_lock lock(mutex_);
    const Id id = interner_.Intern(text);
    uint64_t& count = counts_[id];
    if (count++ != 0) interner_.Release(id);
    return id;
  }
  // Undoes one Intern(). Returns false, and does nothing, if the plugin does not hold the id.
  bool Release(Id id) {
    const std::scoped_lock lock(mutex_);
    const auto found = counts_.find(id);
    if (found == counts_.end()) return false;
    if (--found->second != 0) return true;
    counts_.erase(found);
    interner_.Release(id);
    return true;
  }

 private:
  Interner& interner_;
  std::mutex mutex_;  // Guards what follows.
  std::unordered_map<Id, uint64_t> counts_;
};

berth_id InternText(const berth_host* host, berth_str text) noexcept {
  const HostUse instance(host);
  return instance ? StateOf<InternedIds>(*instance).Intern(Text(text)) : BERTH_ID_NONE;
}

// On another thread, the host could drop the text before the call into the plugin returns.
berth_id FindText(const berth_host* host, berth_str text) noexcept {
  const HostUse instance(host);
  if (!instance || !instance->IsOnSchedulingThread()) return BERTH_ID_NONE;
  return instance->context().interner.Find(Text(text));
}

berth_str TextOf(const berth_host* host, berth_id id) noexcept {
  const HostUse instance(host);
  // An unknown id has no text.
  if (!instance || !instance->context().interner.WasGivenOut(id)) return {};
  return AsStr(instance->context().interner.Text(id));
}

void ReleaseId(const berth_host* host, berth_id id) noexcept {
  const HostUse instance(host);
  if (!instance || id == BERTH_ID_NONE || StateOf<InternedIds>(*instance).Release(id)) return;
  instance->NoteFaultAtCurrentPoint("released id " + std::to_string(id) +
                                    ", which it does not hold");
}

constexpr berth_strings kStrings{sizeof(berth_strings), 0, InternText, FindText, TextOf, ReleaseId};

// --- berth.refs/1 --------------------------------------------------------------------------------

// Returns the object that has this view; null if there is none.
std::shared_ptr<const void> OwnerOf(const berth_tagged& tagged) {
  if (tagged.object == nullptr) return nullptr;
  switch (tagged.kind) {
    case BERTH_KIND_POD: return Pod::Of(*static_cast<const berth_pod*>(tagged.object));
    case BERTH_KIND_NODE: return Node::Of(*static_cast<const berth_node*>(tagged.object));
    case BERTH_KIND_OBJECT: return Object::Of(*static_cast<const berth_object*>(tagged.object));
    default: return nullptr;
  }
}

// Pods, nodes and objects that the plugin retains, counted. The destructor releases all.
// Threading: any; the destructor when no other thread uses it.
class RetainedObjects final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kRefs;

  explicit RetainedObjects(const InstanceHost& /*host*/) {}

  // Returns false if `object` is not the view of an object of its kind.
  // REQUIRES: if it is such a view, the object exists.
  bool Retain(const berth_tagged& object) {
    const std::scoped_lock lock(mutex_);
    const auto found = objects_.find(object.object);
    if (found != objects_.end()) {
      if (found->second.kind != object.kind) return false;
      ++found->second.count;
      return true;
    }
    std::shared_ptr<const void> owner = OwnerOf(object);
    if (owner == nullptr) return false;
    objects_.emplace(object.object, Retained{std::move(owner), object.kind, 1});
    return true;
  }
  // Undoes one Retain(). Returns false, and does nothing, if the plugin does not retain the object.
  bool Release(const berth_tagged& object) {
    std::shared_ptr<const void> last;  // Destroyed after the lock is released.
    const std::scoped_lock lock(mutex_);
    const auto found = objects_.find(object.object);
    if (found == objects_.end() || found->second.kind != object.kind) return false;
    if (--found->second.count != 0) return true;
    last = std::move(found->second.owner);
    objects_.erase(found);
    return true;
  }

 private:
  struct Retained {
    std::shared_ptr<const void> owner;
    uint32_t kind = 0;
    uint64_t count = 0;
  };

  std::mutex mutex_;                                   // Guards what follows.
  std::unordered_map<const void*, Retained> objects_;  // By the address of the view.
};

berth_code RetainTagged(const berth_host* host, berth_tagged object) noexcept {
  const HostUse instance(host);
  if (!instance) return BERTH_CANCELLED;
  return StateOf<RetainedObjects>(*instance).Retain(object) ? BERTH_SUCCESS : BERTH_BAD_ARGUMENT;
}

void ReleaseTagged(const berth_host* host, berth_tagged object) noexcept {
  const HostUse instance(host);
  if (!instance || StateOf<RetainedObjects>(*instance).Release(object)) return;
  instance->NoteFaultAtCurrentPoint("released an object that it does not retain");
}

constexpr berth_refs kRefs{sizeof(berth_refs), 0, RetainTagged, ReleaseTagged};

// --- values and selectors that the plugin owns ---------------------------------------------------

// T: the type of the pointer that the plugin gets.
// Threading: any.
template <class T>
class PluginOwned {
 public:
  // Keeps `parsed` and returns its root.
  const T* Add(Parsed<T> parsed) {
    const T* const root = parsed.root;
    const std::scoped_lock lock(mutex_);
    parsed_.emplace(root, std::move(parsed));
    return root;
  }
  // Frees what Add() returned `root` for. Returns false if there is no such root.
  bool Release(const T* root) {
    const std::scoped_lock lock(mutex_);
    return parsed_.erase(root) != 0;
  }
  size_t size() {
    const std::scoped_lock lock(mutex_);
    return parsed_.size();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const T*, Parsed<T>> parsed_;
};

// The state of berth.values/1.
struct ParsedValues final : ServiceState {
  static constexpr ServiceIndex kService = ServiceIndex::kValues;

  explicit ParsedValues(const InstanceHost& /*host*/) {}

  PluginOwned<berth_value> values;
};

// The state of berth.selectors/1.
struct ParsedSelectors final : ServiceState {
  static constexpr ServiceIndex kService = ServiceIndex::kSelectors;

  explicit ParsedSelectors(const InstanceHost& /*host*/) {}

  PluginOwned<berth_selector> labels;
  PluginOwned<berth_node_selector> nodes;
};

// Returns a decoder for one value or selector, which every call on any thread creates for itself.
// The ids that a decoder keeps are of no use to it, and would be most of its cost.
Decoder DecoderForOne(Interner& interner) {
  DecodeOptions options;
  options.cached_ids = 16;
  return Decoder(interner, std::move(options));
}

// Calls `read` with a decoder and stores what it returns in *out, or adds the reason of an error to
// the status, which may be NULL.
template <class State, class T, class Read>
berth_code Parse(const berth_host* host, PluginOwned<T> State::*owned, const T** out,
                 berth_status* status, const Read& read) {
  Status error;
  {
    const HostUse instance(host);
    if (!instance) return BERTH_CANCELLED;
    if (out == nullptr) return BERTH_BAD_ARGUMENT;
    Decoder decoder = DecoderForOne(instance->context().interner);
    Result<Parsed<T>> parsed = read(decoder);
    if (parsed.ok()) {
      *out = (StateOf<State>(*instance).*owned).Add(std::move(parsed).value());
      return BERTH_SUCCESS;
    }
    error = std::move(parsed).status();
  }
  // Calls the plugin, so that no HostUse may exist.
  if (status != nullptr) status->add_reason(status, AsStr(error.message()));
  return BERTH_BAD_ARGUMENT;
}

template <class State, class T>
void Release(const berth_host* host, PluginOwned<T> State::*owned, const T* root,
             std::string_view what) {
  const HostUse instance(host);
  if (!instance || root == nullptr || (StateOf<State>(*instance).*owned).Release(root)) return;
  instance->NoteFaultAtCurrentPoint("releases a " + std::string(what) +
                                    " did not return, or that was released before");
}

// --- berth.values/1 ------------------------------------------------------------------------------

const berth_value* ParseValue(const berth_host* host, berth_str json,
                              berth_status* status) noexcept {
  const berth_value* value = nullptr;
  Parse(host, &ParsedValues::values, &value, status,
        [&](Decoder& decoder) { return decoder.DecodeTree(Text(json)); });
  return value;
}

void ReleaseValue(const berth_host* host, const berth_value* value) noexcept {
  Release(host, &ParsedValues::values, value, "value that berth_values.parse");
}

// The functions of host/api/value.cc, with `parse` and `release`.
const berth_values* ValueFunctions() {
  static const berth_values functions = [] {
    berth_values values = *ValuesService();
    values.parse = ParseValue;
    values.release = ReleaseValue;
    return values;
  }();
  return &functions;
}

// --- berth.selectors/1 ---------------------------------------------------------------------------

// A value is passed as JSON, so that its selector is decoded and validated like one of an object.
berth_code FromValue(const berth_host* host, const berth_value* value, const berth_selector** out,
                     berth_status* status) noexcept {
  return Parse(host, &ParsedSelectors::labels, out, status,
               [&](Decoder& decoder) { return decoder.DecodeLabelSelector(JsonOf(value)); });
}

berth_code FromMap(const berth_host* host, const berth_value* labels, const berth_selector** out,
                   berth_status* status) noexcept {
  return Parse(host, &ParsedSelectors::labels, out, status,
               [&](Decoder& decoder) -> Result<Parsed<berth_selector>> {
                 if (ValuesService()->kind(labels) != BERTH_VALUE_OBJECT) {
                   return Status::InvalidArgument("expected a map of labels");
                 }
                 return decoder.DecodeLabelSelector("{\"matchLabels\":" + JsonOf(labels) + "}");
               });
}

berth_code FromText(const berth_host* host, berth_str text, const berth_selector** out,
                    berth_status* status) noexcept {
  return Parse(host, &ParsedSelectors::labels, out, status,
               [&](Decoder& decoder) { return decoder.DecodeSelectorText(Text(text)); });
}

berth_code FromNodeSelector(const berth_host* host, const berth_value* value,
                            const berth_node_selector** out, berth_status* status) noexcept {
  return Parse(host, &ParsedSelectors::nodes, out, status,
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

constexpr std::string_view kSelector = "selector that berth.selectors/1";

void ReleaseLabels(const berth_host* host, const berth_selector* selector) noexcept {
  Release(host, &ParsedSelectors::labels, selector, kSelector);
}

void ReleaseNodes(const berth_host* host, const berth_node_selector* selector) noexcept {
  Release(host, &ParsedSelectors::nodes, selector, kSelector);
}

constexpr berth_selectors kSelectors{
    sizeof(berth_selectors), 0,           FromValue,     FromMap,     FromText, FromNodeSelector,
    MatchesLabels,           MatchesNode, ReleaseLabels, ReleaseNodes};

}  // namespace

std::span<const ServiceInfo> DataServices() {
  static const std::array services{ServiceInfo{.id = BERTH_SERVICE_STRINGS,
                                               .functions = &kStrings,
                                               .create_state = CreateState<InternedIds>,
                                               .lifetime = StateLifetime::kReadByPlugin},
                                   ServiceInfo{.id = BERTH_SERVICE_REFS,
                                               .functions = &kRefs,
                                               .create_state = CreateState<RetainedObjects>,
                                               .lifetime = StateLifetime::kReadByPlugin},
                                   ServiceInfo{.id = BERTH_SERVICE_VALUES,
                                               .functions = ValueFunctions(),
                                               .create_state = CreateState<ParsedValues>,
                                               .lifetime = StateLifetime::kReadByPlugin},
                                   ServiceInfo{.id = BERTH_SERVICE_SELECTORS,
                                               .functions = &kSelectors,
                                               .create_state = CreateState<ParsedSelectors>,
                                               .lifetime = StateLifetime::kReadByPlugin}};
  return services;
}

size_t ParsedValueCount(const InstanceHost& host) {
  return StateOf<ParsedValues>(host).values.size();
}

size_t ParsedSelectorCount(const InstanceHost& host) {
  auto& parsed = StateOf<ParsedSelectors>(host);
  return parsed.labels.size() + parsed.nodes.size();
}

}  // namespace berth::host
