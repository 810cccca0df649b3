#include "host/base/kind_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(KindName, AKindWithOneVersionStandsForItself) {
  for (const char* kind : {"v1/Namespace", "storage.k8s.io/v1/CSINode", "apps/v1/ReplicaSet",
                           "a-b.example.com/v1alpha1/X9"}) {
    EXPECT_THAT(KindsOf(kind), ElementsAre(kind));
    EXPECT_FALSE(HasSeveralVersions(kind)) << kind;
    EXPECT_EQ(WhyNotDeclarable(kind), "") << kind;
  }
}

TEST(KindName, VersionsAreInTheOrderOfPreference) {
  EXPECT_THAT(
      KindsOf("resource.k8s.io/v1|v1beta2|v1beta1/ResourceClaim"),
      ElementsAre("resource.k8s.io/v1/ResourceClaim", "resource.k8s.io/v1beta2/ResourceClaim",
                  "resource.k8s.io/v1beta1/ResourceClaim"));
  EXPECT_THAT(KindsOf("v2|v1/Thing"), ElementsAre("v2/Thing", "v1/Thing"));
  EXPECT_TRUE(HasSeveralVersions("v2|v1/Thing"));
  EXPECT_EQ(WhyNotDeclarable("v2|v1/Thing"), "");
}

TEST(KindName, OtherTextsAreNoKinds) {
  for (const char* text :
       {"", "Namespace", "/Namespace", "v1/", "v1/namespace", "V1/Namespace", "v1//Namespace",
        "a/b/v1/Thing", "/v1/Thing", "a|b/v1/Thing", "v1|/Thing", "|v1/Thing", "v1||v2/Thing",
        "v1|v1/Thing", "v1/Thing|Other", "v1 /Thing", "-a/v1/Thing", "v1/Th-ing"}) {
    EXPECT_THAT(KindsOf(text), IsEmpty()) << text;
    EXPECT_THAT(WhyNotDeclarable(text), HasSubstr("a kind such as")) << text;
  }
}

TEST(KindName, PodsAndNodesAreNotDeclarable) {
  for (const char* text : {"v1/Pod", "v1|v2/Pod", "v2|v1/Pod"}) {
    EXPECT_THAT(WhyNotDeclarable(text), HasSubstr("berth.changes/1")) << text;
    EXPECT_THAT(WhyNotDeclarable(text), HasSubstr("BERTH_CHANGES_FLAG_PENDING")) << text;
  }
  EXPECT_THAT(WhyNotDeclarable("v1/Node"), HasSubstr("berth_block.nodes"));
  EXPECT_EQ(WhyNotDeclarable("metrics.k8s.io/v1/Pod"), "") << "a kind of another group";
}

}  // namespace
}  // namespace berth::host
