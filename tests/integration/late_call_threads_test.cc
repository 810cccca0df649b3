// The watchdog thread cancels a call on the scheduling thread.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/guard/call_watchdog.h"
#include "host/runtime/points/run_bind.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

class SteadyClock final : public Clock {
 public:
  int64_t NowNs() const override {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  }
};

TEST(LateCallThreads, CancelsABindThatWaitsForCancellation) {
  Stage stage;
  stage.Add("puppet.A", {Point::kBind}).bind = [](const berth_binding& binding, berth_done,
                                                  berth_status* status) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!BERTH_IS_CANCELLED(&binding) && std::chrono::steady_clock::now() < end) {
    }
    return Report({BERTH_CANCELLED, {"it took too long"}}, status);
  };
  stage.Build();
  const SteadyClock clock;
  CallWatchdog watchdog(stage.monitor(), stage.faults(), {.call_ns = 50'000'000});
  const WatchdogThread thread(watchdog, clock);
  auto binding = stage.MakeBinding();
  std::vector<std::string> ends;
  BindRun run(*binding, stage.calls(),
              [&](const PluginStatus& status) { ends.push_back(TextOf(status)); });
  run.Start();
  EXPECT_THAT(ends, ElementsAre("Error: running Bind plugin \"puppet.A\": it took too long"));
  EXPECT_THAT(stage.Faults(), ElementsAre("puppet.A Bind deadline"));
  EXPECT_FALSE(BERTH_IS_CANCELLED(binding->AbiFor(0, BindingCall::kBind)));
}

}  // namespace
}  // namespace berth::host
