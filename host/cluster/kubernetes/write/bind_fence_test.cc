#include "host/cluster/kubernetes/write/bind_fence.h"

#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

class BindFenceTest : public ::testing::Test {
 protected:
  void ExpectClosed(const char* message) {
    const uint64_t refusals = fence_.refusals();
    EXPECT_FALSE(fence_.is_open());
    EXPECT_EQ(fence_.refusals(), refusals) << "is_open() is no request";
    const Status status = fence_.Check();
    EXPECT_EQ(status.code(), ErrorCode::kUnavailable);
    EXPECT_EQ(status.message(), message);
    EXPECT_EQ(fence_.refusals(), refusals + 1);
  }
  void ExpectOpen() {
    const uint64_t refusals = fence_.refusals();
    EXPECT_TRUE(fence_.is_open());
    EXPECT_EQ(fence_.Check().ToString(), "Ok");
    EXPECT_EQ(fence_.refusals(), refusals);
  }

  int64_t now_ns_ = 100 * kSecond;
  BindFence fence_{[this] { return now_ns_; }};
};

TEST_F(BindFenceTest, IsClosedAtFirst) { ExpectClosed("this process does not lead"); }

TEST_F(BindFenceTest, IsOpenBeforeItsTimeOnly) {
  fence_.OpenUntil(now_ns_ + 10 * kSecond);
  ExpectOpen();
  now_ns_ += 10 * kSecond - 1;
  ExpectOpen();
  now_ns_ += 1;
  ExpectClosed("this process does not lead any more: the time to renew its lease ended 0s ago");
  now_ns_ += 1250 * kMillisecond + 7;
  ExpectClosed("this process does not lead any more: the time to renew its lease ended 1.25s ago");
}

TEST_F(BindFenceTest, MovesForwardOnly) {
  fence_.OpenUntil(now_ns_ + 10);
  fence_.OpenUntil(now_ns_ + 5);
  now_ns_ += 9;
  ExpectOpen();
  fence_.OpenUntil(now_ns_ + 2);
  now_ns_ += 1;
  ExpectOpen();
  now_ns_ += 1;
  EXPECT_FALSE(fence_.is_open());
}

TEST_F(BindFenceTest, OpensAgainAfterALateRenewal) {
  fence_.OpenUntil(now_ns_ + 1);
  now_ns_ += 2;
  EXPECT_FALSE(fence_.is_open());
  fence_.OpenUntil(now_ns_ + 1);
  ExpectOpen();
}

TEST_F(BindFenceTest, StaysClosedAfterClose) {
  fence_.OpenUntil(BindFence::kForever);
  fence_.Close();
  ExpectClosed("this process does not lead any more");
  fence_.OpenUntil(BindFence::kForever);
  ExpectClosed("this process does not lead any more");
}

TEST_F(BindFenceTest, IsOpenForEverWithoutAnElection) {
  fence_.OpenUntil(BindFence::kForever);
  now_ns_ = BindFence::kForever - 1;
  ExpectOpen();
}

}  // namespace
}  // namespace berth::host
