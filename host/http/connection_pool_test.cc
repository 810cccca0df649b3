#include "host/http/connection_pool.h"

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "tests/harness/api_server/transport_fixture.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {
namespace {

// The view of a connection that the test has.
struct Line {
  bool is_stale = false;
  bool is_closed = false;
};

class FakeStream final : public ByteStream {
 public:
  explicit FakeStream(std::shared_ptr<Line> line) : line_(std::move(line)) {}
  ~FakeStream() override { Close(); }
  FakeStream(const FakeStream&) = delete;
  FakeStream& operator=(const FakeStream&) = delete;

  void Write(std::string_view, WriteDone) override { ADD_FAILURE() << "the pool writes nothing"; }
  void Read(std::span<char>, ReadDone) override { ADD_FAILURE() << "the pool reads nothing"; }
  bool IsStale() override { return line_->is_stale; }
  uint64_t sent_bytes() const override { return 0; }
  void Close() override { line_->is_closed = true; }

 private:
  const std::shared_ptr<Line> line_;
};

// An attempt to connect that the test completes.
struct FakeDial {
  std::shared_ptr<const TlsContext> tls;
  DialDone done;  // Empty: the attempt was completed or ended.
};

class FakeDialing final : public Dialing {
 public:
  explicit FakeDialing(std::shared_ptr<FakeDial> dial) : dial_(std::move(dial)) {}
  ~FakeDialing() override { dial_->done = nullptr; }
  FakeDialing(const FakeDialing&) = delete;
  FakeDialing& operator=(const FakeDialing&) = delete;

 private:
  const std::shared_ptr<FakeDial> dial_;
};

std::shared_ptr<const TlsContext> AnyTls() {
  return *TlsContext::Create({.insecure = true}, "127.0.0.1", {});
}

class ConnectionPoolTest : public testing::Test, protected TransportObserver {
 protected:
  ConnectionPoolTest() : clock_(0), executor_(clock_), credentials_(AnyTls()) { Make({}); }

  void Make(const ConnectionPool::Limits& limits) {
    pool_ = nullptr;
    TransportObserver& observer = *this;
    pool_ = std::make_unique<ConnectionPool>(
        executor_,
        [this](std::shared_ptr<const TlsContext> tls, DialDone done) {
          dials_.push_back(std::make_shared<FakeDial>(FakeDial{std::move(tls), std::move(done)}));
          return std::make_unique<FakeDialing>(dials_.back());
        },
        credentials_, limits, observer);
  }

  // Asks for a connection. When it is handed out, "name" is in order_ and the connection in
  // taken_; "name: error" after an error.
  ConnectionPool::TicketId Take(const std::string& name, uint8_t priority = 1) {
    auto within_call = std::make_shared<bool>(true);
    const auto ticket =
        pool_->Take(priority, [this, name, within_call](Result<PooledStream> connection) {
          EXPECT_FALSE(*within_call);
          if (!connection.ok()) {
            order_.push_back(name + ": " + std::string(connection.status().message()));
            return;
          }
          order_.push_back(name);
          taken_.push_back(*std::move(connection));
        });
    *within_call = false;
    return ticket;
  }

  // Returns how many attempts are under way.
  size_t dialing() const {
    size_t count = 0;
    for (const auto& dial : dials_) count += dial->done ? 1 : 0;
    return count;
  }

  // Completes the oldest attempt. Returns the connection.
  std::shared_ptr<Line> Answer() {
    auto line = std::make_shared<Line>();
    CompleteDial(std::unique_ptr<ByteStream>(std::make_unique<FakeStream>(line)));
    return line;
  }
  void CompleteDial(Result<std::unique_ptr<ByteStream>> result) {
    for (const auto& dial : dials_) {
      if (!dial->done) continue;
      std::exchange(dial->done, nullptr)(std::move(result));
      executor_.RunAll();
      return;
    }
    ADD_FAILURE() << "there is no attempt to connect";
  }

  // Takes a new connection and returns it to the test.
  std::shared_ptr<Line> Connect() {
    Take("");
    executor_.RunAll();
    auto line = Answer();
    return line;
  }
  void GiveBack(size_t index) {
    pool_->GiveBack(std::move(taken_[index]));
    executor_.RunAll();
  }

  void OnConnections(int change) override { connections_ += change; }

  VirtualClock clock_;
  VirtualExecutor executor_;
  TestCredentials credentials_;
  std::vector<std::shared_ptr<FakeDial>> dials_;
  std::vector<std::string> order_;
  std::vector<PooledStream> taken_;
  int connections_ = 0;
  std::unique_ptr<ConnectionPool> pool_;
};

using Names = std::vector<std::string>;

TEST_F(ConnectionPoolTest, OpensAConnectionForEachRequest) {
  Take("a");
  Take("b");
  EXPECT_EQ(dialing(), 0U) << "not within the call";
  executor_.RunAll();
  EXPECT_EQ(dialing(), 2U);
  EXPECT_EQ(dials_[0]->tls, credentials_.Current()->tls);
  EXPECT_EQ(pool_->waiting(), 2U);
  Answer();
  EXPECT_EQ(order_, Names{"a"});
  EXPECT_FALSE(taken_[0].was_idle);
  Answer();
  EXPECT_EQ(order_, (Names{"a", "b"}));
  EXPECT_EQ(pool_->busy(), 2U);
  EXPECT_EQ(connections_, 2);
  pool_->Drop();
  GiveBack(0);
  EXPECT_EQ(pool_->busy(), 0U);
  EXPECT_EQ(pool_->idle(), 1U);
  EXPECT_EQ(connections_, 1);
}

TEST_F(ConnectionPoolTest, LimitsTheAttemptsToConnect) {
  Make({.connections = 4, .dials = 2});
  for (const char* name : {"a", "b", "c", "d", "e"}) Take(name);
  executor_.RunAll();
  EXPECT_EQ(dialing(), 2U);
  Answer();
  EXPECT_EQ(order_, Names{"a"});
  EXPECT_EQ(dialing(), 2U) << "the next one begins";
  GiveBack(0);
  EXPECT_EQ(order_, (Names{"a", "b"})) << "an idle connection serves the next request at once";
  EXPECT_EQ(dialing(), 2U);
  CompleteDial(Status::Unavailable("x"));
  EXPECT_EQ(dialing(), 1U) << "an attempt that failed is not repeated at once";
  Answer();
  EXPECT_EQ(dialing(), 2U);
  Answer();
  EXPECT_EQ(order_, (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(dialing(), 1U);
  Answer();
  EXPECT_EQ(order_, (Names{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(dials_.size(), 5U);
}

TEST_F(ConnectionPoolTest, HandsOutTheConnectionThatWasUsedLast) {
  const auto first = Connect();
  const auto second = Connect();
  ByteStream* const first_stream = taken_[0].stream.get();
  GiveBack(1);
  GiveBack(0);
  Take("a");
  executor_.RunAll();
  EXPECT_EQ(dialing(), 0U);
  ASSERT_EQ(taken_.size(), 3U);
  EXPECT_EQ(taken_[2].stream.get(), first_stream);
  EXPECT_TRUE(taken_[2].was_idle);
}

TEST_F(ConnectionPoolTest, RequestsWaitInOrderOfPriorityAndArrival) {
  Make({.connections = 1});
  Connect();
  order_.clear();
  Take("c1", 2);
  Take("b1", 1);
  Take("b2", 1);
  Take("a", 0);
  const auto cancelled = Take("b3", 1);
  executor_.RunAll();
  EXPECT_EQ(dialing(), 0U) << "the limit of connections";
  EXPECT_TRUE(pool_->Cancel(cancelled));
  EXPECT_FALSE(pool_->Cancel(cancelled));
  for (size_t i = 0; i < 4; ++i) GiveBack(i);
  EXPECT_EQ(order_, (Names{"a", "b1", "b2", "c1"}));
  EXPECT_EQ(dials_.size(), 1U);
}

TEST_F(ConnectionPoolTest, DroppedConnectionIsReplacedForAWaitingRequest) {
  Make({.connections = 1});
  Connect();
  Take("a");
  executor_.RunAll();
  EXPECT_EQ(dialing(), 0U);
  taken_.clear();
  pool_->Drop();
  executor_.RunAll();
  EXPECT_EQ(dialing(), 1U);
  EXPECT_EQ(connections_, 0);
}

TEST_F(ConnectionPoolTest, ClosesStaleConnections) {
  const auto first = Connect();
  const auto second = Connect();
  GiveBack(0);
  GiveBack(1);
  second->is_stale = true;
  Take("a");
  executor_.RunAll();
  EXPECT_TRUE(second->is_closed);
  EXPECT_FALSE(first->is_closed);
  EXPECT_EQ(order_.back(), "a");
  EXPECT_EQ(connections_, 1);
  first->is_stale = true;
  GiveBack(2);
  Take("b");
  executor_.RunAll();
  EXPECT_TRUE(first->is_closed);
  EXPECT_EQ(dialing(), 1U) << "no connection is left";
}

TEST_F(ConnectionPoolTest, ClosesConnectionsThatAreIdleForTooLong) {
  Make({.idle_ns = 60 * kSecond});
  const auto first = Connect();
  const auto second = Connect();
  GiveBack(0);
  Advance(executor_, clock_, 30 * kSecond);
  GiveBack(1);
  Advance(executor_, clock_, 30 * kSecond - 1);
  EXPECT_FALSE(first->is_closed);
  Advance(executor_, clock_, 1);
  EXPECT_TRUE(first->is_closed);
  EXPECT_FALSE(second->is_closed);
  Advance(executor_, clock_, 30 * kSecond - 1);
  EXPECT_FALSE(second->is_closed);
  Advance(executor_, clock_, 1);
  EXPECT_TRUE(second->is_closed);
  EXPECT_EQ(pool_->idle(), 0U);
  EXPECT_EQ(connections_, 0);
  EXPECT_FALSE(executor_.NextNs().has_value()) << "an empty pool needs no timer";
}

TEST_F(ConnectionPoolTest, ARotatedCertificateClosesConnections) {
  const auto first = Connect();
  const auto second = Connect();
  GiveBack(0);
  credentials_.Set("token", credentials_.Current()->tls);
  Take("a");
  executor_.RunAll();
  EXPECT_EQ(dialing(), 0U) << "a new token needs no new connection";

  Take("b");
  executor_.RunAll();
  credentials_.Set("token", AnyTls());
  const auto outdated = Answer();
  EXPECT_TRUE(outdated->is_closed) << "its attempt began before the rotation";
  EXPECT_EQ(dialing(), 1U);
  EXPECT_EQ(dials_.back()->tls, credentials_.Current()->tls);
  GiveBack(1);
  EXPECT_TRUE(second->is_closed) << "a request waits, but not for this one";
  Answer();
  EXPECT_EQ(order_.back(), "b");

  // Without a request, the timer of idle connections finds them.
  GiveBack(2);
  EXPECT_FALSE(first->is_closed);
  Advance(executor_, clock_, 60 * kSecond);
  EXPECT_TRUE(first->is_closed);
}

TEST_F(ConnectionPoolTest, FailedAttemptFailsRequestsWithoutAnotherConnection) {
  Take("a");
  Take("b");
  executor_.RunAll();
  CompleteDial(Status::Unavailable("refused"));
  EXPECT_EQ(order_, Names()) << "the other attempt may succeed";
  CompleteDial(Status::Unavailable("refused, too"));
  EXPECT_EQ(order_, (Names{"a: refused, too", "b: refused, too"}));
  EXPECT_EQ(pool_->waiting(), 0U);
  EXPECT_EQ(connections_, 0);
  // The next request tries again.
  Take("c");
  executor_.RunAll();
  EXPECT_EQ(dialing(), 1U);
}

TEST_F(ConnectionPoolTest, RequestsWaitForBusyConnectionsAtTheLimit) {
  Connect();
  order_.clear();
  Take("a");
  executor_.RunAll();
  CompleteDial(Status::Unavailable("refused"));
  EXPECT_EQ(order_, Names());
  GiveBack(0);
  EXPECT_EQ(order_, Names{"a"});
}

TEST_F(ConnectionPoolTest, ACallbackMayCancelOtherTickets) {
  ConnectionPool::TicketId other = 0;
  pool_->Take(1, [&](const Result<PooledStream>& connection) {
    EXPECT_FALSE(connection.ok());
    EXPECT_TRUE(pool_->Cancel(other));
    Take("again");
  });
  other = Take("other");
  executor_.RunAll();
  CompleteDial(Status::Unavailable("refused"));
  CompleteDial(Status::Unavailable("refused"));
  EXPECT_EQ(order_, Names()) << "neither the cancelled one nor the new one";
  EXPECT_EQ(pool_->waiting(), 1U);
  EXPECT_EQ(dialing(), 1U);
}

TEST_F(ConnectionPoolTest, ConnectionThatNobodyNeedsAnyMoreIsKept) {
  const auto ticket = Take("a");
  executor_.RunAll();
  EXPECT_TRUE(pool_->Cancel(ticket));
  Answer();
  EXPECT_EQ(pool_->idle(), 1U);
  Take("b");
  executor_.RunAll();
  EXPECT_EQ(order_, Names{"b"});
  EXPECT_TRUE(taken_[0].was_idle);
}

TEST_F(ConnectionPoolTest, LimitsTheRequestsThatWait) {
  Make({.connections = 1, .waiting = 2});
  Connect();
  order_.clear();
  Take("a", 1);
  Take("b", 1);
  executor_.RunAll();
  EXPECT_EQ(order_, Names());
  Take("c", 0);
  executor_.RunAll();
  EXPECT_EQ(order_, Names{"b: more than 2 requests wait for a connection"});
  EXPECT_EQ(pool_->waiting(), 2U);
}

TEST_F(ConnectionPoolTest, CloseEndsEverythingThatIsIdle) {
  const auto idle = Connect();
  const auto busy = Connect();
  Take("a");
  executor_.RunAll();
  Answer();
  Take("b");
  executor_.RunAll();
  EXPECT_EQ(dialing(), 1U);
  order_.clear();
  pool_->GiveBack(std::move(taken_[0]));
  pool_->Close();
  executor_.RunAll();
  EXPECT_EQ(order_, Names());
  EXPECT_TRUE(idle->is_closed);
  EXPECT_EQ(dialing(), 0U);
  EXPECT_FALSE(busy->is_closed);
  pool_->GiveBack(std::move(taken_[1]));
  EXPECT_TRUE(busy->is_closed);
  pool_->Drop();
  EXPECT_EQ(connections_, 0);
  EXPECT_FALSE(executor_.NextNs().has_value());
}

}  // namespace
}  // namespace berth::host
