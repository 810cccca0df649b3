#include <gtest/gtest.h>

#include "host/cluster/embedded/stored_objects.h"

namespace berth::host {
namespace {

class StoredLeasesTest : public ::testing::Test {
 protected:
  static Lease MakeLease(const char* holder, const char* version = "") {
    Lease lease;
    lease.ns = "kube-system";
    lease.name = "berth";
    lease.holder_identity = holder;
    lease.resource_version = version;
    return lease;
  }

  ResourceVersions versions_;
  StoredLeases stored_{versions_};
};

TEST_F(StoredLeasesTest, PassesLeaseFromOneHolderToTheNext) {
  EXPECT_EQ(stored_.Get("kube-system", "berth").status().ToString(),
            R"(NotFound: leases.coordination.k8s.io "berth" not found)");
  const Result<Lease> created = stored_.Create(MakeLease("one"));
  ASSERT_TRUE(created.ok());
  EXPECT_EQ(created->resource_version, "1");
  const Result<Lease> updated = stored_.Update(MakeLease("two", "1"));
  ASSERT_TRUE(updated.ok());
  EXPECT_EQ(updated->resource_version, "2");
  const Result<Lease> read = stored_.Get("kube-system", "berth");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->holder_identity, "two");
  EXPECT_EQ(read->resource_version, "2");
}

TEST_F(StoredLeasesTest, RejectsASecondCreation) {
  ASSERT_TRUE(stored_.Create(MakeLease("one")).ok());
  EXPECT_EQ(stored_.Create(MakeLease("two")).status().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(stored_.Get("kube-system", "berth")->holder_identity, "one");
}

TEST_F(StoredLeasesTest, RejectsUpdateWithoutAVersionOrALease) {
  EXPECT_EQ(stored_.Update(MakeLease("one")).status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(stored_.Update(MakeLease("one", "1")).status().code(), ErrorCode::kNotFound);
}

TEST_F(StoredLeasesTest, RejectsAnUpdateWithAFormerVersion) {
  ASSERT_TRUE(stored_.Create(MakeLease("one")).ok());
  ASSERT_TRUE(stored_.Update(MakeLease("two", "1")).ok());
  EXPECT_EQ(stored_.Update(MakeLease("three", "1")).status().code(), ErrorCode::kConflict);
  EXPECT_EQ(stored_.Get("kube-system", "berth")->holder_identity, "two");
}

}  // namespace
}  // namespace berth::host
