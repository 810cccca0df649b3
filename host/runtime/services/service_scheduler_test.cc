// The services berth.nominator/1, berth.activate/1 and berth.waiting/1.
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/instance_host.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SchedulerServicesTest : public ServicesTest {
 protected:
  SchedulerServicesTest() {
    host_->Begin();
    call_.emplace(*host_, kCallback);
  }

  PodRef Pod(const std::string& name) { return test_objects_.Pod({.name = name}); }

  // Collects the names of pods until it has `wanted` of them.
  struct Names {
    size_t wanted = 100;
    std::vector<std::string> names;

    static int32_t Each(void* to, const berth_pod* pod) noexcept {
      auto& self = *static_cast<Names*>(to);
      self.names.emplace_back(Text(pod->meta->name));
      return self.names.size() < self.wanted ? 1 : 0;
    }
  };
  std::optional<PluginCall> call_;
};

TEST_F(SchedulerServicesTest, ListsNominatedPods) {
  const auto& nominator = Service<berth_nominator>(BERTH_SERVICE_NOMINATOR);
  scheduler_.nominations().Add(Pod("b"), "n1");
  scheduler_.nominations().Add(Pod("a"), "n1");
  scheduler_.nominations().Add(Pod("c"), "n2");
  Names all;
  EXPECT_EQ(nominator.list(abi(), AsStr("n1"), Names::Each, &all), BERTH_SUCCESS);
  EXPECT_THAT(all.names, ElementsAre("b", "a"));
  Names one{.wanted = 1, .names = {}};
  nominator.list(abi(), AsStr("n1"), Names::Each, &one);
  EXPECT_THAT(one.names, ElementsAre("b"));
  Names none;
  EXPECT_EQ(nominator.list(abi(), AsStr("n3"), Names::Each, &none), BERTH_SUCCESS);
  EXPECT_THAT(none.names, IsEmpty());
}

TEST_F(SchedulerServicesTest, ListsTheNominatedPodsOfAllNodes) {
  struct Pairs {
    size_t wanted = 100;
    std::vector<std::string> pairs;

    static int32_t Each(void* to, const berth_pod* pod, berth_str node) noexcept {
      auto& self = *static_cast<Pairs*>(to);
      self.pairs.push_back(std::string(Text(node)) + " " + std::string(Text(pod->meta->name)));
      return self.pairs.size() < self.wanted ? 1 : 0;
    }
  };
  const auto& nominator = Service<berth_nominator>(BERTH_SERVICE_NOMINATOR);
  Pairs none;
  EXPECT_EQ(nominator.each(abi(), Pairs::Each, &none), BERTH_SUCCESS);
  EXPECT_THAT(none.pairs, IsEmpty());
  scheduler_.nominations().Add(Pod("b"), "n2");
  scheduler_.nominations().Add(Pod("c"), "n1");
  scheduler_.nominations().Add(Pod("a"), "n2");
  Pairs all;
  EXPECT_EQ(nominator.each(abi(), Pairs::Each, &all), BERTH_SUCCESS);
  EXPECT_THAT(all.pairs, ElementsAre("n1 c", "n2 b", "n2 a"));
  Pairs two{.wanted = 2, .pairs = {}};
  nominator.each(abi(), Pairs::Each, &two);
  EXPECT_THAT(two.pairs, ElementsAre("n1 c", "n2 b"));
  const auto clear = [](void* to, const berth_pod* pod, berth_str) noexcept -> int32_t {
    static_cast<FakeScheduler*>(to)->nominations().Remove(Text(pod->meta->uid));
    return 1;
  };
  EXPECT_EQ(nominator.each(abi(), clear, &scheduler_), BERTH_SUCCESS);
  EXPECT_TRUE(scheduler_.nominations().empty());
}

TEST_F(SchedulerServicesTest, FindsTheRowOfANode) {
  const auto& nodes = Service<berth_node_lookup>(BERTH_SERVICE_NODES);
  scheduler_.rows["n1"] = 7;
  uint32_t row = 99;
  EXPECT_EQ(nodes.find(abi(), AsStr("n2"), &row), BERTH_NOT_FOUND);
  EXPECT_EQ(row, 99U);
  EXPECT_EQ(nodes.find(abi(), AsStr("n1"), &row), BERTH_SUCCESS);
  EXPECT_EQ(row, 7U);
}

TEST_F(SchedulerServicesTest, ANominationMayBeClearedDuringTheIteration) {
  struct Walk {
    const berth_nominator& nominator;
    const berth_host* host;
    std::vector<berth_code> codes;
  } walk{Service<berth_nominator>(BERTH_SERVICE_NOMINATOR), abi(), {}};
  scheduler_.nominations().Add(Pod("a"), "n1");
  scheduler_.nominations().Add(Pod("b"), "n1");
  const auto clear = [](void* to, const berth_pod* pod) noexcept -> int32_t {
    auto& self = *static_cast<Walk*>(to);
    self.codes.push_back(self.nominator.clear(self.host, pod->meta->uid));
    return 1;
  };
  walk.nominator.list(abi(), AsStr("n1"), clear, &walk);
  EXPECT_THAT(walk.codes, ElementsAre(BERTH_SUCCESS, BERTH_SUCCESS));
  EXPECT_THAT(scheduler_.asked, ElementsAre("clear uid-a", "clear uid-b"));
  EXPECT_EQ(walk.nominator.clear(abi(), AsStr("uid-a")), BERTH_NOT_FOUND);
}

TEST_F(SchedulerServicesTest, ActivatesPods) {
  const auto& activate = Service<berth_activate>(BERTH_SERVICE_ACTIVATE);
  const berth_str uids[] = {AsStr("uid-a"), AsStr("uid-b")};
  EXPECT_EQ(activate.activate(abi(), uids, 2), BERTH_SUCCESS);
  EXPECT_EQ(activate.activate(abi(), nullptr, 0), BERTH_SUCCESS);
  EXPECT_THAT(scheduler_.asked, ElementsAre("activate uid-a", "activate uid-b"));
}

TEST_F(SchedulerServicesTest, AllowsAndRejectsForItsProfilesPlugin) {
  const auto& waiting = Service<berth_waiting>(BERTH_SERVICE_WAITING);
  scheduler_.waiting = {Pod("a"), Pod("b")};
  const PluginId mine = services_.plugin_ids.IdOf("default-scheduler", "test.Plugin");
  const auto other = Host("test.Plugin", "binpack");
  other->Begin();
  const PluginCall call(*other, kCallback);
  Names all;
  EXPECT_EQ(waiting.each(abi(), Names::Each, &all), BERTH_SUCCESS);
  EXPECT_THAT(all.names, ElementsAre("a", "b"));
  EXPECT_EQ(waiting.allow(abi(), AsStr("uid-a")), BERTH_SUCCESS);
  const berth_rejection late{sizeof late, 0, AsStr("uid-b"), AsStr("too late")};
  EXPECT_EQ(waiting.reject(other->abi(), &late), BERTH_SUCCESS);
  EXPECT_EQ(waiting.allow(abi(), AsStr("uid-c")), BERTH_NOT_FOUND);
  const berth_rejection empty{sizeof empty, 0, AsStr("uid-c"), AsStr("")};
  EXPECT_EQ(waiting.reject(abi(), &empty), BERTH_NOT_FOUND);
  const std::string by = " by " + std::to_string(mine);
  const std::string by_other =
      " by " + std::to_string(services_.plugin_ids.IdOf("binpack", "test.Plugin"));
  EXPECT_NE(by, by_other);
  EXPECT_THAT(
      scheduler_.asked,
      ElementsAre("allow uid-a" + by, "reject uid-b" + by_other + ": too late", "allow uid-c" + by,
                  "reject uid-c" + by + ": test.Plugin gave no reason"));
}

TEST_F(SchedulerServicesTest, RefusesTooSmallRejectionsAndUnknownFlags) {
  const auto& waiting = Service<berth_waiting>(BERTH_SERVICE_WAITING);
  scheduler_.waiting = {Pod("a")};
  const struct {
    const char* name;
    size_t size;
    uint32_t flags;
    berth_code code;
  } kTable[] = {
      {"no size", 0, 0, BERTH_BAD_ARGUMENT},
      {"one byte too small", sizeof(berth_rejection) - 1, 0, BERTH_BAD_ARGUMENT},
      {"the lowest flag", sizeof(berth_rejection), 1, BERTH_BAD_ARGUMENT},
      {"the highest flag", sizeof(berth_rejection), 1U << 31, BERTH_BAD_ARGUMENT},
      {"of a later version", sizeof(berth_rejection) + 8, 0, BERTH_SUCCESS},
  };
  for (const auto& row : kTable) {
    scheduler_.asked.clear();
    const berth_rejection rejection{static_cast<uint32_t>(row.size), row.flags, AsStr("uid-a"),
                                    AsStr("no")};
    EXPECT_EQ(waiting.reject(abi(), &rejection), row.code) << row.name;
    EXPECT_EQ(scheduler_.asked.size(), row.code == BERTH_SUCCESS ? 1U : 0U) << row.name;
  }
}

// Which services may be called at which point.
TEST_F(SchedulerServicesTest, AreAvailableOnTheSchedulingThreadOutsideBlocks) {
  const auto& nominator = Service<berth_nominator>(BERTH_SERVICE_NOMINATOR);
  const auto& activate = Service<berth_activate>(BERTH_SERVICE_ACTIVATE);
  const auto& waiting = Service<berth_waiting>(BERTH_SERVICE_WAITING);
  const auto& nodes = Service<berth_node_lookup>(BERTH_SERVICE_NODES);
  const auto conflicts = [&] {
    std::string which;
    Names names;
    if (nominator.list(abi(), AsStr("n"), Names::Each, &names) == BERTH_CONFLICT) which += "list ";
    if (nominator.clear(abi(), AsStr("u")) == BERTH_CONFLICT) which += "clear ";
    uint32_t row = 0;
    if (nodes.find(abi(), AsStr("n"), &row) == BERTH_CONFLICT) which += "find ";
    if (activate.activate(abi(), nullptr, 0) == BERTH_CONFLICT) which += "activate ";
    if (waiting.each(abi(), Names::Each, &names) == BERTH_CONFLICT) which += "each ";
    if (waiting.allow(abi(), AsStr("u")) == BERTH_CONFLICT) which += "allow ";
    const berth_rejection rejection{sizeof rejection, 0, AsStr("u"), AsStr("")};
    if (waiting.reject(abi(), &rejection) == BERTH_CONFLICT) which += "reject ";
    return which;
  };
  const auto at = [&](Point point) {
    const PluginCall call(*host_, point);
    return conflicts();
  };
  const std::string all = "list clear find activate each allow reject ";
  EXPECT_EQ(at(Point::kFilter), all);
  EXPECT_EQ(at(kLoad), all);
  EXPECT_EQ(at(Point::kBind), "list clear find ");
  for (const Point point : {Point::kPreEnqueue, Point::kPreFilter, Point::kPostFilter,
                            Point::kPermit, Point::kPostBind, kCallback, kCycleState}) {
    EXPECT_EQ(at(point), "") << NameOf(point);
  }
  EXPECT_EQ(at(kNoCall), all);
  std::thread([&] { EXPECT_EQ(conflicts(), all); }).join();
}

}  // namespace
}  // namespace berth::host
