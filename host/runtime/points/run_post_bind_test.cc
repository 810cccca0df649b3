#include "host/runtime/points/run_post_bind.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// PostBind is called in quarantine too, so that the plugin can free what it holds for the pod.
TEST(RunPostBindTest, CallsAllPluginsInOrder) {
  Stage stage;
  for (const char* name : {"puppet.A", "puppet.B", "puppet.C"}) {
    stage.Add(name, {Point::kPostBind}).post_bind = [&stage, name](const berth_binding& binding) {
      stage.log.push_back(std::string(name) + " " + std::string(Text(binding.pod->meta->name)) +
                          ">" + std::string(Text(binding.node_name)));
    };
  }
  stage.Build();
  stage.Quarantine("puppet.C");
  RunPostBind(*stage.MakeBinding());
  EXPECT_THAT(stage.log, ElementsAre("puppet.A p>n1", "puppet.B p>n1", "puppet.C p>n1"));
}

TEST(RunPostBindTest, WithoutPluginsItDoesNothing) {
  Stage stage;
  stage.Build();
  RunPostBind(*stage.MakeBinding());
  EXPECT_THAT(stage.log, IsEmpty());
}

}  // namespace
}  // namespace berth::host
