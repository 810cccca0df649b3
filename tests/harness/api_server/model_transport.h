// A transport whose server is an ApiModel, in virtual time.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_MODEL_TRANSPORT_H_
#define BERTH_TESTS_HARNESS_API_SERVER_MODEL_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "host/base/executor.h"
#include "host/http/transport.h"
#include "tests/harness/api_server/api_model.h"

namespace berth::host {

// Executes each request in a task of the executor, and answers in the same task. There are no
// faults and no time limits: see FaultyTransport.
//
// Threading: one thread, that of the model.
// Lifetime:  model and executor must outlive it, and it must outlive its streams. It is not
//            destroyed while the executor has tasks of it, unless the executor is not run any more.
class ModelTransport final : public Transport {
 public:
  ModelTransport(ApiModel& model, Executor& executor);
  ~ModelTransport() override;
  ModelTransport(const ModelTransport&) = delete;
  ModelTransport& operator=(const ModelTransport&) = delete;

  // The API server behind this transport sees changes by others late by this time. Its lists that
  // allow an older state, and its watches, are behind; consistent reads are not.
  void SetLag(int64_t lag_ns);

  void Send(HttpRequest request, Callback done) override;
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest request, StreamSink& sink) override;
  void Close() override;

 private:
  class Stream;

  // Lets every watch send what it has, in a later task.
  void PumpLater();

  ApiModel& model_;
  Executor& executor_;
  int64_t lag_ns_ = 0;
  bool is_closed_ = false;
  bool is_pumping_ = false;  // PumpLater() has posted a task.
  uint64_t last_ = 0;
  std::map<uint64_t, Stream*> streams_;    // In the order in which they were opened.
  std::map<uint64_t, Callback> requests_;  // Without an answer.
  std::function<void()> end_listening_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_MODEL_TRANSPORT_H_
