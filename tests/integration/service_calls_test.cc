// The effects of services that a plugin calls during a scheduling cycle.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <thread>
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

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

// Plugin A calls services in Permit of pods whose name begins with "p". It rejects all nodes for
// "other", and makes "waiting" wait.
class ServiceCallsTest : public ::testing::Test {
 protected:
  ServiceCallsTest() : a_(stage_.Add("puppet.A", {Point::kFilter, Point::kPermit})) {
    a_.filter = [this](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                       berth_status*) {
      const bool is_other = Text(cycle.pod->meta->name) == "other";
      attempts_of_other_ += is_other ? 1 : 0;
      for (uint32_t i = 0; i < block.count; ++i) {
        out.codes[i] = is_other ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
        out.reasons[i] = 0;
      }
      return BERTH_SUCCESS;
    };
    a_.permit = [this](const berth_cycle& cycle, const berth_target&, int64_t* timeout_ns,
                       berth_status*) {
      const std::string_view name = Text(cycle.pod->meta->name);
      if (name.starts_with("p") && call_) call_(*cycle.pod);
      if (on_cycle_) on_cycle_(cycle);
      *timeout_ns = 60 * kSecond;
      return name == "waiting" ? BERTH_WAIT : BERTH_SUCCESS;
    };
    stage_.CompleteProfile();
    harness_.AddNode({.name = "n1"});
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  TestPod PodOf(const std::string& name) const {
    return {.name = name, .spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"'};
  }
  void AddPod(const std::string& name, const std::string& node = "") {
    TestPod pod = PodOf(name);
    pod.node = node;
    harness_.AddPod(pod);
    harness_.Run();
  }
  // Adds pod "p" and runs `call` in its Permit.
  void Call(std::function<void(const berth_pod& pod)> call) {
    CallIn(std::move(call), [this] { AddPod("p"); });
  }
  // Runs `call` in the Permit that `attempt` leads to.
  void CallIn(std::function<void(const berth_pod& pod)> call,
              const std::function<void()>& attempt) {
    bool called = false;
    call_ = [&](const berth_pod& pod) {
      called = true;
      call(pod);
    };
    attempt();
    call_ = nullptr;
    EXPECT_TRUE(called);
  }
  const berth_host* host() const { return a_.host; }
  template <class Service>
  const Service& Get(const char* id) const {
    return *FindService<Service>(host(), id);
  }
  PodRef Pod(const std::string& name) { return harness_.cluster().FindPod("default", name); }

  static int32_t Note(void* to, const berth_pod* pod) noexcept {
    static_cast<std::vector<std::string>*>(to)->emplace_back(Text(pod->meta->name));
    return 1;
  }
  static void NoteAnswer(void* to, const berth_api_result* result) noexcept {
    static_cast<std::vector<std::string>*>(to)->push_back(std::to_string(result->code) + " " +
                                                          std::string(Text(result->body)));
  }
  // Returns the faults of the plugins, as they were logged.
  std::vector<std::string> Faults() {
    std::vector<std::string> faults;
    for (const std::string& line : harness_.lines()) {
      const size_t at = line.find("exception: ");
      if (at != std::string::npos) faults.push_back(WithoutFaultFields(line.substr(at + 11)));
    }
    return faults;
  }

  Stage stage_;
  Harness harness_;  // Destroyed before the plugins, because it calls them.
  Puppet& a_;
  std::function<void(const berth_pod& pod)> call_;
  std::function<void(const berth_cycle& cycle)> on_cycle_;  // In every Permit.
  int attempts_of_other_ = 0;
};

TEST_F(ServiceCallsTest, Strings) {
  Call([&](const berth_pod& pod) {
    const auto& strings = Get<berth_strings>(BERTH_SERVICE_STRINGS);
    const berth_id id = strings.intern(host(), AsStr("acme.example/rack"));
    EXPECT_NE(id, BERTH_ID_NONE);
    EXPECT_EQ(strings.intern(host(), AsStr("acme.example/rack")), id);
    EXPECT_EQ(strings.find(host(), AsStr("acme.example/rack")), id);
    EXPECT_EQ(Text(strings.text(host(), id)), "acme.example/rack");
    EXPECT_EQ(strings.find(host(), AsStr("default")), pod.meta->ns);
    EXPECT_EQ(Text(strings.text(host(), pod.meta->ns)), "default");
    EXPECT_EQ(strings.find(host(), AsStr("not interned")), BERTH_ID_NONE);
  });
}

TEST_F(ServiceCallsTest, StringsAreCounted) {
  Call([&](const berth_pod& pod) {
    const auto& strings = Get<berth_strings>(BERTH_SERVICE_STRINGS);
    const berth_id id = strings.intern(host(), AsStr("acme.example/rack"));
    strings.intern(host(), AsStr("acme.example/rack"));
    strings.release(host(), id);
    EXPECT_EQ(Text(strings.text(host(), id)), "acme.example/rack");
    strings.release(host(), id);
    EXPECT_THAT(Faults(), IsEmpty());
    strings.release(host(), id);
    strings.release(host(), pod.meta->ns);  // Held by the pod.
    EXPECT_EQ(Text(strings.text(host(), pod.meta->ns)), "default");
    EXPECT_THAT(Faults(),
                Contains("released id " + std::to_string(id) + ", which it does not hold"));
  });
}

TEST_F(ServiceCallsTest, APodIsRetainedBeyondItsCall) {
  const berth_pod* kept = nullptr;
  const auto& refs = Get<berth_refs>(BERTH_SERVICE_REFS);
  Call([&](const berth_pod& pod) {
    const berth_pod copy = pod;
    EXPECT_EQ(refs.retain(host(), {BERTH_KIND_POD, 0, &copy}), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(refs.retain(host(), {BERTH_KIND_NODE, 0, &pod}), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(refs.retain(host(), {BERTH_KIND_POD, 0, &pod}), BERTH_SUCCESS);
    kept = &pod;
  });
  ASSERT_TRUE(harness_.cluster().Delete(kPodKind, "default", "p").ok());
  harness_.Settle();
  EXPECT_EQ(Text(kept->meta->uid), "uid-p");
  refs.release(host(), {BERTH_KIND_POD, 0, kept});
  EXPECT_THAT(Faults(), IsEmpty());
  refs.release(host(), {BERTH_KIND_POD, 0, kept});
  EXPECT_THAT(Faults(), ElementsAre("released an object that it does not retain"));
}

TEST_F(ServiceCallsTest, APostedFunctionIsCalledAfterTheAttempt) {
  struct Posted {
    std::vector<std::string> log;
  } posted;
  const auto run = [](void* to, berth_code code) noexcept {
    static_cast<Posted*>(to)->log.push_back("posted " + std::to_string(code));
  };
  Call([&](const berth_pod&) {
    const auto& timer = Get<berth_timer>(BERTH_SERVICE_TIMER);
    std::thread([&] { EXPECT_EQ(timer.post(host(), run, &posted), BERTH_SUCCESS); }).join();
    EXPECT_EQ(timer.post(host(), nullptr, nullptr), BERTH_BAD_ARGUMENT);
    posted.log.emplace_back("permit");
  });
  EXPECT_THAT(posted.log, ElementsAre("permit", "posted 0"));
}

TEST_F(ServiceCallsTest, RandomNumbersAreThoseOfTheAttempt) {
  const auto& random = Get<berth_random>(BERTH_SERVICE_RANDOM);
  std::vector<uint64_t> numbers;
  const berth_cycle* last = nullptr;
  on_cycle_ = [&](const berth_cycle& cycle) {
    for (int i = 0; i < 3; ++i) numbers.push_back(random.next(host(), &cycle));
    last = &cycle;
  };
  AddPod("p");
  AddPod("q");
  ASSERT_EQ(numbers.size(), 6U);
  EXPECT_EQ(std::set(numbers.begin(), numbers.end()).size(), 6U);
  EXPECT_THAT(Faults(), IsEmpty());
  EXPECT_EQ(random.next(host(), last), 0U) << "outside of a call";
  EXPECT_EQ(Faults().size(), 1U);
}

TEST_F(ServiceCallsTest, LogsFromItsLevelOn) {
  harness_.lines().clear();
  Call([&](const berth_pod&) {
    const auto& log = Get<berth_log>(BERTH_SERVICE_LOG);
    EXPECT_EQ(*log.level, uint32_t{BERTH_LOG_INFO});
    const berth_str_pair pairs[] = {{AsStr("a"), AsStr("1")}, {AsStr("b"), AsStr("2")}};
    log.log(host(), BERTH_LOG_DEBUG, AsStr("not this"), nullptr, 0);
    log.log(host(), BERTH_LOG_INFO, AsStr("this"), nullptr, 0);
    log.log(host(), BERTH_LOG_ERROR, AsStr("and this"), pairs, 2);
  });
  EXPECT_THAT(harness_.lines(), ElementsAre("puppet.A: this", "puppet.A: and this a=1 b=2"));
}

TEST_F(ServiceCallsTest, ATimerFiresOnceUnlessItIsCancelled) {
  struct Fired {
    std::function<void(Fired& fired)> note;
    uint64_t timer = 0;
    std::vector<int64_t> at = {};
  };
  const auto note = [this](Fired& fired) {
    fired.at.push_back(harness_.clock().NowNs());
    EXPECT_EQ(Get<berth_timer>(BERTH_SERVICE_TIMER).cancel(host(), fired.timer), BERTH_NOT_FOUND);
  };
  Fired kept{.note = note};
  Fired cancelled{.note = note};
  const auto fire = [](void* to) noexcept {
    static_cast<Fired*>(to)->note(*static_cast<Fired*>(to));
  };
  Call([&](const berth_pod&) {
    const auto& timer = Get<berth_timer>(BERTH_SERVICE_TIMER);
    EXPECT_EQ(timer.now_ns(host()), harness_.clock().NowNs());
    EXPECT_EQ(timer.wall_ns(host()), harness_.clock().NowNs());
    EXPECT_EQ(timer.start(host(), 5 * kSecond, fire, &kept, &kept.timer), BERTH_SUCCESS);
    EXPECT_EQ(timer.start(host(), kSecond, fire, &cancelled, &cancelled.timer), BERTH_SUCCESS);
    EXPECT_EQ(timer.cancel(host(), cancelled.timer), BERTH_SUCCESS);
    EXPECT_EQ(timer.cancel(host(), cancelled.timer), BERTH_NOT_FOUND);
  });
  const int64_t start = harness_.clock().NowNs();
  harness_.Advance(5 * kSecond - 1);
  EXPECT_THAT(kept.at, IsEmpty());
  harness_.Advance(60 * kSecond);
  EXPECT_THAT(kept.at, ElementsAre(start + 5 * kSecond));
  EXPECT_THAT(cancelled.at, IsEmpty());
}

TEST_F(ServiceCallsTest, NominationsAreListedAndCleared) {
  const auto& nominator = Get<berth_nominator>(BERTH_SERVICE_NOMINATOR);
  const auto list = [&](const char* node) {
    std::vector<std::string> names;
    EXPECT_EQ(nominator.list(host(), AsStr(node), Note, &names), BERTH_SUCCESS);
    return names;
  };
  const auto clear = [&](const berth_pod&) {
    EXPECT_THAT(list("n1"), ElementsAre("other"));
    EXPECT_THAT(list("n2"), IsEmpty());
    EXPECT_EQ(nominator.clear(host(), AsStr("uid-nobody")), BERTH_NOT_FOUND);
    EXPECT_EQ(nominator.clear(host(), AsStr("uid-p")), BERTH_NOT_FOUND);
    EXPECT_EQ(nominator.clear(host(), AsStr("uid-other")), BERTH_SUCCESS);
  };
  CallIn(clear, [this] {
    TestPod nominated = PodOf("other");
    nominated.status = R"("nominatedNodeName":"n1")";
    harness_.AddPod(PodOf("p"));
    harness_.AddPod(nominated);
    EXPECT_EQ(Pod("other")->nominated_node(), "n1");
    harness_.Next();
  });
  EXPECT_EQ(attempts_of_other_, 0);
  EXPECT_EQ(Pod("other")->nominated_node(), "");
  const auto look_again = [&](const berth_pod&) {
    EXPECT_THAT(list("n1"), IsEmpty());
    EXPECT_EQ(nominator.clear(host(), AsStr("uid-other")), BERTH_NOT_FOUND);
  };
  CallIn(look_again, [this] { AddPod("p2"); });
}

TEST_F(ServiceCallsTest, AnActivatedPodIsRetried) {
  AddPod("other");
  ASSERT_EQ(attempts_of_other_, 1);
  ASSERT_EQ(harness_.PlaceOf("other"), QueuePlace::kUnschedulable);
  Call([&](const berth_pod&) {
    const berth_str uids[] = {AsStr("uid-nobody"), AsStr("uid-other")};
    const auto& activate = Get<berth_activate>(BERTH_SERVICE_ACTIVATE);
    EXPECT_EQ(activate.activate(host(), uids, 2), BERTH_SUCCESS);
  });
  EXPECT_EQ(attempts_of_other_, 2);
}

// Otherwise it would be tried again without end.
TEST_F(ServiceCallsTest, APodCannotActivateItself) {
  int attempts = 0;
  a_.permit = [&](const berth_cycle& cycle, const berth_target&, int64_t*, berth_status*) {
    EXPECT_EQ(a_.activate->activate(host(), &cycle.pod->meta->uid, 1), BERTH_SUCCESS);
    return ++attempts < 3 ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
  };
  AddPod("p");
  EXPECT_EQ(attempts, 1);
  EXPECT_EQ(harness_.PlaceOf("p"), QueuePlace::kUnschedulable);
}

TEST_F(ServiceCallsTest, RejectsAWaitingPod) {
  AddPod("waiting");
  Call([&](const berth_pod&) {
    const auto& waiting = Get<berth_waiting>(BERTH_SERVICE_WAITING);
    std::vector<std::string> names;
    EXPECT_EQ(waiting.each(host(), Note, &names), BERTH_SUCCESS);
    EXPECT_THAT(names, ElementsAre("waiting"));
    berth_rejection rejection{sizeof rejection, 0, AsStr("uid-nobody"), AsStr("")};
    EXPECT_EQ(waiting.reject(host(), &rejection), BERTH_NOT_FOUND);
    EXPECT_EQ(waiting.allow(host(), AsStr("uid-nobody")), BERTH_NOT_FOUND);
    rejection = {sizeof rejection, 1, AsStr("uid-waiting"), AsStr("the door is shut")};
    EXPECT_EQ(waiting.reject(host(), &rejection), BERTH_BAD_ARGUMENT) << "an unknown flag";
    rejection.flags = 0;
    // A pod that waits on Permit does not wait in the queue.
    EXPECT_EQ(a_.activate->activate(host(), &rejection.pod_uid, 1), BERTH_SUCCESS);
    EXPECT_EQ(waiting.reject(host(), &rejection), BERTH_SUCCESS);
  });
  EXPECT_EQ(harness_.PlaceOf("waiting"), QueuePlace::kUnschedulable);
  EXPECT_THAT(harness_.cluster().PodScheduledMessage("default", "waiting"),
              HasSubstr("the door is shut"));
}

TEST_F(ServiceCallsTest, AllowsAWaitingPod) {
  AddPod("waiting");
  EXPECT_TRUE(harness_.loop().bindings().contains("uid-waiting"));
  Call([&](const berth_pod&) {
    const auto& waiting = Get<berth_waiting>(BERTH_SERVICE_WAITING);
    EXPECT_EQ(waiting.allow(host(), AsStr("uid-waiting")), BERTH_SUCCESS);
  });
  EXPECT_FALSE(harness_.loop().bindings().contains("uid-waiting"));
  std::vector<std::string> bound;
  for (const AttemptResult& result : harness_.results()) {
    bound.push_back(std::string(result.pod->name()) + " " + Harness::Outcome(result) + " " +
                    result.node);
  }
  EXPECT_THAT(bound, Contains("waiting Success n1"));
}

TEST_F(ServiceCallsTest, AnEvictedPodIsMarkedAndDeleted) {
  AddPod("victim", "n1");
  std::vector<std::string> answers;
  Call([&](const berth_pod&) {
    const auto& api = Get<berth_api>(BERTH_SERVICE_API);
    const PodRef victim = Pod("victim");
    const berth_eviction eviction{sizeof eviction, 0, &victim->view(), AsStr("make room")};
    EXPECT_EQ(api.evict(host(), &eviction, NoteAnswer, &answers), BERTH_SUCCESS);
    EXPECT_THAT(answers, IsEmpty());
  });
  EXPECT_THAT(answers, ElementsAre("0 "));
  const PodRef victim = Pod("victim");
  EXPECT_TRUE(victim->terminating());
  std::vector<std::string> conditions;
  for (const auto& condition : Elements<berth_condition>(victim->view().conditions)) {
    conditions.push_back(std::string(victim->Name(condition.type)) + " " +
                         std::string(victim->Name(condition.reason)));
  }
  EXPECT_THAT(conditions, Contains("DisruptionTarget PreemptionByScheduler"));
}

TEST_F(ServiceCallsTest, EvictedWaitingPodGoesBackToTheQueue) {
  AddPod("waiting");
  std::vector<std::string> answers;
  Call([&](const berth_pod&) {
    const auto& api = Get<berth_api>(BERTH_SERVICE_API);
    const PodRef waiting = Pod("waiting");
    const berth_eviction eviction{sizeof eviction, 0, &waiting->view(), AsStr("make room")};
    api.evict(host(), &eviction, NoteAnswer, &answers);
  });
  EXPECT_THAT(answers, ElementsAre("0 "));
  EXPECT_FALSE(Pod("waiting")->terminating());
  EXPECT_TRUE(harness_.PlaceOf("waiting").has_value());
  EXPECT_FALSE(harness_.loop().bindings().contains("uid-waiting"));
}

TEST_F(ServiceCallsTest, AnEventHasItsRegardingObject) {
  AddPod("victim", "n1");
  Call([&](const berth_pod& pod) {
    const PodRef victim = Pod("victim");
    const berth_tagged regarding{BERTH_KIND_POD, 0, &victim->view()};
    const berth_tagged related{BERTH_KIND_POD, 0, &pod};
    const auto& api = Get<berth_api>(BERTH_SERVICE_API);
    const berth_api_event event{sizeof event,     0,
                                &regarding,       &related,
                                AsStr("Warning"), AsStr("Moved"),
                                AsStr("Moving"),  AsStr("out of the way")};
    EXPECT_EQ(api.event(host(), &event), BERTH_SUCCESS);
  });
  const auto& events = harness_.cluster().events();
  const auto event = std::ranges::find(events, "Moved", &Event::reason);
  ASSERT_NE(event, events.end());
  EXPECT_EQ(event->type + " " + event->action + " " + event->note, "Warning Moving out of the way");
  EXPECT_EQ(event->regarding.name + " " + event->regarding.uid, "victim uid-victim");
  EXPECT_EQ(event->related->name, "p");
  EXPECT_EQ(event->reporting_controller, stage_.spec().scheduler_name);
}

// --- services that test.A calls in PreFilter, Filter and Bind ------------------------------------

class ProbeServicesTest : public ::testing::Test {
 protected:
  ProbeServicesTest() { harness_.AddNodes({"n1"}); }

  Harness harness_;
};

TEST_F(ProbeServicesTest, SlotsExistFromPreFilterToBind) {
  TestProfile profile;
  profile.Use("test.A", {Point::kPreFilter, Point::kBind}, R"({"say":1,"bind":{"how":"api"}})");
  ASSERT_TRUE(harness_.Start(profile).ok());
  harness_.Schedule({.name = "p"});
  harness_.Schedule({.name = "q"});
  EXPECT_EQ(std::ranges::count(harness_.lines(), "test.A: pre_filter slot=7"), 2);
  EXPECT_EQ(std::ranges::count(harness_.lines(), "test.A: pre_filter slots=1"), 2);
  EXPECT_EQ(std::ranges::count(harness_.lines(), "test.A: bind slot=1"), 2);
  harness_.Stop();
  EXPECT_THAT(harness_.lines(), Contains("test.A: destroy slots=0"));
}

TEST_F(ProbeServicesTest, ColumnsCanBeBoundInPreFilterOnly) {
  TestProfile profile;
  profile.Use("test.A", {Point::kPreFilter, Point::kFilter},
              R"({"preFilter":{"bindColumn":"label:zone"},"filter":{"bindColumn":"req.cpu"},
                  "bindType":3})");
  ASSERT_TRUE(harness_.Start(profile).ok());
  EXPECT_EQ(Harness::Outcome(harness_.Schedule({.name = "p"})), "Success");
  EXPECT_THAT(harness_.lines(),
              ElementsAre("test.A: bind code=0", "test.A: bind index=1", "test.A: bind data=1",
                          "test.A: bind code=36", "test.A: bind index=-1"));
}

TEST_F(ProbeServicesTest, BoundColumnsMustExistInTheirType) {
  const std::vector<std::string> kRefused = {"test.A: bind code=35", "test.A: bind index=-1"};
  const std::vector<std::string> kUnknown = {"test.A: bind code=34", "test.A: bind index=-1"};
  const std::vector<std::string> kAbsent = {"test.A: bind code=0", "test.A: bind index=1",
                                            "test.A: bind data=0"};
  const auto bound = [](int index) -> std::vector<std::string> {
    return {"test.A: bind code=0", "test.A: bind index=" + std::to_string(index),
            "test.A: bind data=1"};
  };
  const struct {
    const char* name;
    const char* column;
    const char* more;  // Arguments of the plugin.
    std::vector<std::string> lines;
  } kTable[] = {
      {"a column of the plugin", "alloc:example.com/score", "", bound(0)},
      {"a new column", "alloc.cpu", "", bound(1)},
      {"an optional column that exists", "alloc.cpu", R"(,"bindFlags":1)", bound(1)},
      {"an unknown column", "no.such", "", kUnknown},
      {"an optional unknown column", "no.such", R"(,"bindFlags":1)", kAbsent},
      {"a kind that is not declared", "object:v1/Secret", R"(,"bindType":6)", kUnknown},
      {"an optional column of such a kind", "object:v1/Secret", R"(,"bindType":6,"bindFlags":1)",
       kAbsent},
      {"another type", "alloc.cpu", R"(,"bindType":2)", kRefused},
      {"another type of an optional column", "alloc.cpu", R"(,"bindType":2,"bindFlags":1)",
       kRefused},
      {"no type", "alloc.cpu", R"(,"bindType":0)", kRefused},
      {"a type that does not exist", "alloc.cpu", R"(,"bindType":8)", kRefused},
      {"an unknown flag", "alloc.cpu", R"(,"bindFlags":2)", kRefused},
      {"an unknown flag of an unknown column", "no.such", R"(,"bindFlags":3)", kRefused},
      {"a struct that is too small", "alloc.cpu", R"(,"bindSize":23)", kRefused},
      {"a struct of a later version", "alloc.cpu", R"(,"bindSize":32)", bound(1)},
  };
  int pod = 0;
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.name);
    harness_.lines().clear();
    const std::string args =
        R"({"preFilter":{"bindColumn":")" + std::string(row.column) + "\"}" + row.more + "}";
    ASSERT_TRUE(
        harness_.Start(TestProfile().Use("test.A", {Point::kPreFilter}, args.c_str())).ok());
    harness_.Schedule({.name = "p" + std::to_string(pod++)});
    EXPECT_EQ(harness_.lines(), row.lines);
  }
}

TEST_F(ProbeServicesTest, ObjectsOfDeclaredKinds) {
  for (const char* name : {"red", "blue"}) {
    harness_.AddObject(R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":")" +
                       std::string(name) + "\"}}");
  }
  harness_.AddObject(
      R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"x","namespace":"d"}})");
  ASSERT_TRUE(
      harness_.Start(TestProfile().Use("test.A", {Point::kPreFilter}, R"({"say":1})")).ok());
  harness_.Schedule({.name = "p"});
  EXPECT_THAT(harness_.lines(),
              IsSupersetOf({"test.A: namespaces code=0", "test.A: secrets code=35",
                            "test.A: secret get=35", "test.A: namespace x get=34",
                            "test.A: namespace blue get=0", "test.A: retained code=0"}));
  const auto starts = [&](const char* text) {
    return std::ranges::find_if(harness_.lines(),
                                [text](const std::string& line) { return line.starts_with(text); });
  };
  EXPECT_LT(starts("test.A: blue Namespace="), starts("test.A: red Namespace="));
  EXPECT_NE(starts("test.A: red Namespace="), harness_.lines().end());
}

}  // namespace
}  // namespace berth::host
