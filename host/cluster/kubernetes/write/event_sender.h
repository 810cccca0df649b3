// Writes events (events.k8s.io/v1), which inform users. They never delay another request.
//
// client-go: tools/events/event_broadcaster.go
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WRITE_EVENT_SENDER_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WRITE_EVENT_SENDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "host/base/clock.h"
#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/http/transport.h"

namespace berth::host {

// A bounded queue in front of a few connections of its own, in which a tenant with thousands of
// pending pods neither delays the events of another namespace for long, nor displaces them:
//   - The first event of an object for a reason, and an event with `is_unique`, go before others;
//     one request of four is for the others. Within both ranks the namespaces take turns.
//   - Of the events of one object and reason that wait for a connection, the newest one stays, and
//     the others count as repetitions. This does not apply to an event with `is_unique`, to the
//     count of a series, and to an event that is to be tried again later.
//   - If more than `queue_bytes` wait, the namespace with the most bytes loses an event, which is
//     dropped and counted: a repetition, if one waits; see FairQueue.
//
// Series: events with the same key are one event of the API. The key is type, action, reason,
// reporting controller and instance, `regarding` with its resourceVersion, and `related`; the note
// is not part of it, as in client-go. The first event is created; the second one creates a series
// with count 2 by a patch; later ones are only counted, and the count is written every `refresh_ns`
// and when the series ends, `finish_ns` after its last event. An event with `is_unique` begins no
// series: it is forgotten when the server has it. One request of a series is waiting or under way
// at most, so that a patch never overtakes the creation.
//
// An event that cannot be written is tried up to `tries` times, unless the queue loses it; it waits
// outside of the connections. If the namespace is being deleted (403 with the
// cause NamespaceTerminating), or for any other final answer, it is dropped. 404 for a series
// creates the event again, with its series. 409 AlreadyExists for a creation is success: a request
// whose answer was lost has created the event.
//
// Threading: the executor's thread.
// Lifetime:  what the constructor receives must outlive it.
class EventSender {
 public:
  struct Options {
    size_t queue_bytes = size_t{4} << 20;  // About 5,000 events.
    size_t in_flight = 8;
    size_t max_series = 4096;  // The series without events for the longest time is ended if there
                               // are more.
    uint32_t tries = 12;
    int64_t retry_ns = 10'000'000'000;       // Lengthened by a random part of up to 25 %.
    int64_t finish_ns = 360'000'000'000;     // 6 minutes.
    int64_t refresh_ns = 1'800'000'000'000;  // 30 minutes.
    int64_t request_timeout_ns = 34'000'000'000;
    // An event without a reportingInstance, or with that of its profile, which is the same as its
    // reportingController, gets "<reportingController>-<host name>".
    std::string host_name;
    uint64_t seed = 0;
    // Called immediately before the first byte of each request; see HttpRequest::may_send. If it
    // refuses, the event is dropped. May be empty.
    std::function<Status()> may_send = {};
  };
  struct Counts {
    uint64_t sent = 0;      // Events and counts of series that the server has stored.
    uint64_t full = 0;      // Lost because too many waited.
    uint64_t ended = 0;     // Lost because the time of Flush() had passed.
    uint64_t refused = 0;   // Lost because the server or may_send refused them.
    uint64_t failed = 0;    // Lost because every try failed.
    uint64_t repeated = 0;  // Counted in a series, or replaced while they waited.
  };

  static std::unique_ptr<EventSender> Create(Transport& transport, Executor& executor,
                                             const Clock& wall, Options options, Log log);
  virtual ~EventSender() = default;

  // Accepts the event. Costs O(log namespaces), and as much for each event that is dropped.
  virtual void Send(Event event) = 0;
  // Sends the events that wait, and the counts of open series, once each, for at most `limit_ns`;
  // then drops the rest and calls `done`, never within the call. Later events are dropped, and
  // later answers are ignored, so that another thread may destroy the object. A request that is
  // under way then is counted neither as sent nor as lost. Called once.
  virtual void Flush(int64_t limit_ns, std::function<void()> done) = 0;

  virtual const Counts& counts() const = 0;
  // Returns how many requests wait, including those that are to be repeated.
  virtual size_t waiting() const = 0;
  virtual size_t waiting_bytes() const = 0;
  virtual size_t series() const = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WRITE_EVENT_SENDER_H_
