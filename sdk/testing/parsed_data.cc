#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <berth/abi.h>
#include <berth/selectors.h>
#include <berth/testing/answer.h>
#include <berth/testing/parsed_data.h>
#include <berth/testing/report.h>
#include <berth/testing/selector_reader.h>
#include <berth/testing/services.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing {

namespace {

void AddReason(berth_status* status, const std::string& why) {
  if (status != nullptr) status->add_reason(status, ToAbi(why));
}

}  // namespace

ParsedData& ParsedData::Of(const berth_host* host) { return Services::Of(host).parsed(); }

size_t ParsedData::values() const {
  const std::lock_guard lock(mutex_);
  return values_.size();
}

size_t ParsedData::selectors() const {
  const std::lock_guard lock(mutex_);
  return selectors_.size();
}

const berth_value* ParsedData::ParseValue(berth_str json, berth_status* status) {
  auto value = std::make_unique<ValueSpec>();
  if (const std::string why = internal::TryReadJson(FromAbi(json), value.get()); !why.empty()) {
    AddReason(status, why);
    return nullptr;
  }
  const berth_value* const root = value.get();
  const std::lock_guard lock(mutex_);
  values_.emplace(root, std::move(value));
  return root;
}

void ParsedData::ReleaseValue(const berth_value* value) {
  const std::lock_guard lock(mutex_);
  if (value == nullptr || values_.erase(value) != 0) return;
  reporter_.Fail(Check::kShape, "releases a value that it did not parse, or released before");
}

template <class T, class Read>
berth_code ParsedData::ReadSelector(const berth_host* host, const T** out, berth_status* status,
                                    const Read& read) {
  ParsedData& self = Of(host);
  auto memory = std::make_unique<internal::ViewMemory>(&self.ids_);
  internal::SelectorReader reader(*memory);
  const T* const selector = read(reader);
  if (selector == nullptr) {
    AddReason(status, reader.error());
    return BERTH_BAD_ARGUMENT;
  }
  *out = selector;
  const std::lock_guard lock(self.mutex_);
  self.selectors_.emplace(selector, std::move(memory));
  return BERTH_SUCCESS;
}

berth_code ParsedData::FromValue(const berth_host* host, const berth_value* value,
                                 const berth_selector** out, berth_status* status) noexcept {
  return ReadSelector(host, out, status, [value](internal::SelectorReader& reader) {
    return reader.FromValue(static_cast<const ValueSpec*>(value));
  });
}

berth_code ParsedData::FromMap(const berth_host* host, const berth_value* labels,
                               const berth_selector** out, berth_status* status) noexcept {
  return ReadSelector(host, out, status, [labels](internal::SelectorReader& reader) {
    return reader.FromMap(static_cast<const ValueSpec*>(labels));
  });
}

berth_code ParsedData::FromText(const berth_host* host, berth_str text, const berth_selector** out,
                                berth_status* status) noexcept {
  return ReadSelector(host, out, status, [text](internal::SelectorReader& reader) {
    return reader.FromText(FromAbi(text));
  });
}

berth_code ParsedData::FromNodeSelector(const berth_host* host, const berth_value* value,
                                        const berth_node_selector** out,
                                        berth_status* status) noexcept {
  return ReadSelector(host, out, status, [value](internal::SelectorReader& reader) {
    return reader.FromNodeSelector(static_cast<const ValueSpec*>(value));
  });
}

int32_t ParsedData::MatchesLabels(const berth_host* host, const berth_selector* selector,
                                  berth_array labels) noexcept {
  return berth::Matches(selector, berth::Labels(labels), Of(host).ids_) ? 1 : 0;
}

int32_t ParsedData::MatchesNode(const berth_host* host, const berth_node_selector* selector,
                                const berth_node* node) noexcept {
  return node != nullptr && berth::Matches(selector, *node, Of(host).ids_) ? 1 : 0;
}

void ParsedData::ReleaseSelector(const void* selector) {
  const std::lock_guard lock(mutex_);
  if (selector == nullptr || selectors_.erase(selector) != 0) return;
  reporter_.Fail(Check::kShape, "releases a selector that it did not read, or released before");
}

void ParsedData::Release(const berth_host* host, const berth_selector* selector) noexcept {
  Of(host).ReleaseSelector(selector);
}

void ParsedData::ReleaseNode(const berth_host* host, const berth_node_selector* selector) noexcept {
  Of(host).ReleaseSelector(selector);
}

const berth_selectors ParsedData::kSelectors = {sizeof(berth_selectors),
                                                0,
                                                &FromValue,
                                                &FromMap,
                                                &FromText,
                                                &FromNodeSelector,
                                                &MatchesLabels,
                                                &MatchesNode,
                                                &Release,
                                                &ReleaseNode};

const berth_value* internal::ParseValue(const berth_host* host, berth_str json,
                                        berth_status* status) noexcept {
  return Services::Of(host).parsed().ParseValue(json, status);
}

void internal::ReleaseValue(const berth_host* host, const berth_value* value) noexcept {
  Services::Of(host).parsed().ReleaseValue(value);
}

}  // namespace berth::testing
