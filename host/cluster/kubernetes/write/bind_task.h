// One binding of the pod writer, from its first try to its outcome.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_BIND_TASK_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_BIND_TASK_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/write/pod_task.h"

namespace berth::host {

// Binds a pod; see PodWriter.
class BindTask final : public PodTask {
 public:
  BindTask(PodTaskContext& shared, const PodName& pod_name, std::string_view node, uint64_t seed,
           Finished finished);

 private:
  void Send() override;
  void OnAnswer(const HttpResponse& response) override;

  // The server has decided on the last request.
  void OnFinal(const HttpResponse& response);
  // It is unknown whether the server has executed the last request.
  void OnUnknown(const HttpResponse& response);
  // The server has not executed the last request.
  void OnNotExecuted(const HttpResponse& response);
  // Reads the pod after a time.
  void ReadAfter(int64_t delay_ns);
  void Read();
  void OnRead(const HttpResponse& response);
  // The pod has no node.
  void OnWithoutNode();
  // Counts and logs how the unknown outcome was found, and ends the task.
  void Resolve(Status outcome);

  const std::string node_;
  const std::string body_;
  std::string last_error_;  // The message.
  std::string read_error_;  // The message of the last failed read, which is logged if it changes.
  Status final_error_;      // The error that a repetition would not change.
  int64_t unknown_ns_ = 0;  // When the outcome of a request became unknown last.
  int64_t read_ns_ = 0;     // When the last read was sent.
  bool is_unknown_ = false;
  bool has_repeated_ = false;  // A request was sent after an unknown one.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_BIND_TASK_H_
