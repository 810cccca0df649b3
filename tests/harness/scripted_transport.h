// A transport whose answers a unit test gives.
#ifndef BERTH_TESTS_HARNESS_SCRIPTED_TRANSPORT_H_
#define BERTH_TESTS_HARNESS_SCRIPTED_TRANSPORT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/status.h"
#include "host/http/transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {

// Records each request and holds it until the test answers it. The methods that answer call the
// callback or the sink within the call. A request is removed from open() before its last callback.
// Threading: one thread.
// Lifetime:  a stream may be destroyed after the transport.
class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(VirtualExecutor& executor) : executor_(executor) {}
  ~ScriptedTransport() override;
  ScriptedTransport(const ScriptedTransport&) = delete;
  ScriptedTransport& operator=(const ScriptedTransport&) = delete;

  // Returns "GET /api/v1/pods?limit=500" for every request that is open, the oldest first.
  std::vector<std::string> open() const;
  // Returns an open request.
  const HttpRequest& RequestAt(size_t index) const;
  const std::string& BodyOf(size_t index) const { return RequestAt(index).body; }

  // ---- Answers to open requests, by their index in open() ---------------------------------------
  // A stream receives a 2xx answer as head, body and end, and another answer as its end.
  void Answer(size_t index, uint32_t http_status, std::string body, int64_t retry_after_ns = 0);
  // The answer is lost, or the request never left. `status` is an error.
  void Lose(size_t index, Delivery delivery,
            Status status = Status::Unavailable("connection refused"));

  // ---- Streams ----------------------------------------------------------------------------------
  void Head(size_t index);
  // REQUIRES: Head() was called.
  void Bytes(size_t index, std::string_view bytes);
  void End(size_t index, Status status = {});
  // Returns the limit that the client set with SetSilenceLimit(); 0 if it set none.
  int64_t SilenceLimitNs(size_t index) const;
  // Returns whether the client has paused the stream. A test sends no bytes then.
  bool IsPaused(size_t index) const;
  // From now on, HttpStream::IsOutdated() of the streams that are open is true.
  void RotateCertificate();

  void Send(HttpRequest request, Callback done) override;
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest request, StreamSink& sink) override;
  void Close() override;

 private:
  struct Exchange;
  class Stream;

  std::shared_ptr<Exchange> At(size_t index) const;
  void Remove(const Exchange& exchange);
  // Removes the exchange and completes it.
  void Complete(std::shared_ptr<Exchange> exchange, HttpResponse response);

  VirtualExecutor& executor_;
  std::deque<std::shared_ptr<Exchange>> open_;
  bool is_closed_ = false;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_SCRIPTED_TRANSPORT_H_
