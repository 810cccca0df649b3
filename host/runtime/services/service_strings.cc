// The service berth.strings/1.
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/base/interner.h"
#include "host/base/text.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

// ---- The state ----------------------------------------------------------------------------------

// Ids that the plugin has interned and not released. Counts each call; the interner has one
// reference for each id. The destructor releases all.
// Threading: any; the destructor when no other thread uses it.
// Lifetime:  the interner must outlive it.
class InternedIds final : public ServiceState {
 public:
  static constexpr ServiceIndex kService = ServiceIndex::kStrings;

  explicit InternedIds(const InstanceHost& host) : interner_(host.context().interner) {}
  ~InternedIds() override;

  Id Intern(std::string_view text);
  // Undoes one Intern(). Returns false, and does nothing, if the plugin does not hold the id.
  bool Release(Id id);

 private:
  Interner& interner_;
  std::mutex mutex_;  // Guards what follows.
  std::unordered_map<Id, uint64_t> counts_;
};

InternedIds::~InternedIds() {
  for (const auto& [id, count] : counts_) interner_.Release(id);
}

Id InternedIds::Intern(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  const Id id = interner_.Intern(text);
  uint64_t& count = counts_[id];
  if (count++ != 0) interner_.Release(id);
  return id;
}

bool InternedIds::Release(Id id) {
  const std::scoped_lock lock(mutex_);
  const auto found = counts_.find(id);
  if (found == counts_.end()) return false;
  if (--found->second != 0) return true;
  counts_.erase(found);
  interner_.Release(id);
  return true;
}

// ---- The functions ------------------------------------------------------------------------------

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

}  // namespace

ServiceInfo StringsService() {
  return {.id = BERTH_SERVICE_STRINGS,
          .functions = &kStrings,
          .create_state = CreateState<InternedIds>,
          .lifetime = StateLifetime::kReadByPlugin};
}

}  // namespace berth::host
