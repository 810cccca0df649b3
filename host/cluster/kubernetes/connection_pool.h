// A pool of keep-alive connections to one server.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_CONNECTION_POOL_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_CONNECTION_POOL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "host/base/status.h"
#include "host/cluster/kubernetes/byte_stream.h"
#include "host/cluster/kubernetes/credentials.h"
#include "host/cluster/kubernetes/io_thread.h"
#include "host/cluster/kubernetes/transport.h"

namespace berth::host {

// A connection from the pool and the credential that it was opened with.
struct PooledStream {
  std::unique_ptr<ByteStream> stream;
  std::shared_ptr<const Credential> credential;
  bool was_used = false;      // It carried a request before.
  int64_t idle_since_ns = 0;  // While it is in the pool.
};

// Hands out the connection that was used last (LIFO), so that a quiet time closes the surplus.
// Requests that find no connection wait in the order of their priority, then of their arrival.
//
// Threading: the IoThread.
class ConnectionPool {
 public:
  struct Limits {
    size_t connections = 64;           // Busy and idle ones together.
    int64_t idle_ns = 90'000'000'000;  // An idle connection is closed after this time.
    size_t waiting = 100'000;          // More requests than this fail with kUnavailable.
  };
  using Ready = std::function<void(Result<PooledStream> connection)>;
  using TicketId = uint64_t;

  ConnectionPool(IoThread& io, Endpoint endpoint, CredentialSource& credentials,
                 const Limits& limits, const DialOptions& dial, TransportObserver& observer);
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  // Calls `ready` with a connection, never within the call: an idle one that is not stale, or a new
  // one. A connection whose credential is not the current one is not handed out again if the
  // credential has another client certificate or CA; another token needs no new connection.
  // Errors: those of Dial() and of CredentialSource.
  TicketId Take(uint8_t priority, Ready ready);
  // The request does not need a connection any more. Returns false if `ready` was called.
  bool Cancel(TicketId ticket);
  // Returns a connection whose answer was read completely and that may be used again.
  void GiveBack(PooledStream connection);
  // A connection was closed instead of being given back. Every connection that Take() handed out
  // must be reported by GiveBack() or Drop() once.
  void Drop();
  // Closes the idle connections, and the busy ones when they are given back: the server has sent
  // 401, or a certificate has rotated.
  void CloseIdle();

  size_t busy() const;
  size_t idle() const;
  size_t waiting() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_CONNECTION_POOL_H_
