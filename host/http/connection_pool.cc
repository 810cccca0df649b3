#include "host/http/connection_pool.h"

#include <algorithm>
#include <string>
#include <vector>

#include "host/base/assert.h"

namespace berth::host {

ConnectionPool::ConnectionPool(Executor& executor, Dialer dial, CredentialSource& credentials,
                               const Limits& limits, TransportObserver& observer)
    : executor_(executor),
      dial_(std::move(dial)),
      credentials_(credentials),
      limits_(limits),
      observer_(observer),
      dispatch_timer_(executor),
      idle_timer_(executor) {}

ConnectionPool::~ConnectionPool() { Close(); }

ConnectionPool::TicketId ConnectionPool::Take(uint8_t priority, Ready ready) {
  BERTH_ASSERT(!is_closed_);
  const TicketId ticket = ++last_ticket_;
  waiting_.emplace(std::pair(priority, ticket), std::move(ready));
  priorities_.emplace(ticket, priority);
  PlanDispatch();
  return ticket;
}

bool ConnectionPool::Cancel(TicketId ticket) {
  const auto found = priorities_.find(ticket);
  if (found == priorities_.end()) return false;
  waiting_.erase({found->second, ticket});
  priorities_.erase(found);
  return true;
}

void ConnectionPool::GiveBack(PooledStream connection) {
  BERTH_ASSERT(busy_ > 0 && connection.stream != nullptr);
  --busy_;
  AddIdle(std::move(connection));
}

void ConnectionPool::Drop() {
  BERTH_ASSERT(busy_ > 0);
  --busy_;
  observer_.OnConnections(-1);
  PlanDispatch();
}

void ConnectionPool::Close() {
  is_closed_ = true;
  dispatch_timer_.Stop();
  idle_timer_.Stop();
  waiting_.clear();
  priorities_.clear();
  dials_.clear();
  while (!idle_.empty()) CloseIdle(idle_.begin());
}

void ConnectionPool::PlanDispatch() {
  if (is_closed_ || waiting_.empty() || dispatch_timer_.is_running()) return;
  dispatch_timer_.StartAfter(0, [this] { Dispatch(); });
}

void ConnectionPool::Dispatch() {
  RefuseSurplus();
  CloseOutdated();
  while (!waiting_.empty() && !idle_.empty()) {
    if (idle_.back().stream->IsStale()) {
      CloseIdle(std::prev(idle_.end()));
      continue;
    }
    PooledStream connection = std::move(idle_.back());
    idle_.pop_back();
    ++busy_;
    // The callback may call every method of the pool.
    TakeOut(waiting_.begin())(std::move(connection));
    if (is_closed_) return;
  }
  while (dials_.size() < std::min(waiting_.size(), limits_.dials) &&
         busy_ + idle_.size() + dials_.size() < limits_.connections) {
    StartDial();
  }
}

void ConnectionPool::RefuseSurplus() {
  while (!is_closed_ && waiting_.size() > limits_.waiting) {
    TakeOut(std::prev(waiting_.end()))(Status::Unavailable(
        "more than " + std::to_string(limits_.waiting) + " requests wait for a connection"));
  }
}

void ConnectionPool::CloseOutdated() {
  if (idle_.empty()) return;
  const std::shared_ptr<const TlsContext> current = credentials_.Current()->tls;
  for (auto at = idle_.begin(); at != idle_.end();) {
    at = at->tls == current ? std::next(at) : CloseIdle(at);
  }
}

ConnectionPool::Ready ConnectionPool::TakeOut(Waiting::iterator at) {
  Ready ready = std::move(at->second);
  priorities_.erase(at->first.second);
  waiting_.erase(at);
  return ready;
}

void ConnectionPool::StartDial() {
  const auto attempt = dials_.emplace(dials_.end());
  const std::shared_ptr<const TlsContext> tls = credentials_.Current()->tls;
  *attempt = dial_(tls, [this, attempt, tls](Result<std::unique_ptr<ByteStream>> stream) {
    // Lives until the end of the call of which this is the callback.
    const std::unique_ptr<Dialing> dialing = std::move(*attempt);
    dials_.erase(attempt);
    if (!stream.ok()) return OnDialError(stream.status());
    observer_.OnConnections(1);
    PooledStream connection = {.stream = *std::move(stream), .tls = tls};
    const bool is_current = tls == credentials_.Current()->tls;
    if (waiting_.empty() || !is_current) return AddIdle(std::move(connection));
    // It is not checked first: what a server sends after the handshake, such as that it refuses
    // the client certificate, is the answer to the request.
    ++busy_;
    // The others that wait may need one too.
    PlanDispatch();
    TakeOut(waiting_.begin())(std::move(connection));
  });
}

void ConnectionPool::OnDialError(const Status& status) {
  if (busy_ > 0 || !dials_.empty() || !idle_.empty()) return;
  std::vector<Waiting::key_type> failed;
  for (const auto& [key, ready] : waiting_) failed.push_back(key);
  // A callback may cancel the tickets of others.
  for (const Waiting::key_type& key : failed) {
    const auto found = waiting_.find(key);
    if (found != waiting_.end()) TakeOut(found)(status);
  }
}

void ConnectionPool::AddIdle(PooledStream connection) {
  if (is_closed_) {
    connection.stream->Close();
    observer_.OnConnections(-1);
    return;
  }
  connection.was_idle = true;
  connection.idle_since_ns = executor_.NowNs();
  idle_.push_back(std::move(connection));
  if (!idle_timer_.is_running()) PlanIdleTimer();
  PlanDispatch();
}

void ConnectionPool::PlanIdleTimer() {
  if (idle_.empty()) return;
  idle_timer_.StartAt(idle_.front().idle_since_ns + limits_.idle_ns, [this] {
    // The connection that was used longest ago is the first one.
    const int64_t now_ns = executor_.NowNs();
    while (!idle_.empty() && now_ns - idle_.front().idle_since_ns >= limits_.idle_ns) {
      CloseIdle(idle_.begin());
    }
    CloseOutdated();
    PlanIdleTimer();
  });
}

std::deque<PooledStream>::iterator ConnectionPool::CloseIdle(
    std::deque<PooledStream>::iterator at) {
  at->stream->Close();
  observer_.OnConnections(-1);
  return idle_.erase(at);
}

}  // namespace berth::host
