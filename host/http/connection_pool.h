// A pool of keep-alive connections to one server.
#ifndef BERTH_HOST_HTTP_CONNECTION_POOL_H_
#define BERTH_HOST_HTTP_CONNECTION_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "host/base/executor.h"
#include "host/base/status.h"
#include "host/http/byte_stream.h"
#include "host/http/credential_source.h"
#include "host/http/transport.h"

namespace berth::host {

// A connection from the pool.
struct PooledStream {
  std::unique_ptr<ByteStream> stream;
  std::shared_ptr<const TlsContext> tls;  // That of the credential at its opening.
  bool was_idle = false;                  // The server may have closed it meanwhile.
  int64_t idle_since_ns = 0;              // While it is in the pool.
};

// Hands out the connection that was used last (LIFO), so that a quiet time closes the surplus.
// Requests that find no connection wait in the order of their priority, then of their arrival.
//
// Threading: the executor's thread.
// Lifetime:  what the constructor receives must outlive it. A callback must not destroy the pool.
class ConnectionPool {
 public:
  struct Limits {
    size_t connections = 64;  // Busy and idle ones together.
    // An idle connection is closed after this time. An API server closes it after 90 s: a request
    // that meets this end on its way has an unknown outcome.
    int64_t idle_ns = 60'000'000'000;
    // Connections that are opened at a time. The first of many take the TLS session that the others
    // resume, and requests that meanwhile find an idle connection need no further one.
    size_t dials = 4;
    size_t waiting = 100'000;  // More requests than this fail with kUnavailable.
  };
  using Ready = std::function<void(Result<PooledStream> connection)>;
  using TicketId = uint64_t;

  ConnectionPool(Executor& executor, Dialer dial, CredentialSource& credentials,
                 const Limits& limits, TransportObserver& observer);
  ~ConnectionPool();

  // Calls `ready` with a connection, never within the call: an idle one that is not stale, or a new
  // one. A connection whose TlsContext is not the current one is closed instead of being handed
  // out: the client certificate or the CA has rotated. Another token needs no new connection.
  // Errors: those of Dial(), if no connection is left that could serve the request; kUnavailable
  //         if too many requests wait.
  TicketId Take(uint8_t priority, Ready ready);
  // The request does not need a connection any more. Returns false if `ready` was called.
  bool Cancel(TicketId ticket);
  // Returns a connection whose answer was read completely and that may be used again.
  void GiveBack(PooledStream connection);
  // A connection was closed instead of being given back. Every connection that Take() handed out
  // must be reported by GiveBack() or Drop() once.
  void Drop();
  // Closes the idle connections and ends the attempts to connect. Requests that wait are forgotten.
  // Afterwards, connections that are given back are closed, and Take() must not be called.
  void Close();

  size_t busy() const { return busy_; }
  size_t idle() const { return idle_.size(); }
  size_t waiting() const { return waiting_.size(); }

 private:
  using Waiting = std::map<std::pair<uint8_t, TicketId>, Ready>;

  void PlanDispatch();
  // Serves the requests that wait with idle connections, and opens new ones for the others.
  void Dispatch();
  // Fails the requests above the limit: those that would be served last.
  void RefuseSurplus();
  // Closes the idle connections if the TLS settings have changed.
  void CloseOutdated();
  Ready TakeOut(Waiting::iterator at);
  void StartDial();
  // The requests go on waiting if a connection is left that could serve them.
  void OnDialError(const Status& status);
  void AddIdle(PooledStream connection);
  void PlanIdleTimer();
  std::deque<PooledStream>::iterator CloseIdle(std::deque<PooledStream>::iterator at);

  Executor& executor_;
  const Dialer dial_;
  CredentialSource& credentials_;
  const Limits limits_;
  TransportObserver& observer_;
  TicketId last_ticket_ = 0;
  Waiting waiting_;
  std::map<TicketId, uint8_t> priorities_;  // The priority of each ticket that waits.
  std::deque<PooledStream> idle_;           // The one that was used last is the last one.
  std::list<std::unique_ptr<Dialing>> dials_;
  size_t busy_ = 0;
  bool is_closed_ = false;
  OwnedTimer dispatch_timer_;
  OwnedTimer idle_timer_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_CONNECTION_POOL_H_
