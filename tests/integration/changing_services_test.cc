// The answers of services while their data changes: while a plugin lists waiting pods, while its
// instance ends, and while a kind begins to be served.
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/runtime/services/test_find_service.h"
#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

// Permit of plugin A makes pods wait whose name begins with "waiting", rejects "other", and calls
// the function of the test for all other pods.
class ChangingServicesTest : public ::testing::Test {
 protected:
  ChangingServicesTest() : a_(stage_.Add("puppet.A", {Point::kPermit})) {
    a_.permit = [this](const berth_cycle& cycle, const berth_target&, int64_t* timeout_ns,
                       berth_status*) {
      const std::string_view name = Text(cycle.pod->meta->name);
      *timeout_ns = 60 * kSecond;
      if (name.starts_with("waiting")) return BERTH_WAIT;
      if (name == "other") {
        ++attempts_of_other_;
        return BERTH_UNSCHEDULABLE;
      }
      if (call_) call_();
      return BERTH_SUCCESS;
    };
    stage_.CompleteProfile();
    harness_.AddNode({.name = "n1"});
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  void AddPod(const std::string& name) {
    harness_.AddPod(
        {.name = name, .spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"'});
    harness_.Run();
  }
  const berth_host* host() const { return a_.host; }
  template <class Service>
  const Service& Get(const char* id) const {
    return *FindService<Service>(host(), id);
  }
  static int32_t EachPod(void*, const berth_pod*) noexcept { return 1; }

  Stage stage_;
  Harness harness_;  // Destroyed before the plugins, because it calls them.
  Puppet& a_;
  std::function<void()> call_;
  int attempts_of_other_ = 0;
};

// The callback of `each` rejects or allows all pods at its first call, and gets all of them.
TEST_F(ChangingServicesTest, ListingMayDecideWaitingPods) {
  struct Walk {
    const berth_waiting& waiting;
    const berth_host* host;
    bool rejects;
    std::vector<std::string> uids = {};
    std::vector<std::string> names = {};
    std::vector<berth_code> codes = {};
  };
  const auto decide = [](void* to, const berth_pod* pod) noexcept -> int32_t {
    auto& walk = *static_cast<Walk*>(to);
    walk.names.emplace_back(Text(pod->meta->name));
    for (const std::string& uid : walk.uids) {
      const berth_rejection rejection{sizeof rejection, 0, AsStr(uid), AsStr("no")};
      walk.codes.push_back(walk.rejects ? walk.waiting.reject(walk.host, &rejection)
                                        : walk.waiting.allow(walk.host, AsStr(uid)));
    }
    return 1;
  };
  std::vector<berth_code> codes(3, BERTH_SUCCESS);
  codes.insert(codes.end(), 6, BERTH_NOT_FOUND);
  for (const bool rejects : {false, true}) {
    SCOPED_TRACE(rejects);
    Walk walk{Get<berth_waiting>(BERTH_SERVICE_WAITING), host(), rejects};
    std::vector<std::string> names;
    for (const char* number : {"1", "2", "3"}) {
      names.push_back((rejects ? "waiting-b" : "waiting-a") + std::string(number));
      walk.uids.push_back("uid-" + names.back());
      AddPod(names.back());
    }
    call_ = [&] { EXPECT_EQ(walk.waiting.each(host(), decide, &walk), BERTH_SUCCESS); };
    AddPod(rejects ? "p-b" : "p-a");
    call_ = nullptr;
    EXPECT_EQ(walk.names, names);
    EXPECT_EQ(walk.codes, codes);
  }
}

// What the instance posted is called with CANCELLED, under [event].
TEST_F(ChangingServicesTest, InstanceThatEndsMayUseServicesOfEvents) {
  struct Last {
    const berth_node_lookup& nodes;
    const berth_nominator& nominator;
    const berth_waiting& waiting;
    const berth_activate& activate;
    const berth_objects& objects;
    const berth_host* host = nullptr;
    std::vector<berth_code> codes = {};
  } last{Get<berth_node_lookup>(BERTH_SERVICE_NODES), Get<berth_nominator>(BERTH_SERVICE_NOMINATOR),
         Get<berth_waiting>(BERTH_SERVICE_WAITING), Get<berth_activate>(BERTH_SERVICE_ACTIVATE),
         Get<berth_objects>(BERTH_SERVICE_OBJECTS)};
  const auto run = [](void* to, berth_code code) noexcept {
    auto& self = *static_cast<Last*>(to);
    const berth_host* host = self.host;
    uint32_t row = 0;
    const auto each = [](void*, const berth_pod*, berth_str) noexcept -> int32_t { return 1; };
    const berth_str other = AsStr("uid-other");
    const berth_rejection rejection{sizeof rejection, 0, other, AsStr("no")};
    self.codes = {code,
                  self.nodes.find(host, AsStr("n1"), &row),
                  self.nominator.each(host, each, nullptr),
                  self.nominator.clear(host, other),
                  self.waiting.each(host, EachPod, nullptr),
                  self.waiting.allow(host, other),
                  self.waiting.reject(host, &rejection),
                  self.activate.activate(host, &other, 1),
                  self.objects.served(host, AsStr("v1/Secret"))};
  };
  const auto end = [&](const std::function<void()>& how) {
    last.host = host();  // The host of the instance that ends.
    EXPECT_EQ(Get<berth_timer>(BERTH_SERVICE_TIMER).post(host(), run, &last), BERTH_SUCCESS);
    how();
    return std::exchange(last.codes, {});
  };
  const auto expected =
      ElementsAre(BERTH_CANCELLED, BERTH_SUCCESS, BERTH_SUCCESS, BERTH_NOT_FOUND, BERTH_SUCCESS,
                  BERTH_NOT_FOUND, BERTH_NOT_FOUND, BERTH_SUCCESS, BERTH_BAD_ARGUMENT);
  AddPod("other");
  harness_.Run();
  const int attempts = attempts_of_other_;
  EXPECT_THAT(end([this] {
                PlanSpec renewed = stage_.spec();
                for (PlanSpec::Plugin& plugin : renewed.plugins) plugin.deadline_ns = kMinute;
                EXPECT_TRUE(harness_.loop().Reload(Stage::catalog(), std::vector{renewed}).ok());
              }),
              expected);
  harness_.Run();
  EXPECT_GT(attempts_of_other_, attempts);
  EXPECT_THAT(end([this] { harness_.Stop(); }), expected);
}

// The first objects of a kind that begins to be served arrive before the host knows that it is
// served. From then on all functions agree.
TEST(ChangingServices, AgreeWhileAKindBeginsToBeServed) {
  static constexpr const char* kKind = "v1/Namespace";
  struct Seen {
    const berth_objects* objects;
    const berth_host* host;
    std::vector<std::string> lines;

    static int32_t Count(void* to, const berth_object*) noexcept {
      ++*static_cast<int*>(to);
      return 1;
    }
    static void Changed(void* to, const berth_object_change* change) noexcept {
      auto& self = *static_cast<Seen*>(to);
      const berth_object& one = *(change->now != nullptr ? change->now : change->old);
      self.Look((change->now != nullptr ? "+" : "-") + std::string(Text(one.meta->name)));
    }
    void Look(const std::string& what) {
      int count = 0;
      const berth_code list = objects->list(host, AsStr(kKind), {}, Count, &count);
      const berth_object* red = nullptr;
      objects->get(host, AsStr(kKind), {}, AsStr("red"), &red);
      lines.push_back(what + " served " + std::to_string(objects->served(host, AsStr(kKind))) +
                      " list " + std::to_string(list) + ":" + std::to_string(count) +
                      (red != nullptr ? " red" : ""));
    }
  } seen{};
  Stage stage;
  ObjectStore& store = stage.services().objects;
  Puppet& puppet = stage.Add("puppet.Objects", {Point::kChanges});
  puppet.create = [&] {
    seen.host = puppet.host;
    seen.objects = FindService<berth_objects>(puppet.host, BERTH_SERVICE_OBJECTS);
    EXPECT_EQ(seen.objects->watch(puppet.host, AsStr(kKind), Seen::Changed, &seen), BERTH_SUCCESS);
  };
  store.SetServed(kKind, false);
  stage.Build();
  const auto add = [&](const std::string& name) {
    store.Set(stage.objects().ObjectFrom(
                  R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":")" + name + "\"}}"),
              true);
  };
  add("red"), add("blue");
  store.SetServed(kKind, true);
  add("green");
  for (const char* name : {"red", "blue", "green"}) store.Remove(kKind, "", name);
  store.SetServed(kKind, false);
  add("red");
  EXPECT_THAT(seen.lines, ElementsAre("+red served 0 list 0:1 red", "+blue served 0 list 0:2 red",
                                      "+green served 0 list 0:3 red", "-red served 0 list 0:2",
                                      "-blue served 0 list 0:1", "-green served 0 list 0:0",
                                      "+red served 0 list 0:1 red"));
}

}  // namespace
}  // namespace berth::host
