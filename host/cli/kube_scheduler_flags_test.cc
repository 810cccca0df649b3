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
      {"--kubeconfig", "--cluster"},
      {"--master", "--cluster"},
      {"--kube-api-qps", "--cluster"},
      {"--kube-api-burst", "--cluster"},
      {"--leader-elect", "leader"},
      {"--leader-elect-lease-duration", "leader"},
      {"--policy-config-file", "--profile"},
      {"--secure-port", "HTTP"},
      {"--bind-address", "HTTP"},
      {"--authentication-kubeconfig", "HTTP"},
      {"--authorization-kubeconfig", "HTTP"},
      {"--profiling", "HTTP"},
      {"--v", "-vv"},
      {"--logging-format", "standard error"},
      {"--feature-gates", "no feature gates"},
      {"--write-config-to", "berth profile show"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(KubeSchedulerAdvice(c.option), HasSubstr(c.advice)) << c.option;
  }
}

TEST(KubeSchedulerFlagsTest, KnowsNoOtherOptions) {
  for (const char* option :
       {"", "--", "--config", "--ports", "--kube", "-v", "--verbose", "--cluster"}) {
    EXPECT_EQ(KubeSchedulerAdvice(option), "") << option;
  }
}

}  // namespace
}  // namespace berth::host
