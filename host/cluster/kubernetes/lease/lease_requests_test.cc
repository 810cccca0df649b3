#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/clock.h"
#include "host/base/json_text.h"
#include "host/base/time_units.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/lease/leader_elector.h"
#include "tests/harness/scripted_transport.h"
#include "tests/harness/virtual_executor.h"

namespace berth::host {
namespace {

constexpr const char* kLeaseTarget =
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";

std::string StoredLease(const std::string& version, const std::string& label) {
  return R"({"kind":"Lease","metadata":{"name":"kube-scheduler","namespace":"kube-system",)"
         R"("resourceVersion":")" +
         version + R"(","labels":{"team":")" + label + R"("}},"spec":{"holderIdentity":"a"}})";
}

class LeaseRequestsTest : public ::testing::Test {
 protected:
  LeaseCallback Record() {
    return [this](Result<Lease> lease) { answer_ = std::move(lease); };
  }
  std::string Open() { return transport_.open().size() == 1 ? transport_.open()[0] : ""; }
  // Returns the body of the request that is open.
  nlohmann::json Body() { return ParseJson(transport_.BodyOf(0)); }
  static Lease MakeLease(const std::string& version) {
    return {.ns = "kube-system",
            .name = "kube-scheduler",
            .resource_version = version,
            .holder_identity = "b",
            .duration_seconds = 15};
  }

  VirtualClock clock_{0};
  VirtualExecutor executor_{clock_};
  ScriptedTransport transport_{executor_};
  LeaseRequests requests_{transport_, "kube-system", "kube-scheduler"};
  std::optional<Result<Lease>> answer_;
};

TEST_F(LeaseRequestsTest, ReadsALease) {
  requests_.Get(5 * kSecond, Record());
  EXPECT_EQ(Open(), std::string("GET ") + kLeaseTarget);
  EXPECT_EQ(transport_.RequestAt(0).timeout_ns, 5 * kSecond);
  EXPECT_EQ(transport_.RequestAt(0).priority, 0);
  EXPECT_TRUE(transport_.BodyOf(0).empty());
  transport_.Answer(0, 200, StoredLease("7", "x"));
  ASSERT_TRUE(answer_.has_value());
  ASSERT_TRUE(answer_->ok()) << answer_->status().ToString();
  EXPECT_EQ((*answer_)->resource_version, "7");
  EXPECT_EQ((*answer_)->holder_identity, "a");
}

TEST_F(LeaseRequestsTest, CreatesALease) {
  requests_.Create(MakeLease("12"), 5 * kSecond, Record());
  EXPECT_EQ(Open(), "POST /apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
  EXPECT_EQ(transport_.RequestAt(0).content_type, kJson);
  EXPECT_FALSE(Body()["metadata"].contains("resourceVersion"));
  EXPECT_EQ(Body()["spec"]["holderIdentity"], "b");
  transport_.Answer(0, 201, StoredLease("1", "x"));
  ASSERT_TRUE(answer_ && answer_->ok());
  EXPECT_EQ((*answer_)->resource_version, "1");
}

TEST_F(LeaseRequestsTest, UpdatesTheLeaseThatItHasRead) {
  requests_.Get(kSecond, Record());
  transport_.Answer(0, 200, StoredLease("7", "x"));
  requests_.Update(MakeLease("7"), 5 * kSecond, Record());
  EXPECT_EQ(Open(), std::string("PUT ") + kLeaseTarget);
  EXPECT_EQ(Body()["metadata"]["labels"]["team"], "x");
  EXPECT_EQ(Body()["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(Body()["spec"]["holderIdentity"], "b");
  // The answer to an update is the base of the next one.
  transport_.Answer(0, 200, StoredLease("8", "y"));
  requests_.Update(MakeLease("8"), 5 * kSecond, Record());
  EXPECT_EQ(Body()["metadata"]["labels"]["team"], "y");
  transport_.Lose(0, Delivery::kUnknown);
  // An answer that is lost leaves the base as it is.
  requests_.Update(MakeLease("8"), 5 * kSecond, Record());
  EXPECT_EQ(Body()["metadata"]["labels"]["team"], "y");
}

TEST_F(LeaseRequestsTest, UpdatesAnotherVersionWithItsKnownFieldsOnly) {
  requests_.Get(kSecond, Record());
  transport_.Answer(0, 200, StoredLease("7", "x"));
  requests_.Update(MakeLease("6"), kSecond, Record());
  EXPECT_FALSE(Body()["metadata"].contains("labels"));
  EXPECT_EQ(Body()["metadata"]["resourceVersion"], "6");
}

TEST_F(LeaseRequestsTest, ReturnsErrors) {
  struct Case {
    uint32_t http_status;
    const char* body;
    ErrorCode code;
  };
  const Case cases[] = {
      {404, "{}", ErrorCode::kNotFound},
      {409, R"({"kind":"Status","reason":"AlreadyExists"})", ErrorCode::kAlreadyExists},
      {409, R"({"kind":"Status","reason":"Conflict"})", ErrorCode::kConflict},
      {403, "{}", ErrorCode::kPermissionDenied},
      {500, "{}", ErrorCode::kInternal},
      {200, "<html>", ErrorCode::kInternal},
  };
  for (const Case& c : cases) {
    answer_.reset();
    requests_.Get(kSecond, Record());
    transport_.Answer(0, c.http_status, c.body);
    ASSERT_TRUE(answer_.has_value());
    EXPECT_EQ(answer_->status().code(), c.code) << c.http_status;
  }
  requests_.Get(kSecond, Record());
  transport_.Lose(0, Delivery::kUnknown);
  EXPECT_EQ(answer_->status().code(), ErrorCode::kUnavailable);
}

TEST_F(LeaseRequestsTest, AcceptsAnEmptyCallback) {
  requests_.Get(kSecond, nullptr);
  transport_.Answer(0, 200, StoredLease("7", "x"));
  EXPECT_TRUE(transport_.open().empty());
}

}  // namespace
}  // namespace berth::host
