#include <gtest/gtest.h>

#include "host/cluster/embedded/api_protocol.h"

namespace berth::host {
namespace {

TEST(ApiErrors, NamesResourcesAsTheApiServerDoes) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {"v1/Pod", "pods"},
      {"v1/Namespace", "namespaces"},
      {"storage.k8s.io/v1/CSINode", "csinodes.storage.k8s.io"},
      {"storage.k8s.io/v1/StorageClass", "storageclasses.storage.k8s.io"},
      {"storage.k8s.io/v1/CSIStorageCapacity", "csistoragecapacities.storage.k8s.io"},
      {"coordination.k8s.io/v1/Lease", "leases.coordination.k8s.io"},
  };
  for (const auto& [kind, resource] : kCases) EXPECT_EQ(ResourceOf(kind), resource);
}

TEST(ApiErrors, HaveTheTextsOfTheApiServer) {
  EXPECT_EQ(NotFoundError("v1/Pod", "web-0").ToString(), R"(NotFound: pods "web-0" not found)");
  EXPECT_EQ(AlreadyExistsError("v1/Node", "n1").ToString(),
            R"(AlreadyExists: nodes "n1" already exists)");
  EXPECT_EQ(ConflictError("pods/binding", "web-0", "why").ToString(),
            R"(Conflict: Operation cannot be fulfilled on pods/binding "web-0": why)");
  EXPECT_EQ(UidConflictError("pods", "web-0", "u1", "u2").ToString(),
            R"(Conflict: Operation cannot be fulfilled on pods "web-0": Precondition failed: )"
            "UID in precondition: u1, UID in object meta: u2");
  EXPECT_EQ(StaleError("v1/Node", "n1").ToString(),
            R"(Conflict: Operation cannot be fulfilled on nodes "n1": the object has been )"
            "modified; please apply your changes to the latest version and try again");
  EXPECT_EQ(InvalidError("v1/Pod", "web-0", "spec.nodeName", "Forbidden").ToString(),
            R"(InvalidArgument: Pod "web-0" is invalid: spec.nodeName: Forbidden)");
  EXPECT_EQ(VersionConflictError("pods", "web-0", "1", "2").ToString(),
            R"(Conflict: Operation cannot be fulfilled on pods "web-0": Precondition failed: )"
            "ResourceVersion in precondition: 1, ResourceVersion in object meta: 2");
}

TEST(ApiErrors, DistinguishesInvalidObjectsFromOtherErrors) {
  EXPECT_TRUE(IsInvalidError(InvalidError("v1/Pod", "web-0", "spec.nodeName", "Forbidden")));
  EXPECT_TRUE(IsInvalidError(InvalidError("storage.k8s.io/v1/CSINode", "", "f", "Required")));
  for (const char* text : {"", "x", "Pod", "Pod \"a", R"(Pod "a" is bad: f: x)",
                           R"(the name (Pod "a" is invalid: f) does not match)"}) {
    EXPECT_FALSE(IsInvalidError(Status::InvalidArgument(text))) << text;
  }
  EXPECT_FALSE(IsInvalidError(Status::NotFound(R"(Pod "a" is invalid: f: x)")));
  EXPECT_FALSE(IsInvalidError(Status::Ok()));
}

}  // namespace
}  // namespace berth::host
