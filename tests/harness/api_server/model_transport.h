// A transport whose server is an ApiModel, in virtual time.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_MODEL_TRANSPORT_H_
#define BERTH_TESTS_HARNESS_API_SERVER_MODEL_TRANSPORT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "host/cluster/kubernetes/transport.h"
#include "tests/harness/api_server/api_model.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {

// Executes each request after `delay_ns` and answers after another `delay_ns`. Watches deliver
// their lines after the tasks that caused them.
// Threading: one thread.
class ModelTransport final : public Transport {
 public:
  ModelTransport(ApiModel& model, VirtualExecutor& executor, int64_t delay_ns = 0);
  ~ModelTransport() override;

  void Send(HttpRequest request, Callback done) override;
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest request, StreamSink& sink) override;
  void Close() override;
  // Sends what watches have to deliver. Called by the owner after each change of the cluster.
  void Pump();

 private:
  class Stream;

  ApiModel& model_;
  VirtualExecutor& executor_;
  const int64_t delay_ns_;
  std::vector<Stream*> streams_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_MODEL_TRANSPORT_H_
