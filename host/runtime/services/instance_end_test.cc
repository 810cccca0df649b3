// The order in which the host ends an instance: see "The end of an instance" in <berth/abi.h>.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

// Records every call of puppet.A from create() on, with what exists then.
class InstanceEndTest : public ::testing::Test {
 protected:
  InstanceEndTest() {
    stage_.services().client = &cluster_;
    stage_.services().timers = &stage_.timers();
    stage_.services().inbox = &stage_.inbox();
    puppet_.has_slot = true;
    puppet_.create = [this] { OnCreate(); };
    puppet_.quiesce = [this] {
      ExpectServed(BERTH_SUCCESS, "quiesce");
      Note("quiesce");
    };
    puppet_.destroy = [this] {
      EXPECT_NE(interner().Find("held until destroy"), kNoId);
      ExpectServed(BERTH_SUCCESS, "destroy");
      Note("destroy");
    };
    puppet_.bind = [](const berth_binding&, berth_done, berth_status*) { return BERTH_PENDING; };
  }

  Interner& interner() { return stage_.objects().interner(); }
  template <class T>
  const T& Find(const char* id) {
    const void* found = nullptr;
    EXPECT_EQ(puppet_.host->get_service(puppet_.host, id, &found), BERTH_SUCCESS) << id;
    return *static_cast<const T*>(found);
  }

  // Posts a function, starts a timer, makes a request and interns a text.
  void OnCreate() {
    timer_ = &Find<berth_timer>(BERTH_SERVICE_TIMER);
    objects_ = &Find<berth_objects>(BERTH_SERVICE_OBJECTS);
    EXPECT_EQ(timer_->post(puppet_.host, OnPost, this), BERTH_SUCCESS);
    uint64_t timer = 0;
    EXPECT_EQ(timer_->start(puppet_.host, 0, OnTimer, this, &timer), BERTH_SUCCESS);
    EXPECT_EQ(Request(), BERTH_SUCCESS);
    Find<berth_strings>(BERTH_SERVICE_STRINGS).intern(puppet_.host, AsStr("held until destroy"));
    if (watches_pods_) {
      EXPECT_EQ(Find<berth_objects>(BERTH_SERVICE_OBJECTS)
                    .watch(puppet_.host, AsStr("v1/Pod"), OnObject, this),
                BERTH_BAD_ARGUMENT);
    }
  }
  berth_code Request() {
    berth_api_request request{};
    request.struct_size = sizeof request;
    request.verb = AsStr("GET");
    request.path = AsStr("/version");
    return puppet_.api->request(puppet_.host, &request, OnAnswer, this);
  }

  static InstanceEndTest& Of(void* to) { return *static_cast<InstanceEndTest*>(to); }
  static void OnPost(void* to, berth_code code) noexcept { Of(to).OnLast("post", code); }
  static void OnAnswer(void* to, const berth_api_result* result) noexcept {
    Of(to).OnLast("answer", result->code);
  }
  static void OnTimer(void* to) noexcept { Of(to).Note("timer"); }
  static void OnObject(void* to, const berth_object_change*) noexcept { Of(to).Note("object"); }

  // Expects that what may be called under the present word is still served. `get_service`: its
  // code under this word.
  void ExpectServed(berth_code get_service, const std::string& what) {
    const berth_host* host = puppet_.host;
    const void* found = nullptr;
    EXPECT_EQ(host->get_service(host, BERTH_SERVICE_LOG, &found), get_service) << what;
    EXPECT_EQ(timer_->cancel(host, 1), BERTH_NOT_FOUND) << what;
    const bool is_event = get_service == BERTH_CONFLICT;
    // The plugin declares no kinds.
    const auto each = [](void*, const berth_object*) noexcept { return 1; };
    EXPECT_EQ(objects_->list(host, AsStr("v1/Secret"), {}, each, nullptr),
              is_event ? BERTH_BAD_ARGUMENT : BERTH_CONFLICT)
        << what;
  }
  // The services take no new callbacks within the last callbacks.
  void OnLast(const std::string& what, berth_code code) {
    Note(what + " " + std::string(CodeName(code)));
    if (code != BERTH_CANCELLED) return;
    ExpectServed(BERTH_CONFLICT, what);
    uint64_t timer = 0;
    EXPECT_EQ(timer_->post(puppet_.host, OnPost, this), BERTH_CANCELLED) << what;
    EXPECT_EQ(timer_->start(puppet_.host, 0, OnTimer, this, &timer), BERTH_CANCELLED) << what;
    EXPECT_EQ(Request(), BERTH_CANCELLED) << what;
  }
  void Note(const std::string& what) {
    const auto promises = InstanceHost::FromAbi(puppet_.host).promises()->open_count();
    calls_.push_back(what + ": " + std::to_string(promises) + " promises, " +
                     std::to_string(Stage::slots()) + " slots");
  }

  // Runs what the instance would have left behind, and returns the calls.
  std::vector<std::string> TakeCalls() {
    cluster_.Deliver();
    stage_.AdvanceTime(1);
    EXPECT_EQ(stage_.timers().size(), 0U);
    interner().Sweep();
    EXPECT_EQ(interner().Find("held until destroy"), kNoId);
    return std::exchange(calls_, {});
  }

  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 10, .serve = [this](const ApiRequest&) {
                              ++served_;
                              return ApiResponse{.http_status = 200, .body = "{}"};
                            }}};
  TestClock clock_;
  Stage stage_;
  Puppet& puppet_ = stage_.Add("puppet.A", {Point::kBind});
  const berth_timer* timer_ = nullptr;
  const berth_objects* objects_ = nullptr;
  bool watches_pods_ = false;  // Which the host refuses.
  int served_ = 0;
  std::vector<std::string> calls_;
};

TEST_F(InstanceEndTest, InstanceOfPlanEndsInOrderOfContract) {
  stage_.Build();
  {
    auto binding = stage_.MakeBinding();
    AsyncCall call(*binding, stage_.calls(), 0, Point::kBind, [](const PluginStatus&) {});
    call.Start();
  }
  EXPECT_THAT(calls_, IsEmpty());
  stage_.DestroyPlan();
  EXPECT_THAT(
      TakeCalls(),
      ElementsAre("post Cancelled: 1 promises, 1 slots", "answer Cancelled: 1 promises, 1 slots",
                  "quiesce: 1 promises, 1 slots", "destroy: 0 promises, 0 slots"));
  EXPECT_EQ(served_, 1) << "the request of create()";
}

TEST_F(InstanceEndTest, InstanceThatNeverBeganEndsInSameOrder) {
  struct Case {
    const char* name;
    std::function<void()> prepare;
    bool is_created;
  };
  const Case kTable[] = {
      {"the plan is not used", [] {}, true},
      {"the host has no such column", [this] { puppet_.columns = {"nonsense"}; }, true},
      {"the plugin watches pods", [this] { watches_pods_ = true; }, true},
      {"another plugin cannot be created",
       [this] { stage_.Add("puppet.B", {Point::kFilter}).fails_in_create = true; }, true},
      {"create() fails", [this] { puppet_.fails_in_create = true; }, false},
  };
  stage_.CompleteProfile();
  for (const Case& each : kTable) {
    puppet_.columns.clear();
    puppet_.fails_in_create = false;
    watches_pods_ = false;
    each.prepare();
    bool is_built = false;
    {
      const auto plan =
          Plan::Build(stage_.spec(), Stage::catalog(), stage_.services(), stage_.table());
      is_built = plan.ok();
      if (is_built) {
        EXPECT_THAT(calls_, IsEmpty()) << each.name;
      }
    }
    EXPECT_EQ(is_built, each.name == kTable[0].name) << each.name;
    const std::vector<std::string> all = {
        "post Cancelled: 0 promises, 0 slots", "answer Cancelled: 0 promises, 0 slots",
        "quiesce: 0 promises, 0 slots", "destroy: 0 promises, 0 slots"};
    EXPECT_THAT(TakeCalls(), ElementsAreArray(each.is_created ? all : std::vector<std::string>()))
        << each.name;
  }
}

}  // namespace
}  // namespace berth::host
