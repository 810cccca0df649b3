#include "host/process/run/leadership.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/stored_objects.h"
#include "host/cluster/kubernetes/write/request_bodies.h"
#include "host/http/io_thread.h"

namespace berth::host {
namespace {

int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A server with one lease. It answers on the thread of an executor.
class LeaseServer final : public Transport {
 public:
  explicit LeaseServer(Executor& executor) : executor_(executor) {}

  void Send(HttpRequest request, Callback done) override {
    EXPECT_TRUE(executor_.IsCurrent());
    executor_.Post([this, request = std::move(request), done = std::move(done)] {
      done(is_closed ? HttpResponse{.status = Status::Unavailable("closed")} : Serve(request));
    });
  }
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest, StreamSink&) override {
    ADD_FAILURE() << "an election opens no stream";
    return nullptr;
  }
  void Close() override {
    EXPECT_TRUE(executor_.IsCurrent());
    is_closed = true;
  }

  std::atomic<bool> is_away = false;
  std::atomic<bool> is_closed = false;

  std::string Holder() const {
    const Result<Lease> lease = leases_.Get("kube-system", "kube-scheduler");
    return lease.ok() ? lease->holder_identity : "none";
  }

 private:
  HttpResponse Serve(const HttpRequest& request) {
    if (is_away) return {.status = Status::Unavailable("connection refused")};
    Result<Lease> lease = Execute(request);
    HttpResponse response{.delivery = Delivery::kAnswered};
    response.head.http_status = 200;
    if (lease.ok()) {
      response.body = LeaseBody(*lease);
    } else {
      response.head.http_status = lease.status().code() == ErrorCode::kNotFound ? 404 : 409;
    }
    return response;
  }
  Result<Lease> Execute(const HttpRequest& request) {
    if (request.verb == "GET") return leases_.Get("kube-system", "kube-scheduler");
    if (request.verb == "PUT") {
      Result<Lease> lease = ReadLease(request.body);
      return lease.ok() ? leases_.Update(*lease) : lease;
    }
    // A new lease has no resourceVersion, which ReadLease() requires.
    nlohmann::json created = nlohmann::json::parse(request.body);
    created["metadata"]["resourceVersion"] = "0";
    Result<Lease> lease = ReadLease(created.dump());
    return lease.ok() ? leases_.Create(*lease) : lease;
  }

  Executor& executor_;
  ResourceVersions versions_;
  StoredLeases leases_{versions_};
};

class LeadershipTest : public ::testing::Test {
 protected:
  ~LeadershipTest() override {
    leadership_.reset();
    io_.Stop();
  }

  Leadership& Make() {
    Leadership::Options options;
    options.leases = {&server_, &io_};
    options.wall = &wall_;
    options.boot_ns = SteadyNs;
    options.fence = &fence_;
    options.election.identity = "me";
    options.election.lease_ns = 3 * kSecond;
    options.election.renew_deadline_ns = kSecond;
    options.election.retry_ns = 100 * kMillisecond;
    options.scheduler = "acme";
    options.metrics = &metrics_;
    options.write_event = [this](Event event) { event_ = std::move(event); };
    options.on_started = [this] { leads_ = true; };
    options.on_lost = [this](std::string_view) { lost_ = true; };
    leadership_ = std::make_unique<Leadership>(std::move(options));
    return *leadership_;
  }
  // Waits until the condition holds. Returns false after 20 seconds.
  static bool WaitFor(const std::function<bool()>& condition) {
    for (int waited_ms = 0; waited_ms < 20'000; waited_ms += 5) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return condition();
  }
  // Reads the holder on the thread of the server.
  std::string Holder() {
    std::string holder;
    io_.RunAndWait([&] { holder = server_.Holder(); });
    return holder;
  }

  RealClock wall_{1'768'032'000 * kSecond, SteadyNs};
  IoThread io_{"test-lease", SteadyNs};
  LeaseServer server_{io_};
  BindFence fence_{SteadyNs};
  std::atomic<bool> leads_ = false;
  std::atomic<bool> lost_ = false;
  Event event_;  // Written before leads_.
  MetricTable table_;
  ClientMetrics metrics_{table_};
  std::unique_ptr<Leadership> leadership_;
};

TEST_F(LeadershipTest, LeadsAndReleases) {
  Make();
  EXPECT_FALSE(leadership_->view().leads);
  leadership_->Start();
  ASSERT_TRUE(WaitFor([this] { return leads_.load(); }));
  EXPECT_TRUE(fence_.is_open());
  EXPECT_EQ(Holder(), "me");
  const Leadership::View view = leadership_->view();
  EXPECT_TRUE(view.leads);
  EXPECT_EQ(view.holder, "me");
  EXPECT_LE(view.renewed_ns, SteadyNs());
  EXPECT_GT(view.renewed_ns, SteadyNs() - 20 * kSecond);

  leadership_->Release(5 * kSecond);
  EXPECT_FALSE(fence_.is_open());
  EXPECT_EQ(Holder(), "");
  EXPECT_FALSE(lost_);
  leadership_.reset();
  EXPECT_TRUE(server_.is_closed);
}

TEST_F(LeadershipTest, WritesAnEventWhenItLeads) {
  Make().Start();
  ASSERT_TRUE(WaitFor([this] { return leads_.load(); }));
  EXPECT_EQ(event_.note, "me became leader");
  EXPECT_EQ(event_.reporting_controller, "acme");
  EXPECT_EQ(event_.regarding.name, "kube-scheduler");
}

TEST_F(LeadershipTest, TheViewFollowsTheRenewals) {
  Make().Start();
  ASSERT_TRUE(WaitFor([this] { return leads_.load(); }));
  const int64_t first_ns = leadership_->view().renewed_ns;
  EXPECT_TRUE(WaitFor([&] { return leadership_->view().renewed_ns > first_ns; }));
}

TEST_F(LeadershipTest, AServerThatIsAwayLosesTheLease) {
  Make().Start();
  ASSERT_TRUE(WaitFor([this] { return leads_.load(); }));
  EXPECT_EQ(metrics_.leader.With({"kube-scheduler"}).value(), 1);
  Counter& slow_paths = metrics_.slow_path.With({"kube-scheduler"});
  EXPECT_EQ(slow_paths.value(), 0U);
  server_.is_away = true;
  EXPECT_TRUE(WaitFor([this] { return lost_.load(); }));
  EXPECT_GT(slow_paths.value(), 0U);
  EXPECT_EQ(metrics_.leader.With({"kube-scheduler"}).value(), 0);
  EXPECT_FALSE(fence_.is_open());
  EXPECT_TRUE(WaitFor([this] { return !leadership_->view().leads; }));
}

TEST_F(LeadershipTest, ViewTellsWhyTheLeaseCannotBeAcquired) {
  server_.is_away = true;
  Make().Start();
  EXPECT_TRUE(WaitFor([this] { return !leadership_->view().error.ok(); }));
  EXPECT_EQ(leadership_->view().error.message(), "connection refused");
  server_.is_away = false;
  ASSERT_TRUE(WaitFor([this] { return leads_.load(); }));
  EXPECT_TRUE(leadership_->view().error.ok());
}

TEST_F(LeadershipTest, AReleaseBeforeTheStartReturnsAtOnce) {
  Make();
  const int64_t start_ns = SteadyNs();
  leadership_->Release(10 * kSecond);
  EXPECT_LT(SteadyNs() - start_ns, 5 * kSecond);
  EXPECT_FALSE(fence_.is_open());
}

TEST_F(LeadershipTest, ItsDestructionEndsTheElectionWithoutARelease) {
  Make().Start();
  ASSERT_TRUE(WaitFor([this] { return leads_.load(); }));
  leadership_.reset();
  EXPECT_TRUE(server_.is_closed);
  EXPECT_EQ(Holder(), "me");
}

}  // namespace
}  // namespace berth::host
