// Injects faults into another transport.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_FAULTY_TRANSPORT_H_
#define BERTH_TESTS_HARNESS_API_SERVER_FAULTY_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "host/base/executor.h"
#include "host/http/transport.h"
#include "tests/simulation/random.h"

namespace berth::host {

// The probabilities of faults, in per cent. By default there are none.
struct TransportFaults {
  // ---- Requests. One request has one of these faults at most. -----------------------------------
  uint32_t refused = 0;      // No connection; nothing was sent.
  uint32_t lost_before = 0;  // The request was sent and not executed; no answer.
  uint32_t lost_after = 0;   // The request was executed; no answer.
  uint32_t duplicated = 0;   // Executed again up to max_late_ns later; the first answer counts.
  uint32_t late = 0;         // Executed up to max_late_ns later, perhaps after the client gave up.
  uint32_t status_429 = 0;   // With Retry-After in half of the cases.
  uint32_t status_500 = 0;   // Executed in half of the cases.
  uint32_t status_503 = 0;   // With Retry-After in half of the cases; otherwise as status_500.
  uint32_t truncated = 0;    // Executed; the answer ends in the middle.
  int64_t max_late_ns = 0;
  // ---- Streams. The faults above, up to the head; then, for each part: --------------------------
  uint32_t cut = 0;           // The connection is cut at any byte.
  uint32_t stalled = 0;       // No byte arrives any more, and the connection stays open.
  uint32_t gone = 0;          // An ERROR event 410; instead of a head, the status 410.
  uint32_t doubled = 0;       // The part is sent twice.
  uint32_t slow = 0;          // The part arrives up to max_late_ns later, and later parts after it.
  uint32_t chopped = 0;       // The bytes arrive in small pieces, with pauses.
  uint32_t early_end = 0;     // The server ends the watch in order, before any event.
  uint32_t foreign_line = 0;  // An event of an unknown type before the part.
};

// Observes the requests that reach the network and the server.
class TransportAudit {
 public:
  virtual ~TransportAudit() = default;

  // The first byte of the request leaves.
  virtual void OnSent(const HttpRequest& request) { static_cast<void>(request); }
  // The server has executed the request. Called also for repetitions, and after the client gave up.
  virtual void OnExecuted(const HttpRequest& request, const HttpResponse& response) {
    static_cast<void>(request), static_cast<void>(response);
  }
};

// Simulates the network between a client and a server, both in virtual time. Each request waits for
// a connection, is sent, executed and answered, with a small random delay before each step.
// Enforces the time limits of requests and the silence limits of streams. gone, doubled, early_end
// and foreign_line happen to watches only.
//
// All random numbers come from one stream, so that a seed determines the faults.
//
// Threading: one thread.
// Lifetime:  the arguments must outlive it. `inner`, the server's executor and the audit must also
//            outlive the tasks that the server's executor has.
class FaultyTransport final : public Transport {
 public:
  struct Options {
    Executor* client = nullptr;  // Runs the callbacks. A process that is stopped does not run it.
    Executor* server = nullptr;  // Executes requests. Must be that of `inner`.
    uint64_t seed = 0;
    TransportAudit* audit = nullptr;    // May be null.
    int64_t max_delay_ns = 20'000'000;  // The longest delay of a step.
    int64_t default_timeout_ns = 34'000'000'000;
  };

  FaultyTransport(Transport& inner, const Options& options);
  // As EndProcess().
  ~FaultyTransport() override;
  FaultyTransport(const FaultyTransport&) = delete;
  FaultyTransport& operator=(const FaultyTransport&) = delete;

  // Sets the faults of later requests and lines. `only`: a part of the targets that have faults,
  // such as "/binding"; empty: all.
  void SetFaults(const TransportFaults& faults, std::string only = {}) {
    faults_ = faults;
    only_ = std::move(only);
  }
  // Ends every connection now, as when the server restarts: streams end, and requests that were
  // sent have no answer; half of those that were not executed yet never are.
  void CutEverything();
  // Ends the process of the client: no callback is called any more. Half of the requests that were
  // sent and not executed yet are executed now, the others never.
  void EndProcess();
  // How many requests, streams not counted, have no answer.
  size_t open() const { return open_.size(); }

  void Send(HttpRequest request, Callback done) override;
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest request, StreamSink& sink) override;
  void Close() override;

 private:
  class Stream;
  enum class Fate : uint8_t;
  struct Exchange;
  struct OnTheWay;
  using ExchangeRef = std::shared_ptr<Exchange>;

  Fate Draw(const HttpRequest& request);
  bool HasFaults(const HttpRequest& request) const {
    return only_.empty() || request.target.find(only_) != std::string::npos;
  }
  int64_t Delay() { return random_.Between(0, options_.max_delay_ns); }
  // Writes the request. Called when it has a connection.
  void Write(const ExchangeRef& exchange);
  void Execute(const ExchangeRef& exchange, int64_t delay_ns);
  void OnExecuted(const ExchangeRef& exchange, HttpResponse response);
  void Repeat(const HttpRequest& request);
  void AnswerAfter(const ExchangeRef& exchange, int64_t delay_ns, HttpResponse response);
  void Complete(const ExchangeRef& exchange, HttpResponse response);
  // Decides about the requests that the server has not executed yet.
  void SettleOnTheWay();
  HttpResponse RefusalWith(uint32_t http_status, bool has_retry_after);

  Transport& inner_;
  const Options options_;
  Random random_;
  TransportFaults faults_;
  std::string only_;
  uint64_t last_ = 0;
  bool is_closed_ = false;
  bool has_ended_ = false;
  std::map<uint64_t, ExchangeRef> open_;
  std::map<uint64_t, Stream*> streams_;
  const std::shared_ptr<OnTheWay> on_the_way_;  // Shared with the tasks of the server.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_FAULTY_TRANSPORT_H_
