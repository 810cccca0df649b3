// Checks the outcomes of bindings against a model of a server that loses, delays and repeats.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "host/base/clock.h"
#include "host/base/split_mix.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/write/pod_writer.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {
namespace {

// A server with one pod, and the network before it. A request may be executed up to 60 s after it
// was sent, also when the client has given it up.
class OnePodServer final : public Transport {
 public:
  OnePodServer(VirtualExecutor& executor, uint64_t seed) : executor_(executor), random_(seed) {}

  void Send(HttpRequest request, Callback done) override {
    const bool is_write = request.verb != "GET";
    if (OneIn(10)) return Answer(0, done, {.status = Status::Unavailable("refused")});
    if (request.may_send) {
      if (Status status = request.may_send(); !status.ok()) {
        return Answer(0, done, {.status = std::move(status)});
      }
    }
    if (is_write) last_write_ns = executor_.NowNs();
    const auto open = std::make_shared<Callback>(std::move(done));
    const auto answer = [open](HttpResponse response) {
      if (*open) std::exchange(*open, nullptr)(std::move(response));
    };
    executor_.StartTimer(executor_.NowNs() + request.timeout_ns, [answer] {
      answer({.status = Status::Unavailable("timed out"), .delivery = Delivery::kUnknown});
    });
    if (OneIn(6)) return;  // Never arrives.
    const int64_t delay_ns = UpTo(OneIn(4) ? 60 * kSecond : 100 * kMillisecond);
    const bool is_limited = OneIn(24);
    const bool fails = OneIn(8);
    const bool is_lost = OneIn(4);
    executor_.StartTimer(executor_.NowNs() + delay_ns, [=, this] {
      if (is_limited) return answer(Overloaded());
      HttpResponse response = is_write ? Bind() : Read();
      // This answer of the server says nothing about what it has done.
      if (fails) response = Response(500, "{}");
      if (!is_lost) answer(std::move(response));
    });
  }
  [[nodiscard]] std::unique_ptr<HttpStream> Open(HttpRequest, StreamSink&) override {
    ADD_FAILURE() << "the writer opens no stream";
    return nullptr;
  }
  void Close() override {}

  bool OneIn(uint64_t n) { return random_.Next() % n == 0; }
  int64_t UpTo(int64_t ns) {
    return static_cast<int64_t>(random_.Next() % static_cast<uint64_t>(ns));
  }

  std::string uid = "u1";
  std::string node;
  bool exists = true;
  bool is_deleting = false;
  int executed = 0;           // Bindings of the writer.
  int64_t last_write_ns = 0;  // When the last binding left.

 private:
  static HttpResponse Response(uint32_t http_status, std::string body) {
    return {.delivery = Delivery::kAnswered,
            .head = {.http_status = http_status, .content_type = "application/json"},
            .body = std::move(body)};
  }
  static HttpResponse Overloaded() {
    HttpResponse response = Response(429, "{}");
    response.head.retry_after_ns = kSecond;
    return response;
  }
  HttpResponse Bind() {
    if (!exists) return Response(404, "{}");
    if (uid != "u1" || !node.empty() || is_deleting) return Response(409, "{}");
    node = "n1";
    ++executed;
    return Response(201, "{}");
  }
  HttpResponse Read() const {
    if (!exists) return Response(404, "{}");
    std::string body = R"({"metadata":{"uid":")" + uid + "\"";
    if (is_deleting) body += R"(,"deletionTimestamp":"2026-01-10T08:00:00Z")";
    body += R"(},"spec":{)";
    if (!node.empty()) body += R"("nodeName":")" + node + "\"";
    return Response(200, body + "}}");
  }
  void Answer(int64_t delay_ns, Callback done, HttpResponse response) {
    executor_.StartTimer(
        executor_.NowNs() + delay_ns,
        [done = std::move(done), response = std::move(response)] { done(response); });
  }

  VirtualExecutor& executor_;
  SplitMix64 random_;
};

// Other clients change the pod while the writer binds it.
void ChangeThePod(OnePodServer& server) {
  switch (server.UpTo(5)) {
    case 0:
      if (server.node.empty()) server.node = "n2";
      break;
    case 1:
      if (server.node.empty()) {
        server.exists = false;
      } else {
        server.is_deleting = true;
      }
      break;
    case 2:
      server.exists = true;
      server.uid = "u2";
      server.node.clear();
      server.is_deleting = false;
      break;
    default: break;
  }
}

void RunModelUntil(VirtualClock& clock, VirtualExecutor& executor, int64_t end_ns) {
  while (true) {
    executor.RunAll();
    const std::optional<int64_t> next_ns = executor.NextNs();
    if (!next_ns || *next_ns > end_ns) break;
    clock.AdvanceTo(std::max(*next_ns, clock.NowNs()));
  }
  clock.AdvanceTo(end_ns);
}

class PodWriterModelTest : public ::testing::TestWithParam<int> {};

TEST_P(PodWriterModelTest, OutcomesAreTrue) {
  int successes = 0;
  int failures = 0;
  for (int run = 0; run < 500; ++run) {
    const auto seed = static_cast<uint64_t>(GetParam() * 500 + run + 1);
    SCOPED_TRACE("seed " + std::to_string(seed));
    VirtualClock clock(1000 * kSecond);
    VirtualExecutor executor(clock);
    OnePodServer server(executor, seed);
    BindFence fence([&clock] { return clock.NowNs(); });
    const int64_t closes_ns =
        server.OneIn(3) ? clock.NowNs() + server.UpTo(60 * kSecond) : BindFence::kForever;
    fence.OpenUntil(closes_ns);
    PodWriter writer(server, executor, fence, {.seed = seed}, Log());
    std::optional<Status> outcome;
    bool was_bound = false;  // The pod with this uid is on the node, when the outcome is known.
    writer.Bind({"default", "p", "u1"}, "n1", [&](const Status& status) {
      ASSERT_FALSE(outcome.has_value()) << "a second outcome";
      outcome = status;
      was_bound = server.executed > 0;
    });
    const bool changes = server.OneIn(3);
    for (int step = 0; step < 600 && !outcome; ++step) {
      RunModelUntil(clock, executor, clock.NowNs() + server.UpTo(4 * kSecond));
      if (changes && server.OneIn(10)) ChangeThePod(server);
    }
    ASSERT_TRUE(outcome.has_value());
    EXPECT_LT(server.last_write_ns, closes_ns) << "a byte left after the fence had closed";
    // Everything that is still under way arrives.
    RunModelUntil(clock, executor, clock.NowNs() + 200 * kSecond);
    EXPECT_LE(server.executed, 1);
    EXPECT_EQ(server.executed > 0, was_bound) << "a binding was executed after its outcome";
    if (outcome->ok()) {
      ++successes;
      EXPECT_EQ(server.executed, 1);
    } else {
      ++failures;
      // If the pod is gone or was created again, its binding does not matter any more.
      const bool is_same_pod = server.exists && server.uid == "u1";
      EXPECT_TRUE(!is_same_pod || server.executed == 0) << outcome->ToString();
    }
    EXPECT_EQ(writer.open(), 0U);
  }
  EXPECT_GT(successes, 100);
  EXPECT_GT(failures, 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PodWriterModelTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace berth::host
