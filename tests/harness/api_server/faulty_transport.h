// Injects faults into another transport.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_FAULTY_TRANSPORT_H_
#define BERTH_TESTS_HARNESS_API_SERVER_FAULTY_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "host/cluster/kubernetes/transport.h"
#include "tests/harness/virtual_executor.h"
#include "tests/simulation/random.h"

namespace berth::host {

// The probabilities of faults, in per cent. By default there are none.
struct TransportFaults {
  // ---- Requests ---------------------------------------------------------------------------------
  uint32_t refused = 0;      // No connection; nothing was sent.
  uint32_t lost_before = 0;  // The request was sent and not executed; no answer.
  uint32_t lost_after = 0;   // The request was executed; no answer.
  uint32_t duplicated = 0;   // The request is executed twice, as by a proxy that repeats it.
  uint32_t late = 0;         // Executed up to max_late_ns later, perhaps after the client gave up.
  uint32_t status_429 = 0;   // With Retry-After in half of the cases.
  uint32_t status_500 = 0;   // Executed in half of the cases.
  uint32_t status_503 = 0;
  uint32_t truncated = 0;  // The answer ends in the middle.
  int64_t max_late_ns = 0;
  // ---- Streams ----------------------------------------------------------------------------------
  uint32_t cut = 0;           // The connection is cut at any byte.
  uint32_t stalled = 0;       // No byte arrives any more, and the connection stays open.
  uint32_t gone = 0;          // An ERROR event 410, or the status 410.
  uint32_t doubled = 0;       // A line is sent twice.
  uint32_t slow = 0;          // Lines arrive up to max_late_ns later, in order.
  uint32_t chopped = 0;       // The bytes arrive one by one, or cut in the middle of a character.
  uint32_t early_end = 0;     // The server ends the watch in order, before any event.
  uint32_t lagging_list = 0;  // A list with an older state, as from a server that lags behind.
  uint32_t foreign_line = 0;  // An event of an unknown type, or with unknown fields.
};

// Observes which bindings were executed, for the audits of a simulation.
class TransportAudit {
 public:
  virtual ~TransportAudit() = default;
  virtual void OnExecuted(const HttpRequest& request, const HttpResponse& response) = 0;
};

// All random numbers come from one stream, so that a seed determines the faults.
// Threading: one thread.
// Lifetime:  the arguments must outlive it.
class FaultyTransport final : public Transport {
 public:
  FaultyTransport(Transport& inner, VirtualExecutor& executor, Random random,
                  TransportAudit* audit);
  ~FaultyTransport() override;

  // Sets the faults of later requests and lines. `only`: a part of the target, such as "/binding";
  // empty: all requests.
  void SetFaults(const TransportFaults& faults, std::string only = {});
  // Ends every stream and every connection now, as when the server restarts.
  void CutEverything();

  void Send(HttpRequest request, Callback done) override;
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest request, StreamSink& sink) override;
  void Close() override;

 private:
  class Stream;

  Transport& inner_;
  VirtualExecutor& executor_;
  Random random_;
  TransportAudit* const audit_;
  TransportFaults faults_;
  std::string only_;
  std::set<Stream*> streams_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_FAULTY_TRANSPORT_H_
