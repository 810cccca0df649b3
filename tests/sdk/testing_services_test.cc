// Tests the services of the test kit's fake host.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_found.h"
#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Services, RecordLogAndMetrics) {
  Parts parts = CorrectFilter();
  parts.create = &FindServices;
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle*, const berth_nodes*, berth_pre_filter_out*,
                         berth_status*) noexcept -> berth_code {
                        const berth_str_pair pair{ToAbi("k"), ToAbi("v")};
                        found.log->log(found.host, BERTH_LOG_WARN, ToAbi("hello"), &pair, 1);
                        const berth_str label = ToAbi("ok");
                        uint64_t series = 0;
                        found.metrics->series(found.host, found.metric, &label, &series);
                        found.metrics->observe(found.host, series, 2);
                        return BERTH_SUCCESS;
                      },
                      nullptr, nullptr};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")},
                                           .without = {Check::kRepeat, Check::kWhatIf,
                                                       Check::kDependence, Check::kLeaks}});
  plugin.Filter(MakePod("p"));
  ASSERT_EQ(plugin.log().size(), 1u);
  EXPECT_EQ(plugin.log()[0].message, "hello");
  EXPECT_EQ(plugin.log()[0].pairs.at("k"), "v");
  const Metric& metric = plugin.metrics().at("sample_total");
  ASSERT_EQ(metric.observations.size(), 1u);
  EXPECT_THAT(metric.observations[0].first, ElementsAre("ok"));
  EXPECT_EQ(metric.observations[0].second, 2);
}

TEST(Services, ATimerIsNeverInThePast) {
  static std::vector<int64_t> fired;
  fired.clear();
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    FindServices(host, args, status);
    const auto fire = [](void*) noexcept { fired.push_back(found.timer->now_ns(found.host)); };
    uint64_t timer = 0;
    found.timer->start(host, INT64_MIN, fire, nullptr, &timer);
    found.timer->start(host, INT64_MAX, fire, nullptr, &timer);
    return berth_code{BERTH_SUCCESS};
  };
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")}});
  plugin.Advance(0);
  EXPECT_THAT(fired, ElementsAre(0));
}

TEST(Services, TimersFollowTheVirtualClock) {
  static std::vector<int64_t> fired;
  fired.clear();
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    FindServices(host, args, status);
    const auto fire = [](void*) noexcept { fired.push_back(found.timer->now_ns(found.host)); };
    uint64_t first = 0;
    uint64_t second = 0;
    uint64_t third = 0;
    found.timer->start(host, 20, fire, nullptr, &second);
    found.timer->start(host, 10, fire, nullptr, &first);
    found.timer->start(host, 15, fire, nullptr, &third);
    EXPECT_EQ(found.timer->cancel(host, third), BERTH_SUCCESS);
    EXPECT_EQ(found.timer->start(host, 1, nullptr, nullptr, &third), BERTH_BAD_ARGUMENT);
    return berth_code{BERTH_SUCCESS};
  };
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")}});
  plugin.Advance(9);
  EXPECT_THAT(fired, IsEmpty());
  plugin.Advance(1);
  EXPECT_THAT(fired, ElementsAre(10));
  plugin.Advance(100);
  EXPECT_THAT(fired, ElementsAre(10, 20));
}

TEST(Services, ProvideTheObjectsOfTheTest) {
  static std::vector<std::string> seen;
  seen.clear();
  Parts parts = CorrectFilter();
  parts.kinds = {"v1/PersistentVolumeClaim"};
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    FindServices(host, args, status);
    return found.objects->watch(
        host, ToAbi("v1/PersistentVolumeClaim"),
        [](void*, const berth_object_change* change) noexcept {
          const auto number = [](const berth_object* object) {
            if (object == nullptr) return std::string("-");
            return std::to_string(
                found.values->as_int(found.values->get(object->value, ToAbi("n"))));
          };
          seen.push_back(number(change->old) + " " + number(change->now));
        },
        nullptr);
  };
  const SampleLibrary library(parts);
  const auto claim = [](const char* json) {
    return MakeObject("v1/PersistentVolumeClaim", "default", "c", json);
  };
  PluginUnderTest plugin(library.entry(),
                         {.nodes = {MakeNode("a")}, .objects = {claim(R"({"n": 0})")}});
  plugin.PutObject(claim(R"({"n": 1})"));
  plugin.PutObject(claim(R"({"n": 2})"));
  plugin.RemoveObject(claim(R"({"n": 2})"));
  plugin.PutObject(MakeObject("v1/Other", "", "o"));
  EXPECT_THAT(seen, ElementsAre("- 0", "0 1", "1 2", "2 -"));
}

TEST(Services, ObjectsMustBeDeclared) {
  Parts parts = CorrectFilter();
  parts.create = &FindServices;
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle*, const berth_nodes*, berth_pre_filter_out*,
                         berth_status*) noexcept -> berth_code {
                        const berth_object* object = nullptr;
                        return found.objects->get(found.host, ToAbi("v1/Secret"), ToAbi(""),
                                                  ToAbi("s"), &object);
                      },
                      nullptr, nullptr};
  const auto findings =
      FindingsOf(parts, [](PluginUnderTest& plugin) { plugin.Filter(MakePod("p")); });
  EXPECT_THAT(
      findings,
      Contains(HasSubstr("asks for objects of kind v1/Secret, which its berth_plugin_info.kinds")));
}

// A plugin with Reserve, whose function is `call`.
Parts WithReserve(void (*call)(const berth_cycle& cycle, const berth_target& target)) {
  static void (*reserve)(const berth_cycle& cycle, const berth_target& target);
  reserve = call;
  Parts parts;
  parts.create = &FindServices;
  parts.reserve = {sizeof(berth_reserve), 0,
                   [](void*, const berth_cycle* cycle, const berth_target* target,
                      berth_status*) noexcept -> berth_code {
                     reserve(*cycle, *target);
                     return BERTH_SUCCESS;
                   },
                   [](void*, const berth_binding*) noexcept {}};
  return parts;
}

TEST(Services, KeepWhatIsRetained) {
  static const berth_pod* pod = nullptr;
  static const berth_node* node = nullptr;
  const Parts parts = WithReserve([](const berth_cycle& cycle, const berth_target& target) {
    pod = cycle.pod;
    node = target.node;
    EXPECT_EQ(found.refs->retain(found.host, {BERTH_KIND_POD, 0, pod}), BERTH_SUCCESS);
    EXPECT_EQ(found.refs->retain(found.host, {BERTH_KIND_NODE, 0, node}), BERTH_SUCCESS);
  });
  const auto findings = FindingsOf(parts, [](PluginUnderTest& plugin) {
    plugin.Reserve(MakePod("kept"), "a");
    EXPECT_EQ(plugin.holdings().references, 2U);
    plugin.RemoveNode("a");
    EXPECT_EQ(FromAbi(pod->meta->name), "kept");
    EXPECT_EQ(FromAbi(node->meta->name), "a");
    found.refs->release(found.host, {BERTH_KIND_POD, 0, pod});
    EXPECT_EQ(plugin.holdings().references, 1U);
  });
  EXPECT_THAT(findings, IsEmpty()) << "the host releases the rest";
}

TEST(Services, ReportMisusedReferencesAndIds) {
  const Parts parts = WithReserve([](const berth_cycle& cycle, const berth_target& target) {
    const berth_pod copy = *cycle.pod;
    EXPECT_EQ(found.refs->retain(found.host, {BERTH_KIND_POD, 0, &copy}), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(found.refs->retain(found.host, {BERTH_KIND_POD, 0, target.node}), BERTH_BAD_ARGUMENT);
    found.refs->release(found.host, {BERTH_KIND_POD, 0, cycle.pod});
    const berth_id id = found.strings->intern(found.host, ToAbi("rack"));
    found.strings->release(found.host, id);
    found.strings->release(found.host, BERTH_ID_NONE);
    found.strings->release(found.host, id);
    found.metrics->observe(found.host, 7, 1);
  });
  const auto findings =
      FindingsOf(parts, [](PluginUnderTest& plugin) { plugin.Reserve(MakePod("p"), "a"); });
  EXPECT_THAT(findings, Contains(HasSubstr("retains something that is no object of the host")));
  EXPECT_THAT(findings, Contains(HasSubstr("releases an object that it does not retain")));
  EXPECT_THAT(findings, Contains(HasSubstr("which it does not hold")));
  EXPECT_THAT(findings, Contains(HasSubstr("observes series 7, which it did not get")));
  EXPECT_EQ(findings.size(), 4U);
}

TEST(Services, PostedFunctionsRunInAdvanceOrAreCancelled) {
  static std::vector<berth_code> codes;
  codes.clear();
  const Parts parts = WithReserve([](const berth_cycle&, const berth_target&) {
    const auto run = [](void*, berth_code code) noexcept { codes.push_back(code); };
    EXPECT_EQ(found.timer->post(found.host, run, nullptr), BERTH_SUCCESS);
    EXPECT_EQ(found.timer->post(found.host, nullptr, nullptr), BERTH_BAD_ARGUMENT);
  });
  const auto findings = FindingsOf(parts, [](PluginUnderTest& plugin) {
    plugin.Reserve(MakePod("p"), "a");
    EXPECT_THAT(codes, IsEmpty());
    plugin.Advance(0);
    EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS));
    plugin.Reserve(MakePod("q"), "a");
  });
  EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_CANCELLED));
  EXPECT_THAT(findings, ElementsAre(HasSubstr("calls timer.post without a function"),
                                    HasSubstr("calls timer.post without a function")));
}

TEST(Services, HoldsAreCountedUntilTheirRelease) {
  static uint64_t first;
  const Parts parts = WithReserve([](const berth_cycle&, const berth_target&) {
    uint64_t second = 0;
    EXPECT_EQ(found.timer->hold(found.host, &first), BERTH_SUCCESS);
    EXPECT_EQ(found.timer->hold(found.host, &second), BERTH_SUCCESS);
    found.timer->release(found.host, second);
    found.timer->release(found.host, second);
  });
  const auto findings = FindingsOf(parts, [](PluginUnderTest& plugin) {
    EXPECT_EQ(plugin.pending_work(), 0U);
    plugin.Reserve(MakePod("p"), "a");
    EXPECT_EQ(plugin.pending_work(), 1U);
    found.timer->release(found.host, first);
    EXPECT_EQ(plugin.pending_work(), 0U);
    plugin.Reserve(MakePod("q"), "a");
    EXPECT_EQ(plugin.pending_work(), 1U);
    plugin.End();
    EXPECT_EQ(plugin.pending_work(), 0U);
  });
  EXPECT_THAT(findings, ElementsAre(HasSubstr("releases hold 2, which it does not have"),
                                    HasSubstr("releases hold 4, which it does not have")));
}

TEST(Services, RandomNumbersAreRepeatable) {
  static std::vector<uint64_t> numbers;
  numbers.clear();
  const Parts parts = WithReserve([](const berth_cycle& cycle, const berth_target&) {
    numbers.push_back(found.random->next(found.host, &cycle));
    numbers.push_back(found.random->next(found.host, &cycle));
  });
  const auto reserve = [](PluginUnderTest& plugin) {
    plugin.Reserve(MakePod("p"), "a");
    plugin.Reserve(MakePod("p"), "a");
  };
  EXPECT_THAT(FindingsOf(parts, reserve), IsEmpty());
  const std::vector<uint64_t> first = std::exchange(numbers, {});
  ASSERT_EQ(first.size(), 4U);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], first[2]) << "another attempt";
  FindingsOf(parts, reserve);
  EXPECT_EQ(numbers, first);
}

// Records the answers of the fake API server.
struct Answered {
  static inline std::vector<std::string> all;

  static void Note(void*, const berth_api_result* result) noexcept {
    std::string text = std::to_string(result->code) + " " + std::to_string(result->http_status) +
                       " " + std::to_string(result->retry_after_ns) + " " +
                       std::string(FromAbi(result->body)) + " " +
                       std::string(FromAbi(result->error));
    if (result->value != nullptr) {
      text += " n=" +
              std::to_string(found.values->as_int(found.values->get(result->value, ToAbi("n"))));
    }
    all.push_back(text);
  }
};

TEST(Services, TheApiServerAnswersFromATable) {
  Answered::all.clear();
  const Parts parts = WithReserve([](const berth_cycle& cycle, const berth_target& target) {
    const auto request = [](const char* verb, const char* path) {
      berth_api_request sent{};
      sent.struct_size = sizeof sent;
      sent.verb = ToAbi(verb);
      sent.path = ToAbi(path);
      sent.body = ToAbi("b");
      sent.timeout_ns = 3;
      return found.api->request(found.host, &sent, Answered::Note, nullptr);
    };
    EXPECT_EQ(request("GET", "/x"), BERTH_SUCCESS);
    EXPECT_EQ(request("PATCH", "/x"), BERTH_SUCCESS);
    EXPECT_EQ(request("GET", "/busy"), BERTH_SUCCESS);
    EXPECT_EQ(request("HEAD", "/x"), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(request("GET", "x"), BERTH_BAD_ARGUMENT);
    const berth_status_patch patch{sizeof patch, 0, cycle.pod, ToAbi("{}")};
    found.api->patch_status(found.host, &patch, Answered::Note, nullptr);
    const berth_eviction eviction{sizeof eviction, 0, cycle.pod, ToAbi("room")};
    found.api->evict(found.host, &eviction, Answered::Note, nullptr);
    const berth_tagged pod{BERTH_KIND_POD, 0, cycle.pod};
    const berth_tagged node{BERTH_KIND_NODE, 0, target.node};
    berth_api_event event{sizeof event,    0,          &pod,       &node,
                          ToAbi("Normal"), ToAbi("R"), ToAbi("A"), ToAbi("N")};
    EXPECT_EQ(found.api->event(found.host, &event), BERTH_SUCCESS);
    event.type = ToAbi("normal");
    EXPECT_EQ(found.api->event(found.host, &event), BERTH_BAD_ARGUMENT);
  });
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")}});
  plugin.api().Reply("GET", "/x", {.http_status = 200, .body = R"({"n": 7})"});
  plugin.api().Reply("GET", "/busy", {.http_status = 429, .body = "later", .retry_after_ns = 5});
  plugin.Reserve(MakePod("p"), "a");
  EXPECT_THAT(Answered::all, IsEmpty());
  plugin.Advance(0);
  EXPECT_THAT(Answered::all, ElementsAre(R"(0 200 0 {"n": 7}  n=7)", "34 404 0  HTTP status 404",
                                         "1 429 5 later HTTP status 429", "0 200 0  ", "0 0 0  "));
  EXPECT_THAT(plugin.api().calls(),
              ElementsAre(ApiCall{"GET", "/x", "application/json", "b", 3},
                          ApiCall{"PATCH", "/x", "application/merge-patch+json", "b", 3},
                          ApiCall{"GET", "/busy", "application/json", "b", 3},
                          ApiCall{"PATCH", "/api/v1/namespaces/default/pods/p/status",
                                  "application/strategic-merge-patch+json",
                                  R"({"metadata":{"uid":"uid-p"}})", 0},
                          ApiCall{"PATCH", "/api/v1/namespaces/default/pods/p/status",
                                  "application/strategic-merge-patch+json",
                                  R"({"status":{"conditions":[{"type":"DisruptionTarget",)"
                                  R"("status":"True","reason":"PreemptionByScheduler",)"
                                  R"("message":"room"}]}})",
                                  0},
                          ApiCall{"DELETE", "/api/v1/namespaces/default/pods/p", "", "", 0}));
  EXPECT_THAT(plugin.api().events(), ElementsAre(ApiEvent{"p", "a", "Normal", "R", "A", "N"}));
}

TEST(Services, BoundColumnsMustExistInTheirType) {
  static berth_column_request request;
  static berth_code code;
  static bool has_data;
  Parts parts;
  parts.create = &FindServices;
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle* cycle, const berth_nodes* all,
                         berth_pre_filter_out*, berth_status*) noexcept -> berth_code {
                        uint32_t index = 0;
                        code = found.columns->bind(found.host, cycle, &request, &index);
                        has_data = code == BERTH_SUCCESS &&
                                   all->block(all, 0)->columns[index].data != nullptr;
                        return BERTH_SUCCESS;
                      },
                      nullptr, nullptr};
  const uint32_t size = sizeof(berth_column_request);
  const struct {
    const char* name;
    berth_column_request request;
    berth_code code;
    bool has_data;
    std::vector<std::string> findings;
  } kTable[] = {
      {"a column", {size, 0, "alloc.cpu", BERTH_TYPE_I64, 0}, BERTH_SUCCESS, true, {}},
      {"optional", {size, 1, "alloc.cpu", BERTH_TYPE_I64, 0}, BERTH_SUCCESS, true, {}},
      {"an id", {size, 0, "label:zone", BERTH_TYPE_ID, 0}, BERTH_SUCCESS, true, {}},
      {"unknown", {size, 0, "no.such", BERTH_TYPE_I64, 0}, BERTH_NOT_FOUND, false, {}},
      {"optional, unknown", {size, 1, "no.such", BERTH_TYPE_I64, 0}, BERTH_SUCCESS, false, {}},
      {"no id", {size, 0, "label:zone", BERTH_TYPE_U32, 0}, BERTH_BAD_ARGUMENT, false, {}},
      {"optional, no id",
       {size, 1, "label:zone", BERTH_TYPE_U32, 0},
       BERTH_BAD_ARGUMENT,
       false,
       {}},
      {"no type", {size, 0, "alloc.cpu", 0, 0}, BERTH_BAD_ARGUMENT, false, {}},
      {"an unknown flag",
       {size, 3, "alloc.cpu", BERTH_TYPE_I64, 0},
       BERTH_BAD_ARGUMENT,
       false,
       {"Sample: calls columns.bind with the unknown flags 2 [kShape]"}},
      {"too small",
       {size - 1, 0, "alloc.cpu", BERTH_TYPE_I64, 0},
       BERTH_BAD_ARGUMENT,
       false,
       {"Sample: calls columns.bind with a struct_size of 23; expected at least 24 [kShape]"}},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.name);
    request = row.request;
    EXPECT_EQ(FindingsOf(parts, [](PluginUnderTest& plugin) { plugin.Place(MakePod("p")); }),
              row.findings);
    EXPECT_EQ(code, row.code);
    EXPECT_EQ(has_data, row.has_data);
  }
}

TEST(Services, ReportsUnknownFlagsOfRequests) {
  const Parts parts = WithReserve([](const berth_cycle& cycle, const berth_target&) {
    const berth_host* const host = found.host;
    const berth_status_patch patch{sizeof patch, 1, cycle.pod, ToAbi("{}")};
    EXPECT_EQ(found.api->patch_status(host, &patch, Answered::Note, nullptr), BERTH_BAD_ARGUMENT);
    const berth_eviction eviction{sizeof eviction, 2, cycle.pod, ToAbi("")};
    EXPECT_EQ(found.api->evict(host, &eviction, Answered::Note, nullptr), BERTH_BAD_ARGUMENT);
    const berth_tagged pod{BERTH_KIND_POD, 0, cycle.pod};
    const berth_api_event event{sizeof event,    4,          &pod,       nullptr,
                                ToAbi("Normal"), ToAbi("R"), ToAbi("A"), ToAbi("N")};
    EXPECT_EQ(found.api->event(host, &event), BERTH_BAD_ARGUMENT);
    const berth_api_request request{sizeof request, 8, ToAbi("GET"), ToAbi("/x"), ToAbi(""),
                                    ToAbi(""),      0};
    EXPECT_EQ(found.api->request(host, &request, Answered::Note, nullptr), BERTH_BAD_ARGUMENT);
  });
  const auto findings = FindingsOf(parts, [](PluginUnderTest& plugin) {
    plugin.Reserve(MakePod("p"), "a");
    EXPECT_THAT(plugin.api().calls(), IsEmpty());
    EXPECT_THAT(plugin.api().events(), IsEmpty());
  });
  EXPECT_THAT(findings, ElementsAre(HasSubstr("api.patch_status with the unknown flags 1 [kShape]"),
                                    HasSubstr("api.evict with the unknown flags 2 [kShape]"),
                                    HasSubstr("api.event with the unknown flags 4 [kShape]"),
                                    HasSubstr("api.request with the unknown flags 8 [kShape]")));
}

TEST(Services, TheApiServerBindsAPod) {
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {sizeof(berth_bind), 0,
                [](void*, const berth_binding* binding, berth_done done, berth_status*) noexcept
                -> berth_code { return found.api->bind(found.host, binding, done); }};
  const auto findings = FindingsOf(parts, [](PluginUnderTest& plugin) {
    plugin.api().Reply("POST", "/api/v1/namespaces/default/pods/q/binding", {.http_status = 409});
    Placement p = plugin.Place(MakePod("p"));
    Placement q = plugin.Place(MakePod("q"));
    EXPECT_EQ(p.Bind("a").code, BERTH_PENDING);
    EXPECT_EQ(q.Bind("a").code, BERTH_PENDING);
    EXPECT_FALSE(p.completion().completed);
    plugin.Advance(0);
    EXPECT_EQ(p.completion().answer, Success());
    EXPECT_EQ(q.completion().answer, Error("HTTP status 409"));
  });
  EXPECT_THAT(findings, IsEmpty());
}

TEST(Services, APromiseOfAnotherInstanceIsReported) {
  static const berth_host* of_other = nullptr;
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {sizeof(berth_bind), 0,
                [](void*, const berth_binding* binding, berth_done done, berth_status*) noexcept
                -> berth_code { return found.api->bind(of_other, binding, done); }};
  const SampleLibrary library(parts);
  std::vector<std::string> failures;
  {
    PluginUnderTest other(library.entry(),
                          {.nodes = {MakeNode("a")}, .on_failure = [&](const std::string& text) {
                             failures.push_back(text);
                           }});
    of_other = found.host;
    PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")}});
    EXPECT_EQ(plugin.Bind(MakePod("p"), "a").code, BERTH_CONFLICT);
  }
  EXPECT_THAT(failures,
              ElementsAre(HasSubstr("calls api.bind with a promise of another instance")));
}

TEST(Services, CanBeWithheldByTheTest) {
  static berth_code code = BERTH_SUCCESS;
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value*, berth_status*) {
    const void* service = nullptr;
    code = host->get_service(host, BERTH_SERVICE_TIMER, &service);
    return berth_code{BERTH_SUCCESS};
  };
  const SampleLibrary library(parts);
  EXPECT_EQ(
      PluginUnderTest::Create(library.entry(), {.services = {{BERTH_SERVICE_TIMER, nullptr}}}),
      Success());
  EXPECT_EQ(code, BERTH_UNSUPPORTED);
}

TEST(Services, ArgumentsAreReadInCreate) {
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    FindServices(host, args, status);
    const berth_value* value = found.values->get(args, ToAbi("cpuMilli"));
    if (found.values->kind(value) != BERTH_VALUE_INT) {
      status->add_argument_error(status, ToAbi("/cpuMilli"), ToAbi("expected an integer"));
      return berth_code{BERTH_BAD_ARGUMENT};
    }
    return found.values->as_int(value) == 200 ? berth_code{BERTH_SUCCESS} : berth_code{BERTH_ERROR};
  };
  const SampleLibrary library(parts);
  EXPECT_EQ(PluginUnderTest::Create(library.entry(), {.args = {{"cpuMilli", 200}}}), Success());
  EXPECT_EQ(PluginUnderTest::Create(library.entry(), {.args = R"({"cpuMilli": "x"})"}),
            MakeAnswer(BERTH_BAD_ARGUMENT, {"/cpuMilli: expected an integer"}));
  EXPECT_EQ(PluginUnderTest::Create(library.entry(), {}).code, BERTH_BAD_ARGUMENT);
}

TEST(Services, CanBeReplacedByTheTest) {
  static const berth_activate kActivate{sizeof(berth_activate), 0, nullptr};
  static berth_code answers[3];
  static const void* given = nullptr;
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value*, berth_status*) {
    const void* service = nullptr;
    answers[0] = host->get_service(host, BERTH_SERVICE_ACTIVATE, &given);
    answers[1] = host->get_service(host, BERTH_SERVICE_WAITING, &service);
    answers[2] = host->get_service(host, "acme.none/1", &service);
    return berth_code{BERTH_SUCCESS};
  };
  const SampleLibrary library(parts);
  EXPECT_EQ(
      PluginUnderTest::Create(library.entry(), {.services = {{BERTH_SERVICE_ACTIVATE, &kActivate},
                                                             {BERTH_SERVICE_WAITING, nullptr}}}),
      Success());
  EXPECT_THAT(answers, ElementsAre(BERTH_SUCCESS, BERTH_UNSUPPORTED, BERTH_NOT_FOUND));
  EXPECT_EQ(given, &kActivate);
}

}  // namespace
}  // namespace berth::testing
