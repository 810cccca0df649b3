// Observes what one process sends to the model of an API server.
#ifndef BERTH_TESTS_SIMULATION_WIRE_AUDIT_H_
#define BERTH_TESTS_SIMULATION_WIRE_AUDIT_H_

#include "host/http/transport.h"
#include "tests/harness/api_server/faulty_transport.h"
#include "tests/simulation/bind_audit.h"
#include "tests/simulation/trace.h"

namespace berth::host {

class LiveProcess;

// Outlives its process: the server may execute requests of a process that has ended.
//
// Threading: one thread.
// Lifetime:  the arguments of the constructor must outlive it.
class WireAudit final : public TransportAudit {
 public:
  WireAudit(BindAudit& binds, Trace& trace) : binds_(binds), trace_(trace) {}
  WireAudit(const WireAudit&) = delete;
  WireAudit& operator=(const WireAudit&) = delete;

  // Sets the process; null when it has ended.
  void SetProcess(LiveProcess* process) { process_ = process; }

  void OnSent(const HttpRequest& request) override;
  void OnExecuted(const HttpRequest& request, const HttpResponse& response) override;

 private:
  BindAudit& binds_;
  Trace& trace_;
  LiveProcess* process_ = nullptr;
};

// Returns whether the request binds a pod.
bool IsBinding(const HttpRequest& request);

}  // namespace berth::host

#endif  // BERTH_TESTS_SIMULATION_WIRE_AUDIT_H_
