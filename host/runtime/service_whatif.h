// The state of the service berth.whatif/1 for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICE_WHATIF_H_
#define BERTH_HOST_RUNTIME_SERVICE_WHATIF_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <berth/abi.h>

namespace berth::host {

class InstanceHost;
class WhatIf;

// The open rows of a plugin.
//
// A plugin may keep a row too long, or pass it to another thread. A berth_whatif_row is therefore a
// handle (host/runtime/handle.h): using a row that was ended fails.
//
// Threading: [cycle], within PostFilter; Find() on any.
class WhatIfRows {
 public:
  // How often an entry is used before a handle is reused.
  static constexpr size_t kGenerations = 4096;

  explicit WhatIfRows(InstanceHost& host);
  ~WhatIfRows();
  WhatIfRows(const WhatIfRows&) = delete;
  WhatIfRows& operator=(const WhatIfRows&) = delete;

  // Implements berth_whatif.begin.
  berth_code Begin(const berth_cycle* cycle, uint32_t row, berth_whatif_row** out);
  // Returns null if the row was ended or must not be used in this call. `row` may be null.
  static WhatIf* Find(berth_whatif_row* row);
  // REQUIRES: Find(row) is not null.
  static InstanceHost& HostOf(berth_whatif_row* row);
  static void End(berth_whatif_row* row);
  // Ends the rows that are still open, and counts a fault for them.
  // Called: after PostFilter.
  void EndAll();

 private:
  struct alignas(kGenerations) Entry;  // See host/runtime/handle.h.

  static void Free(Entry& entry);

  InstanceHost& host_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICE_WHATIF_H_
