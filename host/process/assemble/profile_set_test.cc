#include "host/process/assemble/profile_set.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/assert.h"
#include "tests/harness/paths.h"

namespace berth::host {
namespace {

class KindUsersTest : public ::testing::Test {
 protected:
  KindUsersTest() {
    for (const std::string& directory : {DefaultPluginDirectory(), TestPluginDirectory()}) {
      const Status status = plugins_.AddDirectory(directory);
      BERTH_ASSERT_MSG(status.ok(), "%s", status.ToString().c_str());
    }
  }

  KindUsers UsersOf(const std::vector<std::string>& names) const {
    PlanSpec spec;
    for (const std::string& name : names) spec.plugins.push_back({name, nullptr, ""});
    return {plugins_.catalog(), {&spec, 1}};
  }

  PluginSet plugins_{::testing::TempDir(), [] { return int64_t{0}; }};
};

TEST_F(KindUsersTest, TheHostNeedsPodsAndNodes) {
  const KindUsers users;
  EXPECT_EQ(users.Of("v1/Pod"), "the host");
  EXPECT_EQ(users.Of("v1/Node"), "the host");
  EXPECT_EQ(users.Of("v1/Namespace"), "");
  EXPECT_EQ(users.kinds().size(), 2U);
}

TEST_F(KindUsersTest, NamesThePluginsThatDeclareAKind) {
  constexpr const char* kClasses = "storage.k8s.io/v1/StorageClass";
  EXPECT_EQ(UsersOf({"VolumeZone"}).Of(kClasses), "the plugin VolumeZone");
  EXPECT_EQ(UsersOf({"VolumeZone", "NodeVolumeLimits"}).Of(kClasses),
            "the plugins NodeVolumeLimits and VolumeZone");
  EXPECT_EQ(UsersOf({"NodeName"}).Of(kClasses), "");
}

TEST_F(KindUsersTest, APluginThatNoProfileEnablesNeedsNothing) {
  EXPECT_EQ(UsersOf({"NodeName"}).kinds().size(), 2U);
  EXPECT_EQ(UsersOf({"acme.Unknown"}).kinds().size(), 2U);
}

TEST_F(KindUsersTest, EachVersionOfDeclaredKindIsAnEntry) {
  const KindUsers users = UsersOf({"test.Observer"});
  EXPECT_EQ(users.Of("example.com/v1/Rack"), "the plugin test.Observer");
  EXPECT_EQ(users.Of("example.com/v2/Rack"), "the plugin test.Observer");
  EXPECT_EQ(users.Of("example.com/v2|v1/Rack"), "");
}

}  // namespace
}  // namespace berth::host
