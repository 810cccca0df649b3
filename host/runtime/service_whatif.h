// berth.whatif/1: what it keeps for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICE_WHATIF_H_
#define BERTH_HOST_RUNTIME_SERVICE_WHATIF_H_

#include <cstdint>
#include <memory>
#include <vector>

#include <berth/abi.h>

namespace berth::host {

class InstanceHost;

// The rows that a plugin has begun and not ended yet.
// Threading: [cycle], within PostFilter.
class WhatIfRows {
 public:
  explicit WhatIfRows(InstanceHost& host);
  ~WhatIfRows();
  WhatIfRows(const WhatIfRows&) = delete;
  WhatIfRows& operator=(const WhatIfRows&) = delete;

  // As berth_whatif.begin.
  berth_code Begin(const berth_cycle* cycle, uint32_t row, berth_whatif_row** out);
  void End(berth_whatif_row* row);
  // PostFilter is over: what is left is ended, and counted against the plugin.
  void EndAll();

 private:
  InstanceHost& host_;
  std::vector<std::unique_ptr<berth_whatif_row>> rows_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICE_WHATIF_H_
