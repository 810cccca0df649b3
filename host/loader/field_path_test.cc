#include "host/loader/field_path.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

// Returns "expected ..., found ...", or "" for a valid path.
std::string Text(const std::optional<FieldPathError>& error) {
  return error.has_value() ? "expected " + error->expected + ", found " + error->found : "";
}

TEST(FieldPathTest, AcceptsPathsThatExist) {
  for (const char* path :
       {"Pod:", "Node:", "Pod:/spec/hostIPC", "Pod:/spec", "Pod:/metadata/labels/a~1b", "Pod:/kind",
        "Node:/status", "Pod:/spec/containers/0/image", "Node:/spec/podCIDR",
        "Node:/status/nodeInfo/osImage", "Pod:/status/podIP", "Node:/metadata/annotations/x~0y"}) {
    EXPECT_EQ(Text(CheckFieldPath(path)), "") << path;
  }
  EXPECT_EQ(Text(CheckPodFieldPath("/spec/containers/ports/hostPort")), "");
}

TEST(FieldPathTest, ErrorsNameTheNearestPath) {
  const std::string kPod = "expected a field of a Pod of Kubernetes 1.37, found ";
  const std::string kNode = "expected a field of a Node of Kubernetes 1.37, found ";
  const std::string kBegin =
      "expected a path that begins with Pod: or Node:, such as "
      "Pod:/spec/hostIPC, found ";
  const std::string kPointer = "expected a JSON pointer such as Pod:/spec/nodeName, found ";
  const struct {
    const char* path;
    std::string error;
  } cases[] = {
      {"Pod:/spec/hostIpc", kPod + "\"Pod:/spec/hostIpc\"; did you mean Pod:/spec/hostIPC?"},
      {"Pod:/spce/hostIPC", kPod + "\"Pod:/spce/hostIPC\"; did you mean Pod:/spec/hostIPC?"},
      {"Pod:/spec/contaners/0/image",
       kPod + "\"Pod:/spec/contaners/0/image\"; did you mean Pod:/spec/containers/0/image?"},
      {"Pod:/spec/podIP", kPod + "\"Pod:/spec/podIP\"; did you mean Pod:/status/podIP?"},
      {"Pod:/hostIPC", kPod + "\"Pod:/hostIPC\"; did you mean Pod:/spec/hostIPC?"},
      {"Pod:/spec/zzzzzzzzzzzz", kPod + "\"Pod:/spec/zzzzzzzzzzzz\"; did you mean Pod:/spec?"},
      {"Pod:/kind/name", kPod + "\"Pod:/kind/name\"; did you mean Pod:/metadata/name?"},
      {"Node:/spec/podCidr", kNode + "\"Node:/spec/podCidr\"; did you mean Node:/spec/podCIDR?"},
      {"Node:/spec/hostIPC", kNode + "\"Node:/spec/hostIPC\"; did you mean Node:/spec?"},
      {"/spec/hostIPC", kBegin + "\"/spec/hostIPC\""},
      {"Pods:/spec/hostIPC", kBegin + "\"Pods:/spec/hostIPC\""},
      {"", kBegin + "\"\""},
      {"Pod:spec/hostIPC", kPointer + "\"Pod:spec/hostIPC\""},
      {"Pod:/spec//hostIPC", kPointer + "\"Pod:/spec//hostIPC\""},
      {"Pod:/spec/", kPointer + "\"Pod:/spec/\""},
      {"Pod:/metadata/labels/a~2", kPointer + "\"Pod:/metadata/labels/a~2\""},
      {"Pod:/metadata/labels/a~", kPointer + "\"Pod:/metadata/labels/a~\""},
  };
  for (const auto& c : cases) EXPECT_EQ(Text(CheckFieldPath(c.path)), c.error) << c.path;
  EXPECT_EQ(Text(CheckPodFieldPath("/spec/toleration")),
            kPod + "\"/spec/toleration\"; did you mean /spec/tolerations?");
}

}  // namespace
}  // namespace berth::host
