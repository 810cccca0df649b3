// The service berth.strings/1.
#include <string>

#include "host/base/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

berth_id InternText(const berth_host* host, berth_str text) noexcept {
  const HostUse instance(host);
  return instance ? instance->ids().Intern(Text(text)) : BERTH_ID_NONE;
}

// On another thread, the host could drop the text before the call into the plugin returns.
berth_id FindText(const berth_host* host, berth_str text) noexcept {
  const HostUse instance(host);
  if (!instance || !instance->IsOnSchedulingThread()) return BERTH_ID_NONE;
  return instance->services().interner.Find(Text(text));
}

berth_str TextOf(const berth_host* host, berth_id id) noexcept {
  const HostUse instance(host);
  // An unknown id has no text.
  if (!instance || !instance->services().interner.WasGivenOut(id)) return {};
  return AsStr(instance->services().interner.Text(id));
}

void ReleaseId(const berth_host* host, berth_id id) noexcept {
  const HostUse instance(host);
  if (!instance || id == BERTH_ID_NONE || instance->ids().Release(id)) return;
  instance->NoteFaultAtCurrentPoint("released id " + std::to_string(id) +
                                    ", which it does not hold");
}

constexpr berth_strings kStrings{sizeof(berth_strings), 0, InternText, FindText, TextOf, ReleaseId};

}  // namespace

const berth_strings* StringsService() { return &kStrings; }

}  // namespace berth::host
