#include <gtest/gtest.h>

#include <berth/claims.h>
#include <berth/testing/builders.h>

namespace berth::testing {
namespace {

ObjectSpec Claim(std::string spec) {
  return MakeObject("v1/PersistentVolumeClaim", "default", "c", R"({"spec": )" + spec + "}");
}

TEST(Claims, TheAnnotationOverridesTheField) {
  const auto storage_class = [](const ObjectSpec& claim) {
    Ids ids;
    return std::string(ClaimClass(ValueOf(ObjectHandle(claim, ids).get())));
  };
  const char* const annotation = "volume.beta.kubernetes.io/storage-class";
  EXPECT_EQ(storage_class(Claim(R"({"storageClassName": "fast"})")), "fast");
  EXPECT_EQ(storage_class(Claim("{}")), "");
  EXPECT_EQ(storage_class(Claim(R"({"storageClassName": "fast"})").Annotation(annotation, "old")),
            "old");
  EXPECT_EQ(storage_class(Claim(R"({"storageClassName": "fast"})").Annotation(annotation, "")), "")
      << "an empty annotation overrides too";
}

TEST(Claims, EphemeralClaimMustBeOwnedByThePod) {
  Ids ids;
  const PodHandle pod(MakePod("p").Uid("u"), ids);
  const auto is_for_pod = [&](const ObjectSpec& claim) {
    const ObjectHandle handle(claim, ids);
    return ClaimIsForPod(*handle, *pod);
  };
  const OwnerSpec owner{.kind = "Pod", .name = "p", .uid = "u", .api_version = "v1"};
  EXPECT_TRUE(is_for_pod(Claim("{}").Owner(owner)));
  EXPECT_FALSE(is_for_pod(Claim("{}")));
  OwnerSpec guest = owner;
  guest.controller = false;
  EXPECT_FALSE(is_for_pod(Claim("{}").Owner(guest)));
  OwnerSpec other = owner;
  other.uid = "v";
  EXPECT_FALSE(is_for_pod(Claim("{}").Owner(other)));
  ObjectSpec elsewhere = Claim("{}").Owner(owner);
  elsewhere.ns = "other";
  EXPECT_FALSE(is_for_pod(elsewhere));
}

TEST(Claims, NotFoundTextNamesResourceAndObject) {
  EXPECT_EQ(NotFoundText("storageclass.storage.k8s.io", "fast"),
            "storageclass.storage.k8s.io \"fast\" not found");
}

}  // namespace
}  // namespace berth::testing
