// Fixture of the tests of the pod writer.
#ifndef BERTH_TESTS_HARNESS_POD_WRITER_FIXTURE_H_
#define BERTH_TESTS_HARNESS_POD_WRITER_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/clock.h"
#include "host/base/test_log.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/write/pod_writer.h"
#include "tests/harness/scripted_transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {

inline constexpr const char* kBindTarget = "POST /api/v1/namespaces/default/pods/p/binding";
inline constexpr const char* kReadTarget = "GET /api/v1/namespaces/default/pods/p";

// An answer of the API server.
struct Reply {
  uint32_t http_status = 0;  // 0: no answer; see `delivery`.
  std::string body = {};
  int64_t retry_after_ns = 0;
  Delivery delivery = Delivery::kUnknown;
};

inline Reply Lost() { return {}; }
inline Reply NotSent() { return {.delivery = Delivery::kNotSent}; }
inline Reply ErrorReply(uint32_t http_status, const std::string& reason,
                        int64_t retry_after_ns = 0) {
  return {.http_status = http_status,
          .body = R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" + reason +
                  R"(","message":"server: )" + reason + R"(","code":)" +
                  std::to_string(http_status) + "}",
          .retry_after_ns = retry_after_ns};
}
inline Reply Created() { return {.http_status = 201, .body = "{}"}; }
inline Reply PodIs(const std::string& uid, const std::string& node, bool is_deleting = false) {
  return {.http_status = 200,
          .body = R"({"metadata":{"name":"p","uid":")" + uid + "\"" +
                  (is_deleting ? R"(,"deletionTimestamp":"2026-01-10T08:00:00Z")" : "") +
                  R"(},"spec":{)" + (node.empty() ? "" : R"("nodeName":")" + node + "\"") + "}}"};
}

// A pod writer over a transport whose answers the test gives, in virtual time.
class PodWriterTest : public ::testing::Test {
 protected:
  PodWriterTest() { fence_.OpenUntil(BindFence::kForever); }

  void Bind(const char* name = "p") { writer_.Bind({"default", name, "u1"}, "n1", Record("bind")); }
  void Patch(const char* name = "p") {
    PodStatusPatch patch;
    patch.nominated_node = "n1";
    writer_.PatchStatus({"default", name, "u1"}, patch, Record("patch"));
  }
  void Delete(const char* name = "p") {
    writer_.Delete({"default", name, "u1"}, std::nullopt, Record("delete"));
  }
  StatusCallback Record(std::string what) {
    return [this, what = std::move(what)](const Status& status) {
      outcomes_.push_back(what + " " + status.ToString());
    };
  }

  // Runs, and advances the time, until a request is open, nothing is left to do, or the time has
  // come.
  void RunUntilOpen(int64_t end_ns = INT64_MAX) {
    executor_.RunAll();
    while (transport_.open().empty()) {
      const auto next_ns = executor_.NextNs();
      if (!next_ns || *next_ns > end_ns) return;
      clock_.AdvanceTo(std::max(*next_ns, clock_.NowNs()));
      executor_.RunAll();
    }
  }
  void RunFor(int64_t duration_ns) {
    const int64_t end_ns = clock_.NowNs() + duration_ns;
    RunUntilOpen(end_ns);
    clock_.AdvanceTo(end_ns);
    executor_.RunAll();
  }
  // Expects that this is the oldest open request, and answers it. As a real transport, asks
  // may_send first.
  void Expect(const char* request, const Reply& reply) {
    RunUntilOpen();
    ASSERT_FALSE(transport_.open().empty()) << "expected " << request;
    ASSERT_EQ(transport_.open()[0], request);
    const auto may_send = transport_.RequestAt(0).may_send;
    if (may_send) {
      if (Status status = may_send(); !status.ok()) {
        transport_.Lose(0, Delivery::kNotSent, std::move(status));
        executor_.RunAll();
        return;
      }
    }
    if (reply.http_status == 0) {
      transport_.Lose(0, reply.delivery, Status::Unavailable("connection lost"));
    } else {
      transport_.Answer(0, reply.http_status, reply.body, reply.retry_after_ns);
    }
    executor_.RunAll();
  }
  int64_t Elapsed() const { return clock_.NowNs() - kStartNs; }

  static constexpr int64_t kStartNs = 1000 * kSecond;
  VirtualClock clock_{kStartNs};
  VirtualExecutor executor_{clock_};
  ScriptedTransport transport_{executor_};
  BindFence fence_{[this] { return clock_.NowNs(); }};
  TestLog log_;
  PodWriter writer_{transport_, executor_, fence_, {.seed = 7}, Log(log_, "pods")};
  std::vector<std::string> outcomes_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_POD_WRITER_FIXTURE_H_
