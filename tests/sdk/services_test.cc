#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/needed_kind.h>
#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

class HostTest : public ::testing::Test {
 protected:
  testing::SmallHost small_;
  internal::Fault fault_;
  internal::Services services_{small_.abi(), &fault_};
  Host host_{services_};
  testing::SmallCycle<int> cycle_;
  testing::RecordedCompletion completion_;
};

TEST_F(HostTest, ReportsWhichServicesExist) {
  EXPECT_TRUE(host_.log());
  EXPECT_TRUE(host_.timers());
  EXPECT_FALSE(host_.what_if());
  EXPECT_FALSE(host_.nominator());
  EXPECT_FALSE(host_.waiting());
  EXPECT_EQ(host_.name(), "small");
}

TEST_F(HostTest, StringsHaveIds) {
  const berth_id id = host_.Intern("zone-a");
  EXPECT_NE(id, BERTH_ID_NONE);
  EXPECT_EQ(host_.Intern("zone-a"), id);
  EXPECT_EQ(host_.Text(id), "zone-a");
  EXPECT_EQ(host_.Find("zone-a"), id);
  EXPECT_EQ(host_.Find("zone-b"), BERTH_ID_NONE);
  host_.Release(id);
  EXPECT_EQ(small_.released, (std::vector<berth_id>{id}));
}

TEST_F(HostTest, AnInternedIdReleasesItselfOnce) {
  const berth_id id = host_.Intern("zone-a");
  {
    InternedId held = host_.InternHeld("zone-a");
    EXPECT_EQ(held.get(), id);
    InternedId other = std::move(held);
    held = std::move(other);
    EXPECT_EQ(held.get(), id);
    EXPECT_EQ(InternedId().get(), BERTH_ID_NONE);
    EXPECT_TRUE(small_.released.empty());
  }
  EXPECT_EQ(small_.released, (std::vector<berth_id>{id}));
}

// A call of a service that the host does not serve names it.
TEST_F(HostTest, AServiceThatIsNotServedThrows) {
  testing::SmallHost bare;
  bare.missing_services = {BERTH_SERVICE_TIMER,   BERTH_SERVICE_API,  BERTH_SERVICE_STRINGS,
                           BERTH_SERVICE_OBJECTS, BERTH_SERVICE_REFS, BERTH_SERVICE_RANDOM,
                           BERTH_SERVICE_METRICS, BERTH_SERVICE_LOG};
  internal::Services services(bare.abi(), &fault_);
  const Host host(services);
  const auto text = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "did not throw";
  };
  const Cycle cycle(cycle_.cycle, services, nullptr, {nullptr, "PostFilter"});
  const Binding binding(cycle_.binding, {nullptr, "Bind"});
  Done done(services_, completion_.abi());
  const auto nothing = [] {};
  struct Case {
    const char* service;
    std::function<void()> call;
  };
  const Case kTable[] = {
      {BERTH_SERVICE_TIMER, [&] { static_cast<void>(Timer(host.timers(), nothing).Start(1s)); }},
      {BERTH_SERVICE_TIMER, [&] { static_cast<void>(host.timers().Post(nothing)); }},
      {BERTH_SERVICE_TIMER, [&] { static_cast<void>(host.timers().Now()); }},
      {BERTH_SERVICE_TIMER, [&] { static_cast<void>(PendingWork(host.timers())); }},
      {BERTH_SERVICE_API, [&] { static_cast<void>(host.api().Bind(binding, done)); }},
      {BERTH_SERVICE_API, [&] { static_cast<void>(host.api().Event(cycle_.pod, {})); }},
      {BERTH_SERVICE_STRINGS, [&] { host.Intern("x"); }},
      {BERTH_SERVICE_STRINGS, [&] { static_cast<void>(host.Text(1)); }},
      {BERTH_SERVICE_OBJECTS, [&] { host.objects().Get("v1/X", "", "x"); }},
      {BERTH_SERVICE_REFS, [&] { static_cast<void>(host.Retain(cycle_.pod)); }},
      {BERTH_SERVICE_RANDOM, [&] { host.random().Next(cycle); }},
      {"berth.whatif/1", [&] { host.what_if().Begin(cycle, {}, WhatIfMode::kApart); }},
      {"berth.nominator/1", [&] { static_cast<void>(host.nominator().Clear("u")); }},
      {"berth.activate/1", [&] { static_cast<void>(host.activate().Pod("u")); }},
      {"berth.waiting/1", [&] { static_cast<void>(host.waiting().Allow("u")); }},
  };
  for (const Case& c : kTable) {
    EXPECT_EQ(text(c.call), std::string("this host does not serve ") + c.service);
  }
  EXPECT_TRUE(done) << "the call can still be completed";
  EXPECT_FALSE(host.timers());
  EXPECT_FALSE(host.random());
  host.log().Info("dropped");
  host.metrics().Counter("n", "Number.").Observe(1);
}

TEST_F(HostTest, LogsMessagesAtOrAboveTheLevel) {
  small_.level = BERTH_LOG_INFO;
  host_.log().Debug("not seen");
  host_.log().Info("claim bound", {{"claim", "c"}, {"node", "a"}});
  host_.log().Error("lost");
  EXPECT_EQ(small_.log, (std::vector<std::string>{"2 claim bound claim=c node=a", "4 lost"}));
}

TEST_F(HostTest, MetricsRequireTheirLabels) {
  const Metric metric = host_.metrics().Counter("n", "Number.", {"zone"});
  EXPECT_TRUE(metric);
  metric.Observe(2, {"a"});
  metric.Observe(3);
  using Observed = std::vector<std::pair<uint64_t, double>>;
  const uint64_t handle = 10 + BERTH_METRIC_COUNTER;
  EXPECT_EQ(small_.observed, (Observed{{handle, 2}})) << "the second call has no label";
  Metric().Observe(1);
  const Series series = metric.With({"a"});
  EXPECT_TRUE(series);
  series.Observe(5);
  EXPECT_EQ(small_.observed.back(), (std::pair<uint64_t, double>{handle, 5}));
  EXPECT_FALSE(metric.With({"a", "b"}));
  small_.series_code = BERTH_BUG;
  EXPECT_FALSE(metric.With({"b"}));
  metric.With({"b"}).Observe(1);
  Series().Observe(1);
  EXPECT_EQ(small_.observed.size(), 2U);
}

// Values and selectors are released when they are replaced, not when the source of the move is
// destroyed.
template <class Owned, class T>
void CheckOwned(testing::SmallHost& small) {
  internal::Fault fault;
  const T objects[2] = {};
  using Released = std::vector<const void*>;
  small.released_values.clear();
  Owned kept;
  EXPECT_FALSE(kept);
  EXPECT_FALSE(kept.ok());
  EXPECT_EQ(kept.status().code(), BERTH_NOT_FOUND);
  {
    const internal::Services services(small.abi(), &fault);
    Owned first(services, &objects[0], Status());
    Owned second(services, &objects[1], Status());
    EXPECT_TRUE(first);
    first = std::move(second);
    EXPECT_EQ(small.released_values, (Released{&objects[0]})) << "when it is replaced";
    EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move): a moved object is empty.
    kept = std::move(first);
    Owned& self = kept;
    kept = std::move(self);
    EXPECT_TRUE(kept);
    const Owned invalid(services, nullptr, Status(BERTH_BAD_ARGUMENT));
    EXPECT_FALSE(invalid);
    EXPECT_EQ(invalid.status().code(), BERTH_BAD_ARGUMENT);
  }
  EXPECT_EQ(small.released_values.size(), 1U);
  // The instance has ended; the host still exists.
  kept = Owned();
  EXPECT_EQ(small.released_values, (Released{&objects[0], &objects[1]}));
}

TEST_F(HostTest, ValuesAndSelectorsAreReleasedOnce) {
  CheckOwned<ParsedValue, berth_value>(small_);
  CheckOwned<Selector, berth_selector>(small_);
  CheckOwned<NodeSelector, berth_node_selector>(small_);
  EXPECT_TRUE(ParsedValue().value().absent());
  EXPECT_EQ(Selector().get(), nullptr);
  EXPECT_FALSE(Selector().Matches(Labels()));
  EXPECT_FALSE(NodeSelector().Matches(berth_node{}));
}

class ObjectsTest : public HostTest {
 protected:
  ObjectsTest() {
    for (std::size_t i = 0; i < 3; ++i) {
      metas_[i].name = Str(std::string_view(names_[i]));
      objects_[i].meta = &metas_[i];
      small_.objects.push_back(&objects_[i]);
    }
  }
  std::string names_[3] = {"a", "b", "c"};
  berth_meta metas_[3] = {};
  berth_object objects_[3] = {};
};

TEST_F(ObjectsTest, AreFoundAndListed) {
  EXPECT_EQ(host_.objects().Get("v1/X", "ns", "b"), &objects_[1]);
  EXPECT_EQ(host_.objects().Get("v1/X", "ns", "z"), nullptr);
  std::string seen;
  EXPECT_TRUE(host_.objects()
                  .List("v1/X", "", [&](const berth_object& o) { seen += Str(o.meta->name); })
                  .ok());
  EXPECT_EQ(seen, "abc");
  seen.clear();
  const Status stopped = host_.objects().List("v1/X", "", [&](const berth_object& o) {
    seen += Str(o.meta->name);
    return seen != "ab";
  });
  EXPECT_TRUE(stopped.ok());
  EXPECT_EQ(seen, "ab");
  const auto nothing = [](const berth_object&) {};
  EXPECT_EQ(host_.objects().List("v1/Undeclared", "", nothing).code(), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(host_.objects().List("v1/NotServed", "", nothing).code(), BERTH_UNSUPPORTED);
}

TEST_F(ObjectsTest, AnExceptionStopsTheListAndIsRethrown) {
  int seen = 0;
  const auto throws = [&](const berth_object&) {
    if (++seen == 2) throw std::runtime_error("enough");
  };
  EXPECT_THROW(static_cast<void>(host_.objects().List("v1/X", "", throws)), std::runtime_error);
  EXPECT_EQ(seen, 2);
}

TEST_F(ObjectsTest, AreRetainedUntilTheLastReference) {
  {
    Ref<berth_object> ref = host_.Retain(objects_[0]);
    EXPECT_TRUE(ref);
    EXPECT_EQ(&*ref, &objects_[0]);
    Ref<berth_object> other = std::move(ref);
    EXPECT_EQ(Str(other->meta->name), "a");
    EXPECT_EQ(other.get(), &objects_[0]);
    EXPECT_EQ(small_.retained.size(), 1U);
    EXPECT_TRUE(small_.retained.contains({BERTH_KIND_OBJECT, &objects_[0]}));
    Ref<berth_object> next = host_.Retain(objects_[1]);
    other = std::move(next);
    EXPECT_FALSE(small_.retained.contains({BERTH_KIND_OBJECT, &objects_[0]})) << "replaced";
    ref = std::move(other);
    EXPECT_FALSE(Ref<berth_object>());
  }
  EXPECT_TRUE(small_.retained.empty());
}

TEST_F(ObjectsTest, PodsAndNodesAreRetainedToo) {
  const berth_node node{};
  const Pod pod(cycle_.pod);
  {
    const Ref<berth_pod> kept_pod = host_.Retain(pod);
    const Ref<berth_node> kept_node = host_.Retain(node);
    EXPECT_TRUE(small_.retained.contains({BERTH_KIND_POD, &cycle_.pod}));
    EXPECT_TRUE(small_.retained.contains({BERTH_KIND_NODE, &node}));
  }
  EXPECT_TRUE(small_.retained.empty());
}

TEST_F(ObjectsTest, WhatIsNoObjectIsNotRetained) {
  const berth_node node{};
  small_.no_object = &node;
  EXPECT_THROW(static_cast<void>(host_.Retain(node)), Error);
  EXPECT_TRUE(small_.retained.empty());
}

TEST_F(ObjectsTest, ANeededKindIsLookedUpOnce) {
  using Texts = std::vector<std::string>;
  NeededKind kind(host_, "v1/X");
  EXPECT_TRUE(kind.is_open());
  kind.Note(false);
  kind.Note(false);
  EXPECT_EQ(small_.look_ups, (Texts{"get v1/X "}));
  EXPECT_TRUE(kind.is_open());
  kind.Note(true);
  kind.Note(true);
  kind.Note(false);
  EXPECT_EQ(small_.look_ups, (Texts{"get v1/X ", "list v1/X"}));
  EXPECT_FALSE(kind.is_open());
  // The word of the call, or the server, may not allow a look-up.
  for (const char* refused : {"v1/WrongWord", "v1/NotServed", "v1/Undeclared"}) {
    for (const bool needed : {false, true}) NeededKind(host_, refused).Note(needed);
  }
}

struct Watcher {
  void OnClaim(const ObjectChange& change) {
    if (change.now == nullptr) throw std::runtime_error("gone");
    seen.emplace_back(change.old, change.now);
  }
  std::vector<std::pair<const berth_object*, const berth_object*>> seen;
};

TEST_F(ObjectsTest, ChangesCallTheWatchMethod) {
  Watcher watcher;
  ASSERT_TRUE(host_.objects().Watch<&Watcher::OnClaim>("v1/X", &watcher).ok());
  small_.Change(nullptr, &objects_[0]);
  ASSERT_EQ(watcher.seen.size(), 1U);
  EXPECT_EQ(watcher.seen[0].first, nullptr);
  EXPECT_EQ(watcher.seen[0].second, &objects_[0]);
  EXPECT_FALSE(fault_.set());
  small_.Change(&objects_[0], nullptr);
  EXPECT_TRUE(fault_.set());
  EXPECT_EQ(fault_.text(), "a watch: gone");
}

TEST_F(HostTest, TimersFireOncePerStartUntilDestruction) {
  int fired = 0;
  {
    Timer timer(host_.timers(), [&] { ++fired; });
    EXPECT_FALSE(timer.running());
    EXPECT_TRUE(timer.Start(5s).ok());
    EXPECT_TRUE(timer.running());
    small_.fire(small_.fire_to);
    EXPECT_EQ(fired, 1);
    EXPECT_FALSE(timer.running());
    EXPECT_EQ(small_.timers_cancelled, 0U);
    EXPECT_TRUE(timer.Start(5s).ok());
  }
  EXPECT_EQ(small_.timers_cancelled, 1U);
  EXPECT_EQ(host_.timers().Now(), 42ns);
  EXPECT_EQ(host_.timers().WallNow(), 43ns);
}

TEST_F(HostTest, PendingWorkHoldsUntilItsDestruction) {
  using ::testing::ElementsAre;
  using ::testing::IsEmpty;
  {
    PendingWork work(host_.timers());
    EXPECT_TRUE(work);
    const PendingWork moved = std::move(work);
    EXPECT_TRUE(moved);
    EXPECT_THAT(small_.released_holds, IsEmpty());
  }
  EXPECT_THAT(small_.released_holds, ElementsAre(1U));
  PendingWork replaced(host_.timers());
  replaced = PendingWork(host_.timers());
  EXPECT_THAT(small_.released_holds, ElementsAre(1U, 2U));
  replaced = PendingWork();
  EXPECT_FALSE(replaced);
  EXPECT_THAT(small_.released_holds, ElementsAre(1U, 2U, 3U));
}

TEST_F(HostTest, RefusedPendingWorkIsEmpty) {
  small_.hold_code = BERTH_CANCELLED;
  {
    const PendingWork work(host_.timers());
    EXPECT_FALSE(work);
  }
  EXPECT_TRUE(small_.released_holds.empty());
}

TEST_F(HostTest, ATimerMayBeDestroyedByItsFunction) {
  std::unique_ptr<Timer> timer;
  std::string seen;
  // The text is long enough to be on the heap, so that a destroyed function is found.
  timer = std::make_unique<Timer>(host_.timers(), [&timer, &seen, text = std::string(100, 'x')] {
    timer.reset();
    seen = text;
  });
  EXPECT_TRUE(timer->Start(5s).ok());
  small_.fire(small_.fire_to);
  EXPECT_EQ(timer, nullptr);
  EXPECT_EQ(seen, std::string(100, 'x'));
  EXPECT_EQ(small_.timers_cancelled, 0U);
}

TEST_F(HostTest, PostedFunctionsRunOnceWithTheirCode) {
  std::vector<berth_code> codes;
  int runs = 0;
  const auto with_code = [&](berth_code code) { codes.push_back(code); };
  const auto without = [&] { ++runs; };
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(host_.timers().Post(with_code).ok());
    EXPECT_TRUE(host_.timers().Post(without).ok());
  }
  ASSERT_EQ(small_.posted.size(), 4U);
  EXPECT_TRUE(codes.empty());
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [run, to] = small_.posted[i];
    run(to, i < 2 ? BERTH_SUCCESS : BERTH_CANCELLED);
  }
  EXPECT_EQ(codes, (std::vector<berth_code>{BERTH_SUCCESS, BERTH_CANCELLED}));
  EXPECT_EQ(runs, 1) << "it is not called when the instance ends";
  small_.post_code = BERTH_CANCELLED;
  EXPECT_EQ(host_.timers().Post(without).code(), BERTH_CANCELLED);
  small_.post_code = BERTH_SUCCESS;
  EXPECT_TRUE(host_.timers().Post([] { throw std::runtime_error("lost"); }).ok());
  small_.posted.back().first(small_.posted.back().second, BERTH_SUCCESS);
  EXPECT_EQ(fault_.text(), "a posted function: lost");
}

// The host may call the function on the scheduling thread before the call of post returns.
TEST_F(HostTest, APostedFunctionMayRunBeforePostReturns) {
  small_.runs_posts_at_once = true;
  const auto token = std::make_shared<int>(0);
  EXPECT_TRUE(host_.timers().Post([token] { ++*token; }).ok());
  EXPECT_EQ(*token, 1);
  EXPECT_EQ(token.use_count(), 1) << "the function is freed";
}

TEST_F(HostTest, FunctionsThatTheHostRefusesAreFreed) {
  const auto token = std::make_shared<int>(0);
  small_.post_code = BERTH_CONFLICT;
  EXPECT_EQ(host_.timers().Post([token] {}).code(), BERTH_CONFLICT);
  EXPECT_EQ(token.use_count(), 1);
  small_.api_code = BERTH_BAD_ARGUMENT;
  EXPECT_EQ(host_.api().Request({.path = "/x"}, [token](const ApiResult&) {}).code(),
            BERTH_BAD_ARGUMENT);
  EXPECT_EQ(token.use_count(), 1);
}

// Posts and sends a request in its constructor, which may then fail.
class Poster : public Plugin {
 public:
  static constexpr std::string_view kName = "acme.Poster";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Posts.";

  static inline std::shared_ptr<int> token;  // What its functions hold.
  static inline bool fails = false;

  explicit Poster(const Host& host) : host_(host) {
    static_cast<void>(host.timers().Post([held = token](berth_code) { ++*held; }));
    static_cast<void>(host.timers().Post([held = token, again = Again{host}] { ++*held; }));
    static_cast<void>(
        host.api().Request({.path = "/x"}, [held = token](const ApiResult&) { ++*held; }));
    if (fails) throw Error("no device");
  }
  Verdict Filter(const Cycle& /*cycle*/, const NodeRow<Columns>& /*node*/) const { return kPass; }

 private:
  // Posts a function when it is destroyed.
  struct Again {
    explicit Again(const Host& host) : to(host) {}
    Again(Again&& other) noexcept : to(other.to), armed(std::exchange(other.armed, false)) {}
    ~Again() {
      if (armed) static_cast<void>(to.timers().Post([held = token] { ++*held; }));
    }
    Host to;
    bool armed = true;
  };

  Host host_;
};

// When create() fails, the host calls nothing of the instance.
TEST(Pending, AFailedCreateFreesWhatItPosted) {
  for (const bool fails : {false, true}) {
    SCOPED_TRACE(fails ? "fails" : "succeeds, and the host drops what is pending");
    Poster::token = std::make_shared<int>(0);
    Poster::fails = fails;
    testing::SmallHost host;
    {
      const testing::SmallInstance plugin(kEntryOf<Poster>, host);
      EXPECT_EQ(plugin.code, fails ? BERTH_ERROR : BERTH_SUCCESS);
      EXPECT_EQ(Poster::token.use_count(), fails ? 1 : 4);
    }
    EXPECT_EQ(Poster::token.use_count(), 1);
    EXPECT_EQ(*Poster::token, 0) << "nothing was called";
    EXPECT_EQ(host.posted.size(), 3U);
    Poster::token.reset();
  }
}

TEST_F(HostTest, RandomNumbersBelongToTheCycle) {
  const Cycle cycle(cycle_.cycle, services_, nullptr, {nullptr, "Filter"});
  EXPECT_EQ(host_.random().Next(cycle), 100U);
  EXPECT_EQ(host_.random().Next(cycle), 101U);
  EXPECT_EQ(host_.random().Below(cycle, 7), 102U % 7);
}

TEST_F(HostTest, PatchesNameTheObject) {
  berth_meta meta{};
  meta.ns = small_.Id("shop");
  meta.name = Str(std::string_view("p"));
  berth_pod pod{};
  pod.meta = &meta;
  berth_node node{};
  node.meta = &meta;
  const auto ignore = [](const ApiResult&) {};
  const Patch patch = Patch().Annotation("k", "v");
  EXPECT_TRUE(host_.api().PatchPod(pod, patch, ignore).ok());
  berth_api_result result{};
  result.struct_size = sizeof result;
  small_.answer(small_.answer_to, &result);
  EXPECT_TRUE(host_.api().PatchNode(node, patch, ignore).ok());
  small_.answer(small_.answer_to, &result);
  const std::string body = R"({"metadata":{"annotations":{"k":"v"}}})";
  EXPECT_EQ(small_.requests,
            (std::vector<std::string>{"PATCH /api/v1/namespaces/shop/pods/p  " + body + " 0",
                                      "PATCH /api/v1/nodes/p  " + body + " 0"}));
}

TEST_F(HostTest, RequestsAreAnsweredOnce) {
  std::vector<std::string> answers;
  const auto answer = [&](const ApiResult& result) {
    answers.push_back(std::to_string(result.code()) + " " + std::string(result.body()) + " " +
                      std::string(result.error()) + " " + std::to_string(result.http_status()) +
                      " " + std::to_string(result.retry_after().count()));
    EXPECT_FALSE(result.in_memory());
    EXPECT_EQ(result.ok(), result.status().ok());
    EXPECT_TRUE(result.value().absent());
  };
  const auto send = [&](berth_code code, const char* body, const char* error) {
    berth_api_result result{};
    result.struct_size = sizeof result;
    result.code = code;
    result.http_status = 200;
    result.retry_after_ns = 9;
    result.body = Str(std::string_view(body));
    result.error = Str(std::string_view(error));
    small_.answer(small_.answer_to, &result);
  };
  EXPECT_TRUE(host_.api().Request({.path = "/version", .timeout = 2ns}, answer).ok());
  send(BERTH_SUCCESS, "v1", "");
  EXPECT_TRUE(
      host_.api()
          .Request({.verb = "PATCH", .path = "/x", .body = "{}", .content_type = "t"}, answer)
          .ok());
  send(BERTH_SUCCESS, "", "");
  EXPECT_TRUE(host_.api().PatchStatus(cycle_.pod, "[]", answer).ok());
  send(BERTH_CONFLICT, "{}", "older");
  EXPECT_TRUE(host_.api().Evict(cycle_.pod, "preempted", answer).ok());
  send(BERTH_SUCCESS, "", "");
  EXPECT_EQ(answers, (std::vector<std::string>{"0 v1  200 9", "0   200 9", "36 {} older 200 9",
                                               "0   200 9"}));
  const Api::EventText text = {"Normal", "Scheduled", "Binding", "note"};
  EXPECT_TRUE(host_.api().Event(cycle_.pod, text).ok());
  EXPECT_TRUE(host_.api().Event(cycle_.pod, cycle_.pod, text).ok());
  EXPECT_EQ(small_.requests,
            (std::vector<std::string>{"GET /version   2", "PATCH /x t {} 0", "patch []",
                                      "evict p preempted", "event 1 Normal Scheduled Binding note",
                                      "event 1 1 Normal Scheduled Binding note"}));
  small_.api_code = BERTH_UNSUPPORTED;
  EXPECT_EQ(host_.api().Evict(cycle_.pod, "", answer).code(), BERTH_UNSUPPORTED);
}

TEST_F(HostTest, ARejectedBindKeepsTheDone) {
  const Binding binding(cycle_.binding, {nullptr, "Bind"});
  small_.api_code = BERTH_UNSUPPORTED;
  Done done(services_, completion_.abi());
  EXPECT_EQ(host_.api().Bind(binding, done).code(), BERTH_UNSUPPORTED);
  EXPECT_TRUE(done);
  small_.api_code = BERTH_SUCCESS;
  EXPECT_EQ(host_.api().Bind(binding, done).code(), BERTH_PENDING);
  EXPECT_FALSE(done);
  EXPECT_TRUE(completion_.answers.empty());
}

}  // namespace
}  // namespace berth
