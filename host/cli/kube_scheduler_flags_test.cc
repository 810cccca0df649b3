#include "host/cli/kube_scheduler_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::HasSubstr;

TEST(KubeSchedulerFlagsTest, TellsWhatToUseInstead) {
  struct Case {
    const char* option;
    const char* advice;
  };
  const Case cases[] = {
      {"--master", "--kubeconfig"},
      {"--kube-api-qps", "[clientConnection]"},
      {"--kube-api-burst", "[clientConnection]"},
      {"--kube-api-content-type", "JSON"},
      {"--leader-elect-lease-duration", "[leaderElection]"},
      {"--leader-elect-resource-name", "[leaderElection]"},
      {"--policy-config-file", "--profile"},
      {"--secure-port", "--http-address"},
      {"--bind-address", "--http-address"},
      {"--authentication-kubeconfig", "--http-address"},
      {"--authorization-kubeconfig", "--http-address"},
      {"--profiling", "profiling data"},
      {"--v", "-vv"},
      {"--logging-format", "--log-format"},
      {"--log-dir", "standard error"},
      {"--feature-gates", "no feature gates"},
      {"--write-config-to", "berth profile show"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(KubeSchedulerAdvice(c.option), HasSubstr(c.advice)) << c.option;
  }
}

TEST(KubeSchedulerFlagsTest, KnowsNoOtherOptions) {
  for (const char* option : {"", "--", "--config", "--ports", "--kube", "-v", "--verbose",
                             "--cluster", "--kubeconfig", "--leader-elect", "--log-format"}) {
    EXPECT_EQ(KubeSchedulerAdvice(option), "") << option;
  }
}

}  // namespace
}  // namespace berth::host
