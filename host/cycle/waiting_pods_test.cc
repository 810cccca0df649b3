// Class WaitingPods, through the whole loop: which pods wait on Permit, as plugins see them.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/cycle/binding_cycle.h"
#include "tests/harness/pod_lifecycle.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NamesOfWaiting(const Puppet& puppet) {
  std::vector<std::string> names;
  puppet.waiting->each(
      puppet.host,
      [](void* to, const berth_pod* pod) noexcept -> int32_t {
        static_cast<std::vector<std::string>*>(to)->emplace_back(Text(pod->meta->name));
        return 1;
      },
      &names);
  return names;
}

// In Unreserve, the plugin gets the pods that still wait, without the pod that is being undone.
TEST(WaitingPodsTest, DestroyedLoopRemovesPodsOneByOne) {
  PodLifecycle pod;
  pod.a().permit = PermitAnswers({BERTH_WAIT, {}}, 60 * kSecond);
  std::vector<std::vector<std::string>> seen;
  pod.a().unreserve = [&](const berth_binding&) { seen.push_back(NamesOfWaiting(pod.a())); };
  pod.Run();
  pod.AddPod("q");
  pod.AddPod("r");
  pod.harness().Run();
  ASSERT_EQ(pod.harness().loop().binding_count(), 3U);
  pod.harness().Stop();
  EXPECT_THAT(seen, ElementsAre(ElementsAre("q", "r"), ElementsAre("r"), IsEmpty()));
}

// The decision of a plugin is applied after the scheduling cycle. The list of waiting pods changes
// immediately, so that a plugin in the same cycle does not rely on a pod that has been rejected.
TEST(WaitingPodsTest, DecidedPodsDoNotWait) {
  PodLifecycle pod;
  const Puppet& a = pod.a();
  std::vector<std::vector<std::string>> seen;
  std::vector<berth_code> codes;
  const auto allow = [&](const char* uid) {
    codes.push_back(a.waiting->allow(a.host, AsStr(std::string_view(uid))));
    seen.push_back(NamesOfWaiting(a));
  };
  const auto reject = [&](const char* uid) {
    const berth_rejection rejection{sizeof rejection, 0, AsStr(uid), AsStr("no")};
    codes.push_back(a.waiting->reject(a.host, &rejection));
    seen.push_back(NamesOfWaiting(a));
  };
  pod.a().permit = [&](const berth_cycle& cycle, const berth_target&, int64_t* timeout,
                       berth_status*) -> berth_code {
    *timeout = 60 * kSecond;
    if (Text(cycle.pod->meta->name) != "last") return BERTH_WAIT;
    reject("uid-p");
    allow("uid-q");
    // The first decision counts.
    allow("uid-p");
    reject("uid-q");
    // The timeout of a plugin that has decided does not expire.
    pod.harness().clock().Advance(60 * kSecond);
    return BERTH_SUCCESS;
  };
  pod.Run();
  pod.AddPod("q");
  pod.harness().Run();
  pod.AddPod("last");
  pod.harness().Run();
  EXPECT_THAT(seen, ElementsAre(ElementsAre("q"), IsEmpty(), IsEmpty(), IsEmpty()));
  EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_SUCCESS, BERTH_NOT_FOUND, BERTH_NOT_FOUND));
  EXPECT_EQ(pod.Outcome("q"), "Success");
  EXPECT_NE(pod.harness().cluster().PodScheduledMessage("default", "p"), "");
}

TEST(WaitingPodsTest, APodPermittedAtOnceDoesNotWait) {
  PodLifecycle pod;
  std::vector<berth_code> codes;
  std::vector<std::string> seen{"not called"};
  pod.b().pre_flight = [&](const berth_binding&, berth_status*) -> berth_code {
    Puppet& b = pod.b();
    seen = NamesOfWaiting(b);
    const berth_rejection rejection{sizeof rejection, 0, AsStr("uid-p"), AsStr("no")};
    codes.push_back(b.waiting->reject(b.host, &rejection));
    codes.push_back(b.waiting->allow(b.host, AsStr(std::string_view("uid-p"))));
    return BERTH_SUCCESS;
  };
  pod.Run();
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_THAT(codes, ElementsAre(BERTH_NOT_FOUND, BERTH_NOT_FOUND));
  EXPECT_EQ(pod.Outcome(), "Success");
}

TEST(WaitingPodsTest, PluginSeesOnlyPodsThatWaitForIt) {
  PodLifecycle pod;
  std::vector<std::string> seen_by_a, seen_by_b{"not called"};
  berth_code allowed_by_b = BERTH_BUG;
  pod.a().permit = [&](const berth_cycle& cycle, const berth_target&, int64_t* timeout,
                       berth_status*) -> berth_code {
    *timeout = kSecond;
    if (Text(cycle.pod->meta->name) == "p") return BERTH_WAIT;
    seen_by_a = NamesOfWaiting(pod.a());
    return BERTH_SUCCESS;
  };
  pod.b().permit = [&](const berth_cycle& cycle, const berth_target&, int64_t*,
                       berth_status*) -> berth_code {
    if (Text(cycle.pod->meta->name) != "q") return BERTH_SUCCESS;
    const Puppet& b = pod.b();
    seen_by_b = NamesOfWaiting(b);
    allowed_by_b = b.waiting->allow(b.host, AsStr(std::string_view("uid-p")));
    return BERTH_SUCCESS;
  };
  pod.Run();
  pod.AddPod("q");
  pod.harness().Run();
  EXPECT_THAT(seen_by_a, ElementsAre("p"));
  EXPECT_THAT(seen_by_b, IsEmpty());
  EXPECT_EQ(allowed_by_b, BERTH_NOT_FOUND);
  EXPECT_EQ(pod.Outcome(), "Wait");
}

TEST(WaitingPodsTest, PodWaitsUntilEveryPluginHasAllowedIt) {
  PodLifecycle pod;
  std::vector<berth_code> codes;
  std::vector<std::string> seen;
  const auto permit = [&](Puppet& puppet, const char* allowing_pod) {
    puppet.permit = [&, allowing_pod](const berth_cycle& cycle, const berth_target&,
                                      int64_t* timeout, berth_status*) -> berth_code {
      *timeout = kSecond;
      if (Text(cycle.pod->meta->name) == "p") return BERTH_WAIT;
      if (Text(cycle.pod->meta->name) != allowing_pod) return BERTH_SUCCESS;
      const berth_str uid = AsStr(std::string_view("uid-p"));
      codes.push_back(puppet.waiting->allow(puppet.host, uid));
      seen = NamesOfWaiting(puppet);
      codes.push_back(puppet.waiting->allow(puppet.host, uid));
      return BERTH_SUCCESS;
    };
  };
  permit(pod.a(), "first");
  permit(pod.b(), "second");
  pod.Run();
  pod.AddPod("first");
  pod.harness().Run();
  EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_NOT_FOUND))
      << "it waits only for the other plugin";
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_EQ(pod.Outcome(), "Wait");
  codes.clear();
  pod.AddPod("second");
  pod.harness().Run();
  EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_NOT_FOUND));
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_EQ(pod.Outcome(), "Success");
}

}  // namespace
}  // namespace berth::host
