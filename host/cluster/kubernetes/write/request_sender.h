// Sends the requests that plugins make.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_REQUEST_SENDER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_REQUEST_SENDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "host/base/executor.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/write/bind_fence.h"

namespace berth::host {

// Sends each request once: only the plugin knows whether its request may be repeated. Requests that
// may change something need an open fence: a process that does not lead writes nothing.
//
// Threading: the executor's thread.
// Lifetime:  what the constructor receives must outlive it.
class RequestSender {
 public:
  // `max_open`: the requests that wait or are under way; more fail with kUnavailable, so that a
  // plugin cannot fill the memory.
  RequestSender(Transport& transport, Executor& executor, BindFence& fence, size_t max_open);
  RequestSender(const RequestSender&) = delete;
  RequestSender& operator=(const RequestSender&) = delete;

  // As DecisionWriter::Request(). The callback is never called within the call.
  void Send(ApiRequest request, ResponseCallback answer);

  // Sends no further request that writes. Waits for the answers to open requests for up to
  // `limit_ns`; then they fail with kUnavailable. Calls `done` afterwards. Later requests fail with
  // kUnavailable. Called once.
  void Stop(int64_t limit_ns, std::function<void()> done);

  size_t open() const;

 private:
  class OpenRequests;

  void Refuse(ResponseCallback answer, const char* why);

  Transport& transport_;
  Executor& executor_;
  BindFence& fence_;
  const size_t max_open_;
  const std::shared_ptr<OpenRequests> open_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_REQUEST_SENDER_H_
