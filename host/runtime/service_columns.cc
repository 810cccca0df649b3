// The service berth.columns/1.
#include "host/base/text.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plugin_cycle.h"
#include "host/runtime/services.h"

namespace berth::host {
namespace {

berth_code BindColumn(const berth_host* host, const berth_cycle* cycle, berth_str name,
                      uint32_t* index) noexcept {
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kCycleWord) || !instance.IsCurrent(cycle)) return BERTH_CONFLICT;
  if (instance.point() != Point::kPreFilter && instance.point() != Point::kPreScore) {
    return BERTH_CONFLICT;
  }
  if (!instance.MayUseColumn(Text(name))) return BERTH_NOT_FOUND;
  const Result<uint32_t> bound = PluginCycle::FromAbi(cycle)->BindColumn(Text(name));
  if (!bound.ok()) {
    return bound.status().code() == ErrorCode::kNotFound ? BERTH_NOT_FOUND : BERTH_CONFLICT;
  }
  *index = *bound;
  return BERTH_SUCCESS;
}

constexpr berth_columns kColumns{sizeof(berth_columns), 0, BindColumn};

}  // namespace

const berth_columns* ColumnsService() { return &kColumns; }

}  // namespace berth::host
