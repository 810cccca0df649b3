// berth.whatif/1: what it keeps for one instance.
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

// The rows that a plugin has begun and not ended yet.
//
// A plugin may keep a row too long, or hand it to a thread. A berth_whatif_row therefore points at
// no row: as a promise does, it names a place that stays for as long as this does, and says which
// use of the place is meant.
//
// Threading: [cycle], within PostFilter; Find() on any.
class WhatIfRows {
 public:
  // How often a place is used before a row's number comes again.
  static constexpr size_t kUses = 4096;

  explicit WhatIfRows(InstanceHost& host);
  ~WhatIfRows();
  WhatIfRows(const WhatIfRows&) = delete;
  WhatIfRows& operator=(const WhatIfRows&) = delete;

  // As berth_whatif.begin.
  berth_code Begin(const berth_cycle* cycle, uint32_t row, berth_whatif_row** out);
  // Null: it has ended, or may not be used here and now. `row` may be null.
  static WhatIf* Find(berth_whatif_row* row);
  // REQUIRES: Find(row) is not null.
  static InstanceHost& HostOf(berth_whatif_row* row);
  static void End(berth_whatif_row* row);
  // PostFilter is over: what is left is ended, and counted against the plugin.
  void EndAll();

 private:
  // Aligned so that every address in it leads to it.
  struct alignas(kUses) Place;

  static Place* PlaceOf(berth_whatif_row* row);
  static berth_whatif_row* HandleOf(Place& place);
  static void Free(Place& place);

  InstanceHost& host_;
  std::vector<std::unique_ptr<Place>> places_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICE_WHATIF_H_
