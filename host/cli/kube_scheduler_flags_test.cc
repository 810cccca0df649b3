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
      {"--kube-api-qps", "set qps in [clientConnection]"},
      {"--kube-api-burst", "set burst in [clientConnection]"},
      {"--kube-api-content-type", "JSON"},
      {"--leader-elect-lease-duration", "set leaseDuration in [leaderElection]"},
      {"--leader-elect-renew-deadline", "set renewDeadline in [leaderElection]"},
      {"--leader-elect-retry-period", "set retryPeriod in [leaderElection]"},
      {"--leader-elect-resource-name", "set resourceName in [leaderElection]"},
      {"--leader-elect-resource-namespace", "set resourceNamespace in [leaderElection]"},
      {"--lock-object-name", "set resourceName in [leaderElection]"},
      {"--policy-config-file", "--profile"},
      {"--secure-port", "use --http-address"},
      {"--bind-address", "use --http-address"},
      {"--tls-cert-file", "plain HTTP"},
      {"--authentication-kubeconfig", "without authentication"},
      {"--authorization-kubeconfig", "without authentication"},
      {"--profiling", "profiling"},
      {"--disabled-metrics", "all its metrics"},
      {"--v", "-vv"},
      {"--logging-format", "use --log-format"},
      {"--log-flush-frequency", "standard error"},
      {"--feature-gates", "no feature gates"},
      {"--write-config-to", "berth profile show"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(KubeSchedulerAdvice(c.option), HasSubstr(c.advice)) << c.option;
  }
}

TEST(KubeSchedulerFlagsTest, KnowsNoOtherOptions) {
  for (const char* option : {"", "--", "--config", "--ports", "--kube", "-v", "--verbose",
                             "--cluster", "--kubeconfig", "--leader-elect", "--emulated-version"}) {
    EXPECT_EQ(KubeSchedulerAdvice(option), "") << option;
  }
}

}  // namespace
}  // namespace berth::host
