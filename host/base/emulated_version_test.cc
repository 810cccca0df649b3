#include "host/base/emulated_version.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

TEST(EmulatedVersionTest, ReadsEachVersion) {
  for (const KubeVersion version : kEmulatedVersions) {
    SCOPED_TRACE(ToString(version));
    EXPECT_EQ(ReadEmulatedVersion(ToString(version)).value(), version);
    EXPECT_EQ(ReadEmulatedVersion("kube=" + ToString(version)).value(), version);
  }
  EXPECT_EQ(ReadEmulatedVersion("1.36").value(), (KubeVersion{1, 36}));
}

TEST(EmulatedVersionTest, RejectsEverythingElse) {
  for (const char* text : {"", "1", "1.35", "1.38", "v1.37", "1.37.2", "1.037", " 1.37",
                           "kube=", "kube=kube=1.37", "foo=1.37"}) {
    SCOPED_TRACE(text);
    const auto read = ReadEmulatedVersion(text);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.status().message(),
              std::string("expected \"1.36\" or \"1.37\", found \"") + text + "\"");
  }
}

TEST(EmulatedVersionTest, VersionsAscend) {
  EXPECT_TRUE(std::ranges::is_sorted(kEmulatedVersions));
  EXPECT_LT((KubeVersion{1, 9}), (KubeVersion{1, 10}));
  EXPECT_LT((KubeVersion{1, 37}), (KubeVersion{2, 0}));
}

TEST(EmulatedVersionTest, PluginsGetANumberThatAscends) {
  EXPECT_EQ((KubeVersion{1, 37}).ToAbi(), BERTH_KUBE_VERSION(1, 37));
  EXPECT_LT((KubeVersion{1, 9}).ToAbi(), (KubeVersion{1, 10}).ToAbi());
  EXPECT_EQ(KubeVersion::FromAbi(BERTH_KUBE_VERSION(1, 36)), (KubeVersion{1, 36}));
  EXPECT_EQ(KubeVersion::FromAbi(0), kNewestKubeVersion);
}

}  // namespace
}  // namespace berth::host
