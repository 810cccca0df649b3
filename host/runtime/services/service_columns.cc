// The service berth.columns/1.
#include "host/base/foreign_struct.h"
#include "host/runtime/attempt/plugin_cycle.h"
#include "host/runtime/services/services.h"

namespace berth::host {
namespace {

berth_code BindColumn(const berth_host* host, const berth_cycle* cycle,
                      const berth_column_request* request, uint32_t* index) noexcept {
  constexpr uint32_t kFirstSize = BERTH_FIRST_SIZE(berth_column_request, reserved);
  const InstanceHost& instance = InstanceHost::FromAbi(host);
  if (!instance.IsCalledUnder(kCycleWord) || !IsCurrent(instance, cycle)) return BERTH_CONFLICT;
  if (instance.point() != Point::kPreFilter && instance.point() != Point::kPreScore) {
    return BERTH_CONFLICT;
  }
  if (!IsReadable(*request, kFirstSize, BERTH_COLUMN_OPTIONAL)) return BERTH_BAD_ARGUMENT;
  if (request->name == nullptr) return BERTH_BAD_ARGUMENT;
  const bool optional = (request->flags & BERTH_COLUMN_OPTIONAL) != 0;
  const Result<uint32_t> bound =
      PluginCycle::FromAbi(cycle)->BindColumn(request->name, request->type, optional);
  if (bound.ok()) {
    *index = *bound;
    return BERTH_SUCCESS;
  }
  switch (bound.status().code()) {
    case ErrorCode::kNotFound: return BERTH_NOT_FOUND;
    case ErrorCode::kInvalidArgument: return BERTH_BAD_ARGUMENT;
    default: return BERTH_CONFLICT;
  }
}

constexpr berth_columns kColumns{sizeof(berth_columns), 0, BindColumn};

}  // namespace

ServiceInfo ColumnsService() { return {.id = BERTH_SERVICE_COLUMNS, .functions = &kColumns}; }

}  // namespace berth::host
