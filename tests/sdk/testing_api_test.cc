// Tests that the fake API server answers as the host does.
#include <cstdint>
#include <functional>
#include <string>
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
using ::testing::SizeIs;

// The calls of the plugin's callbacks: "name code http_status body error", with " value" if the
// body was decoded, and " in memory" if an evicted pod had its place only there.
std::vector<std::string> called_back;

void NoteAnswer(void* to, const berth_api_result* result) noexcept {
  called_back.push_back(
      std::string(static_cast<const char*>(to)) + " " + std::to_string(result->code) + " " +
      std::to_string(result->http_status) + " " + std::string(FromAbi(result->body)) + " " +
      std::string(FromAbi(result->error)) + (result->value != nullptr ? " value" : "") +
      ((result->flags & BERTH_API_RESULT_IN_MEMORY) != 0 ? " in memory" : ""));
}
void NotePost(void* to, berth_code code) noexcept {
  called_back.push_back(std::string(static_cast<const char*>(to)) + " " + std::to_string(code));
}

void* Name(const char* name) { return const_cast<char*>(name); }

berth_code SendRequest(const char* verb, const char* path, berth_api_answer answer = NoteAnswer) {
  berth_api_request request{};
  request.struct_size = sizeof request;
  request.verb = ToAbi(verb);
  request.path = ToAbi(path);
  return found.api->request(found.host, &request, answer, Name(path));
}

berth_code EvictPod(const berth_pod& pod, const char* name, berth_api_answer answer = NoteAnswer) {
  const berth_eviction eviction{sizeof eviction, 0, &pod, ToAbi("say \"room\"")};
  return found.api->evict(found.host, &eviction, answer, Name(name));
}

berth_code PatchStatus(const berth_pod& pod, const char* patch) {
  const berth_status_patch given{sizeof given, 0, &pod, ToAbi(patch)};
  return found.api->patch_status(found.host, &given, NoteAnswer, Name("p"));
}

void Complete(berth_done done, berth_code code) {
  const berth_outcome outcome{sizeof outcome, code, {}};
  found.completion->complete(done, &outcome);
}

// The calls that the plugin makes in Reserve, and in Bind.
void (*with_api)(const berth_cycle& cycle) = nullptr;
berth_code (*bind_with_api)(const berth_binding& binding, berth_done done) = nullptr;

Parts ApiParts() {
  called_back.clear();
  Parts parts;
  parts.create = &FindServices;
  parts.reserve = {sizeof(berth_reserve), 0,
                   [](void*, const berth_cycle* cycle, const berth_target*,
                      berth_status*) noexcept -> berth_code {
                     with_api(*cycle);
                     return BERTH_SUCCESS;
                   },
                   [](void*, const berth_binding*) noexcept {}};
  return parts;
}

std::vector<std::string> FindingsWithApi(void (*act)(const berth_cycle&),
                                         const std::function<void(PluginUnderTest&)>& prepare,
                                         const std::function<void(PluginUnderTest&)>& after) {
  with_api = act;
  return FindingsOf(ApiParts(), [&](PluginUnderTest& plugin) {
    prepare(plugin);
    plugin.Reserve(MakePod("p"), "a");
    after(plugin);
  });
}

// --- bodies --------------------------------------------------------------------------------------

TEST(Api, DecodesABodyThatIsJson) {
  const struct {
    const char* name;
    ApiReply reply;
    const char* answer;
  } cases[] = {
      {"an object", {.body = "{}"}, "/x 0 200 {}  value"},
      {"a scalar", {.body = "7"}, "/x 0 200 7  value"},
      {"a text", {.body = "\"t\""}, "/x 0 200 \"t\"  value"},
      {"null has no value", {.body = "null"}, "/x 0 200 null "},
      {"no body", {.body = ""}, "/x 0 200  "},
      {"no JSON", {.body = "ok"}, "/x 0 200 ok "},
      {"broken JSON", {.body = "{\"a\": "}, "/x 0 200 {\"a\":  "},
      {"more than one value", {.body = "[1] 2"}, "/x 0 200 [1] 2 "},
      {"an error", {.http_status = 422, .body = "[]"}, "/x 35 422 [] HTTP status 422 value"},
      {"JSON by its type",
       {.body = "{}", .content_type = "application/json; charset=utf-8"},
       "/x 0 200 {}  value"},
      {"JSON of another type", {.body = "{}", .content_type = "text/plain"}, "/x 0 200 {} "},
      {"no response", {.http_status = 0}, "/x 1 0  the server did not respond"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto findings = FindingsWithApi(
        [](const berth_cycle&) { EXPECT_EQ(SendRequest("GET", "/x"), BERTH_SUCCESS); },
        [&](PluginUnderTest& plugin) { plugin.api().Reply("GET", "/x", c.reply); },
        [](PluginUnderTest& plugin) { plugin.Advance(0); });
    EXPECT_THAT(findings, IsEmpty());
    EXPECT_THAT(called_back, ElementsAre(c.answer));
  }
}

TEST(Api, RefusesBadArguments) {
  const auto act = [](const berth_cycle& cycle) {
    EXPECT_EQ(SendRequest("get", "/x"), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(SendRequest("", "/x"), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(SendRequest("GET", "x"), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(SendRequest("GET", ""), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(SendRequest("GET", "/x", nullptr), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(EvictPod(*cycle.pod, "none", nullptr), BERTH_BAD_ARGUMENT);
    for (const char* patch : {"", "[]", "{", "{\"metadata\": 1}"}) {
      EXPECT_EQ(PatchStatus(*cycle.pod, patch), BERTH_BAD_ARGUMENT) << patch;
    }
  };
  const auto findings = FindingsWithApi(
      act, [](PluginUnderTest&) {},
      [](PluginUnderTest& plugin) {
        plugin.Advance(0);
        EXPECT_THAT(plugin.api().calls(), IsEmpty());
      });
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_THAT(called_back, IsEmpty());
}

// --- evict ---------------------------------------------------------------------------------------

TEST(Api, EvictsPodByItsConditionAndADeletion) {
  const struct {
    const char* name;
    uint32_t http_status;
    const char* answer;
  } cases[] = {
      {"deleted", 200, "e 0 0  "},
      {"it no longer exists", 404, "e 0 0  "},
      {"a conflict", 409, "e 36 0  HTTP status 409"},
      {"forbidden", 403, "e 1 0  HTTP status 403"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto findings = FindingsWithApi(
        [](const berth_cycle& cycle) { EXPECT_EQ(EvictPod(*cycle.pod, "e"), BERTH_SUCCESS); },
        [&](PluginUnderTest& plugin) {
          plugin.api().Reply("DELETE", "/api/v1/namespaces/default/pods/p",
                             {.http_status = c.http_status, .body = "{}", .retry_after_ns = 1});
        },
        [](PluginUnderTest& plugin) {
          EXPECT_THAT(plugin.api().calls(), IsEmpty()) << "the eviction follows the call";
          plugin.Advance(0);
          ASSERT_THAT(plugin.api().calls(), SizeIs(2));
          EXPECT_EQ(plugin.api().calls()[0].path, "/api/v1/namespaces/default/pods/p/status");
          EXPECT_THAT(plugin.api().calls()[0].body, HasSubstr(R"("message":"say \"room\"")"));
          EXPECT_EQ(plugin.api().calls()[1].verb, "DELETE");
          EXPECT_THAT(plugin.scheduling().preempted(), IsEmpty());
        });
    EXPECT_THAT(findings, IsEmpty());
    EXPECT_THAT(called_back, ElementsAre(c.answer));
  }
}

TEST(Api, EvictedPodThatWaitsReturnsToTheQueue) {
  const auto evict = [](const berth_cycle& cycle) {
    EXPECT_EQ(EvictPod(*cycle.pod, "e"), BERTH_SUCCESS);
  };
  const auto evict_and_reject = [](const berth_cycle& cycle) {
    EXPECT_EQ(EvictPod(*cycle.pod, "e"), BERTH_SUCCESS);
    const berth_rejection late{sizeof late, 0, cycle.pod->meta->uid, ToAbi("late")};
    EXPECT_EQ(found.waiting->reject(found.host, &late), BERTH_SUCCESS);
  };
  const auto wait = [](PluginUnderTest& plugin) { plugin.AddWaiting(MakePod("p")); };
  EXPECT_THAT(FindingsWithApi(evict, wait,
                              [](PluginUnderTest& plugin) {
                                EXPECT_THAT(plugin.scheduling().waiting(), SizeIs(1));
                                plugin.Advance(0);
                                EXPECT_THAT(plugin.api().calls(), IsEmpty());
                                EXPECT_THAT(plugin.scheduling().waiting(), IsEmpty());
                                EXPECT_THAT(plugin.scheduling().preempted(),
                                            ElementsAre(SchedulingServices::Rejection{
                                                "uid-p", "say \"room\""}));
                              }),
              IsEmpty());
  EXPECT_THAT(called_back, ElementsAre("e 0 0   in memory"));
  EXPECT_THAT(FindingsWithApi(evict_and_reject, wait,
                              [](PluginUnderTest& plugin) {
                                plugin.Advance(0);
                                EXPECT_THAT(plugin.api().calls(), IsEmpty())
                                    << "the pod has lost its place";
                                EXPECT_THAT(plugin.scheduling().preempted(), IsEmpty());
                              }),
              IsEmpty());
  EXPECT_THAT(called_back, ElementsAre("e 0 0   in memory"));
}

// --- order, and the end of an instance -----------------------------------------------------------

void RequestAndPost(const berth_cycle& cycle) {
  EXPECT_EQ(SendRequest("GET", "/1"), BERTH_SUCCESS);
  EXPECT_EQ(EvictPod(*cycle.pod, "2"), BERTH_SUCCESS);
  EXPECT_EQ(found.timer->post(found.host, NotePost, Name("3")), BERTH_SUCCESS);
  EXPECT_EQ(SendRequest("GET", "/4"), BERTH_SUCCESS);
  EXPECT_EQ(found.timer->post(found.host, NotePost, Name("5")), BERTH_SUCCESS);
}

TEST(Api, AnswersInTheOrderOfTheRequests) {
  const auto findings = FindingsWithApi(
      RequestAndPost, [](PluginUnderTest&) {}, [](PluginUnderTest& plugin) { plugin.Advance(0); });
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_THAT(called_back, ElementsAre("/1 34 404  HTTP status 404", "3 0",
                                       "/4 34 404  HTTP status 404", "5 0", "2 0 0  "))
      << "an eviction is performed after the call";
}

TEST(Api, CancelsWhatIsOpenAtEndOfInstance) {
  const auto findings = FindingsWithApi(
      RequestAndPost, [](PluginUnderTest&) {}, [](PluginUnderTest& plugin) { plugin.End(); });
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_THAT(called_back, ElementsAre("3 32", "5 32", "/1 32 0  the plugin's instance ends",
                                       "2 32 0  the plugin's instance ends",
                                       "/4 32 0  the plugin's instance ends"));
}

TEST(Api, AnEndingInstanceTakesNoNewCallbacks) {
  static std::vector<berth_code> codes;
  codes.clear();
  static const berth_pod* pod = nullptr;
  const auto act = [](const berth_cycle& cycle) {
    pod = cycle.pod;
    found.refs->retain(found.host, {BERTH_KIND_POD, 0, pod});
    const auto run = [](void*, berth_code) noexcept {
      uint64_t timer = 0;
      codes.push_back(SendRequest("GET", "/x"));
      codes.push_back(EvictPod(*pod, "e"));
      codes.push_back(PatchStatus(*pod, "{}"));
      const berth_tagged about{BERTH_KIND_POD, 0, pod};
      const berth_api_event event{sizeof event,    0,          &about,     nullptr,
                                  ToAbi("Normal"), ToAbi("R"), ToAbi("A"), ToAbi("N")};
      codes.push_back(found.api->event(found.host, &event));
      codes.push_back(found.timer->post(found.host, NotePost, nullptr));
      codes.push_back(found.timer->start(
          found.host, 1, [](void*) noexcept {}, nullptr, &timer));
    };
    found.timer->post(found.host, run, nullptr);
  };
  const auto findings = FindingsWithApi(
      act, [](PluginUnderTest&) {}, [](PluginUnderTest& plugin) { plugin.End(); });
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_THAT(codes, ElementsAre(BERTH_CANCELLED, BERTH_CANCELLED, BERTH_CANCELLED, BERTH_CANCELLED,
                                 BERTH_CANCELLED, BERTH_CANCELLED));
  EXPECT_THAT(called_back, IsEmpty());
}

// What the instance posted is called with CANCELLED, under [event].
TEST(Api, EndingInstanceMayUseTheServicesOfEvents) {
  static std::vector<berth_code> codes;
  codes.clear();
  const auto act = [](const berth_cycle&) {
    const auto run = [](void*, berth_code code) noexcept {
      const auto each = [](void*, const berth_pod*) noexcept -> int32_t { return 1; };
      uint32_t row = 0;
      codes = {code,
               found.nodes->find(found.host, ToAbi("a"), &row),
               found.nominator->clear(found.host, ToAbi("uid-x")),
               found.waiting->each(found.host, each, nullptr),
               found.waiting->allow(found.host, ToAbi("uid-x")),
               found.activate->activate(found.host, nullptr, 0),
               found.timer->cancel(found.host, 1)};
    };
    EXPECT_EQ(found.timer->post(found.host, run, nullptr), BERTH_SUCCESS);
  };
  const auto findings = FindingsWithApi(
      act, [](PluginUnderTest&) {}, [](PluginUnderTest& plugin) { plugin.End(); });
  EXPECT_THAT(findings, IsEmpty());
  EXPECT_THAT(codes, ElementsAre(BERTH_CANCELLED, BERTH_SUCCESS, BERTH_NOT_FOUND, BERTH_SUCCESS,
                                 BERTH_NOT_FOUND, BERTH_SUCCESS, BERTH_NOT_FOUND));
}

TEST(Api, DestroyMayUseTheServicesOfLoad) {
  static std::vector<berth_code> codes;
  codes.clear();
  with_api = [](const berth_cycle&) {};
  Parts parts = ApiParts();
  parts.destroy = [] {
    const void* service = nullptr;
    uint64_t timer = 0;
    uint32_t index = 0;
    berth_metric metric{};
    metric.struct_size = sizeof metric;
    metric.kind = BERTH_METRIC_GAUGE;
    metric.name = ToAbi("late");
    codes = {found.host->get_service(found.host, BERTH_SERVICE_LOG, &service),
             found.timer->cancel(found.host, 1),
             found.timer->start(
                 found.host, 1, [](void*) noexcept {}, nullptr, &timer),
             found.metrics->define(found.host, &metric, &index)};
  };
  EXPECT_THAT(FindingsOf(parts, [](PluginUnderTest& plugin) { plugin.End(); }),
              ElementsAre(HasSubstr("defines a metric after create()")));
  EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_NOT_FOUND, BERTH_CANCELLED, BERTH_CONFLICT));
}

TEST(Api, AnInstanceHasAtMost65536Posts) {
  const auto act = [](const berth_cycle&) {
    const auto run = [](void*, berth_code) noexcept {};
    for (int i = 0; i < 65'536; ++i) {
      ASSERT_EQ(found.timer->post(found.host, run, nullptr), BERTH_SUCCESS);
    }
    EXPECT_EQ(found.timer->post(found.host, run, nullptr), BERTH_CONFLICT);
    EXPECT_EQ(SendRequest("GET", "/x"), BERTH_SUCCESS) << "requests are not posts";
  };
  const auto findings = FindingsWithApi(
      act, [](PluginUnderTest&) {},
      [](PluginUnderTest& plugin) {
        plugin.Advance(0);
        EXPECT_EQ(found.timer->post(found.host, NotePost, Name("again")), BERTH_SUCCESS);
      });
  EXPECT_THAT(findings, IsEmpty());
}

TEST(Api, LimitsOpenRequestsAndTimersTo65536) {
  const auto act = [](const berth_cycle&) {
    uint64_t timer = 0;
    const auto start = [&timer] {
      return found.timer->start(
          found.host, 1, [](void*) noexcept {}, nullptr, &timer);
    };
    for (int i = 0; i < 65'536; ++i) {
      ASSERT_EQ(SendRequest("GET", "/x"), BERTH_SUCCESS);
      ASSERT_EQ(start(), BERTH_SUCCESS);
    }
    EXPECT_EQ(SendRequest("GET", "/x"), BERTH_CONFLICT);
    EXPECT_EQ(start(), BERTH_CONFLICT);
  };
  const auto findings = FindingsWithApi(
      act, [](PluginUnderTest&) {},
      [](PluginUnderTest& plugin) {
        plugin.Advance(1);
        EXPECT_EQ(SendRequest("GET", "/x"), BERTH_SUCCESS);
      });
  EXPECT_THAT(findings, IsEmpty());
}

// --- bind ----------------------------------------------------------------------------------------

Parts BindingParts(berth_code (*bind)(const berth_binding&, berth_done)) {
  bind_with_api = bind;
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {sizeof(berth_bind), 0,
                [](void*, const berth_binding* binding, berth_done done, berth_status*) noexcept {
                  return bind_with_api(*binding, done);
                }};
  parts.pre_bind = {sizeof(berth_pre_bind), 0, nullptr,
                    [](void*, const berth_binding* binding, berth_done done,
                       berth_status*) noexcept { return bind_with_api(*binding, done); }};
  return parts;
}

TEST(Api, BindTakesOnlyAnOpenPromiseOfBind) {
  static berth_done last{};
  const auto bind = [](const berth_binding& binding, berth_done done) -> berth_code {
    last = done;
    return found.api->bind(found.host, &binding, done);
  };
  const auto refused = [](uint64_t id) {
    return HasSubstr("calls api.bind with promise " + std::to_string(id) +
                     ", which is not an open promise of Bind");
  };
  EXPECT_THAT(FindingsOf(BindingParts(bind),
                         [](PluginUnderTest& plugin) {
                           Placement placement = plugin.Place(MakePod("p"));
                           EXPECT_EQ(placement.PreBind("a").code, BERTH_CONFLICT);
                           plugin.Advance(0);
                           EXPECT_THAT(plugin.api().calls(), IsEmpty());
                         }),
              ElementsAre(refused(1)))
      << "a promise of PreBind";
  const auto complete_first = [](const berth_binding& binding, berth_done done) -> berth_code {
    Complete(done, BERTH_SUCCESS);
    return found.api->bind(found.host, &binding, done);
  };
  EXPECT_THAT(FindingsOf(BindingParts(complete_first),
                         [](PluginUnderTest& plugin) {
                           EXPECT_EQ(plugin.Bind(MakePod("p"), "a").code, BERTH_CONFLICT);
                         }),
              ElementsAre(refused(1)))
      << "a promise that is completed";
  const auto bind_nothing = [](const berth_binding& binding, berth_done done) -> berth_code {
    return found.api->bind(found.host, &binding, {done.host, 0});
  };
  EXPECT_THAT(FindingsOf(BindingParts(bind_nothing),
                         [](PluginUnderTest& plugin) {
                           EXPECT_EQ(plugin.Bind(MakePod("p"), "a").code, BERTH_CONFLICT);
                         }),
              ElementsAre(refused(0)))
      << "0 is never an id";
  const auto bind_later = [](const berth_binding&, berth_done done) -> berth_code {
    last = done;
    return BERTH_SUCCESS;
  };
  EXPECT_THAT(FindingsOf(BindingParts(bind_later),
                         [](PluginUnderTest& plugin) {
                           Placement placement = plugin.Place(MakePod("p"));
                           EXPECT_TRUE(placement.Bind("a").ok());
                           Complete(last, BERTH_ERROR);
                           EXPECT_FALSE(placement.completion().completed) << "it has no effect";
                           const PodHandle pod(MakePod("p"), plugin.ids());
                           berth_binding binding{};
                           binding.pod = pod.get();
                           EXPECT_EQ(found.api->bind(found.host, &binding, last), BERTH_CONFLICT);
                         }),
              ElementsAre(refused(1)))
      << "Bind returned another code than Pending";
}

TEST(Api, ABindingThatIsOverIsNotCompleted) {
  const auto bind = [](const berth_binding& binding, berth_done done) -> berth_code {
    EXPECT_NE(done.id, 0U);
    return found.api->bind(found.host, &binding, done);
  };
  EXPECT_THAT(FindingsOf(BindingParts(bind),
                         [](PluginUnderTest& plugin) {
                           EXPECT_EQ(plugin.Bind(MakePod("p"), "a").code, BERTH_PENDING);
                           plugin.Advance(0);
                           EXPECT_THAT(plugin.api().calls(), SizeIs(1));
                         }),
              IsEmpty());
  EXPECT_THAT(FindingsOf(BindingParts(bind),
                         [](PluginUnderTest& plugin) {
                           Placement placement = plugin.Place(MakePod("p"));
                           EXPECT_EQ(placement.Bind("a").code, BERTH_PENDING);
                           plugin.End();
                           EXPECT_FALSE(placement.completion().completed);
                         }),
              IsEmpty());
}

}  // namespace
}  // namespace berth::testing
