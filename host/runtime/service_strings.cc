// berth.strings/1
#include "host/api/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

berth_id InternText(const berth_host* host, berth_str text) noexcept {
  return InstanceHost::FromAbi(host).Intern(Text(text));
}

berth_id FindText(const berth_host* host, berth_str text) noexcept {
  return InstanceHost::FromAbi(host).services().interner.Find(Text(text));
}

berth_str TextOf(const berth_host* host, berth_id id) noexcept {
  return AsStr(InstanceHost::FromAbi(host).services().interner.Text(id));
}

constexpr berth_strings kStrings{sizeof(berth_strings), 0, InternText, FindText, TextOf};

}  // namespace

const berth_strings* StringsService() { return &kStrings; }

}  // namespace berth::host
