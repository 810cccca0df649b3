// The state of the service berth.whatif/1 for one instance.
#ifndef BERTH_HOST_RUNTIME_SERVICES_SERVICE_WHATIF_H_
#define BERTH_HOST_RUNTIME_SERVICES_SERVICE_WHATIF_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include <berth/abi.h>

namespace berth::host {

class InstanceHost;
class WhatIf;

// The open questions of a plugin, by id. An id is never reused, so that a question that the plugin
// keeps too long, or uses on another thread, is not found.
//
// Threading: [cycle], within PostFilter; Find() and End() on any.
class WhatIfQuestions {
 public:
  explicit WhatIfQuestions(InstanceHost& host);
  ~WhatIfQuestions();
  WhatIfQuestions(const WhatIfQuestions&) = delete;
  WhatIfQuestions& operator=(const WhatIfQuestions&) = delete;

  // Implements berth_whatif.begin.
  berth_code Begin(const berth_cycle* cycle, std::span<const uint32_t> rows, uint32_t mode,
                   uint64_t* question);
  // Returns null if the question was ended or must not be used in this call.
  WhatIf* Find(uint64_t question);
  void End(uint64_t question);
  // Ends the questions that are still open.
  // Called: after PostFilter.
  void EndAll();

 private:
  bool IsAllowed() const;

  InstanceHost& host_;
  std::map<uint64_t, std::unique_ptr<WhatIf>> open_;
  uint64_t last_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_SERVICE_WHATIF_H_
