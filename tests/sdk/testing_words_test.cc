// Tests that the fake host's services refuse calls under other thread words, at other points and
// for other cycles than abi.h allows.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/attempt.h>
#include <berth/testing/gtest.h>

#include "testing_found.h"
#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int64_t kConflict = BERTH_CONFLICT;
constexpr const char* kKind = "v1/ConfigMap";
constexpr berth_column_request kPodsColumn = {sizeof(berth_column_request), 0, "alloc.pods",
                                              BERTH_TYPE_I64, 0};

// One function of a service.
struct Function {
  const char* name;
  uint32_t words;
  const char* point;               // the only point of [cycle] that may call it; NULL: each
  std::optional<int64_t> refused;  // its result elsewhere; none if it returns nothing
  std::function<int64_t(const berth_cycle* cycle)> call;
};

int32_t EachPod(void*, const berth_pod*) noexcept { return 1; }
void DoNothing(void*) noexcept {}

uint64_t last_question = 0;
const berth_nodes* last_nodes = nullptr;

constexpr uint32_t kLook = kEvent | kQueue | kCycle | kBind;

std::vector<Function> FunctionsOfLoad() {
  constexpr uint32_t kTimer = kLook | kLoad;
  return {
      {"get_service", kLoad, nullptr, kConflict,
       [](auto*) -> int64_t {
         const void* service = nullptr;
         return found.host->get_service(found.host, BERTH_SERVICE_LOG, &service);
       }},
      {"columns.bind", kCycle, "PreFilter", kConflict,
       [](auto* cycle) -> int64_t {
         uint32_t index = 0;
         return found.columns->bind(found.host, cycle, &kPodsColumn, &index);
       }},
      {"metrics.define", kLoad, nullptr, kConflict,
       [](auto*) -> int64_t {
         berth_metric metric{};
         metric.struct_size = sizeof metric;
         metric.kind = BERTH_METRIC_GAUGE;
         metric.name = ToAbi("sample_words");
         uint32_t index = 0;
         return found.metrics->define(found.host, &metric, &index);
       }},
      {"objects.get", kLook, nullptr, kConflict,
       [](auto*) -> int64_t {
         const berth_object* object = nullptr;
         return found.objects->get(found.host, ToAbi(kKind), ToAbi("default"), ToAbi("c"), &object);
       }},
      {"objects.list", kLook, nullptr, kConflict,
       [](auto*) -> int64_t {
         const auto each = [](void*, const berth_object*) noexcept { return 1; };
         return found.objects->list(found.host, ToAbi(kKind), {}, each, nullptr);
       }},
      {"objects.served", kLook, nullptr, kConflict,
       [](auto*) -> int64_t { return found.objects->served(found.host, ToAbi(kKind)); }},
      {"objects.watch", kLoad, nullptr, kConflict,
       [](auto*) -> int64_t {
         const auto change = [](void*, const berth_object_change*) noexcept {};
         return found.objects->watch(found.host, ToAbi(kKind), change, nullptr);
       }},
      {"timer.start", kTimer, nullptr, kConflict,
       [](auto*) -> int64_t {
         uint64_t timer = 0;
         return found.timer->start(found.host, 1, DoNothing, nullptr, &timer);
       }},
      {"timer.cancel", kTimer, nullptr, kConflict,
       [](auto*) -> int64_t { return found.timer->cancel(found.host, 0); }},
  };
}

std::vector<Function> FunctionsOfCycle() {
  return {
      {"random.next", kCycle, nullptr, 0,
       [](auto* cycle) -> int64_t { return found.random->next(found.host, cycle) != 0; }},
      {"nodes.find", kEvent | kQueue | kCycle, nullptr, kConflict,
       [](auto*) -> int64_t {
         uint32_t row = 0;
         return found.nodes->find(found.host, ToAbi("a"), &row);
       }},
      {"nodes.place", kCycle, "PreFilter", kConflict,
       [](auto*) -> int64_t {
         uint32_t block = 0;
         uint32_t index = 0;
         return found.nodes->place(found.host, last_nodes, 0, &block, &index);
       }},
      {"whatif.begin", kCycle, "PostFilter", kConflict,
       [](auto* cycle) -> int64_t {
         const uint32_t row = 0;
         return found.whatif->begin(found.host, cycle, &row, 1, BERTH_WHATIF_APART, &last_question);
       }},
      {"whatif.add_pod", kCycle, "PostFilter", kConflict,
       [](auto* cycle) -> int64_t {
         const berth_pod* const pod = cycle != nullptr ? cycle->pod : nullptr;
         return found.whatif->add_pod(found.host, last_question, 0, pod, nullptr);
       }},
      {"whatif.remove_pod", kCycle, "PostFilter", kConflict,
       [](auto* cycle) -> int64_t {
         const berth_pod* const pod = cycle != nullptr ? cycle->pod : nullptr;
         return found.whatif->remove_pod(found.host, last_question, 0, pod, nullptr);
       }},
      {"whatif.run_filters", kCycle, "PostFilter", kConflict,
       [](auto*) -> int64_t {
         uint8_t code = 0;
         const berth_whatif_run run = {sizeof run, 0, nullptr, 0, &code};
         return found.whatif->run_filters(found.host, last_question, &run, nullptr);
       }},
      {"whatif.pod_filters", kCycle, "PostFilter", kConflict,
       [](auto* cycle) -> int64_t {
         const auto each = [](void*, berth_str) noexcept { return 1; };
         return found.whatif->pod_filters(found.host, cycle, each, nullptr);
       }},
      {"whatif.reasons", kCycle, "PostFilter", kConflict,
       [](auto*) -> int64_t {
         return found.whatif->reasons(found.host, last_question, 0, nullptr);
       }},
      {"whatif.end", kCycle, "PostFilter", std::nullopt,
       [](auto*) -> int64_t {
         found.whatif->end(found.host, last_question);
         return 0;
       }},
  };
}

std::vector<Function> FunctionsOfRequests() {
  return {
      {"nominator.list", kEvent | kQueue | kCycle, nullptr, kConflict,
       [](auto*) -> int64_t {
         return found.nominator->list(found.host, ToAbi("a"), EachPod, nullptr);
       }},
      {"nominator.clear", kEvent | kQueue | kCycle, nullptr, kConflict,
       [](auto*) -> int64_t { return found.nominator->clear(found.host, ToAbi("u")); }},
      {"nominator.each", kEvent | kQueue | kCycle, nullptr, kConflict,
       [](auto*) -> int64_t {
         const auto each = [](void*, const berth_pod*, berth_str) noexcept { return 1; };
         return found.nominator->each(found.host, each, nullptr);
       }},
      {"activate.activate", kLook, nullptr, kConflict,
       [](auto*) -> int64_t { return found.activate->activate(found.host, nullptr, 0); }},
      {"waiting.each", kLook, nullptr, kConflict,
       [](auto*) -> int64_t { return found.waiting->each(found.host, EachPod, nullptr); }},
      {"waiting.allow", kLook, nullptr, kConflict,
       [](auto*) -> int64_t { return found.waiting->allow(found.host, ToAbi("u")); }},
      {"waiting.reject", kLook, nullptr, kConflict,
       [](auto*) -> int64_t {
         const berth_rejection rejection = {sizeof rejection, 0, ToAbi("u"), {}};
         return found.waiting->reject(found.host, &rejection);
       }},
  };
}

std::vector<Function> FunctionsOfAny() {
  return {
      {"strings.intern", kAnyWord, nullptr, 0,
       [](auto*) -> int64_t { return found.strings->intern(found.host, ToAbi("any")); }},
      {"values.parse", kAnyWord, nullptr, 0,
       [](auto*) -> int64_t {
         const berth_value* const value = found.values->parse(found.host, ToAbi("[1]"), nullptr);
         found.values->release(found.host, value);
         return value != nullptr;
       }},
      {"metrics.series", kAnyWord, nullptr, kConflict,
       [](auto*) -> int64_t {
         const berth_str label = ToAbi("any");
         uint64_t series = 0;
         return found.metrics->series(found.host, found.metric, &label, &series);
       }},
      {"timer.post", kAnyWord, nullptr, kConflict,
       [](auto*) -> int64_t {
         return found.timer->post(
             found.host, [](void*, berth_code) noexcept {}, nullptr);
       }},
      {"timer.hold", kAnyWord, nullptr, kConflict,
       [](auto*) -> int64_t {
         uint64_t hold = 0;
         const berth_code code = found.timer->hold(found.host, &hold);
         if (code == BERTH_SUCCESS) found.timer->release(found.host, hold);
         return code;
       }},
      {"api.request", kAnyWord, nullptr, kConflict,
       [](auto*) -> int64_t {
         berth_api_request request{};
         request.struct_size = sizeof request;
         request.verb = ToAbi("GET");
         request.path = ToAbi("/x");
         const auto answer = [](void*, const berth_api_result*) noexcept {};
         return found.api->request(found.host, &request, answer, nullptr);
       }},
      {"http.request", kAnyWord, nullptr, kConflict,
       [](auto*) -> int64_t {
         berth_http_request request{};
         request.struct_size = sizeof request;
         request.method = ToAbi("GET");
         request.url = ToAbi("http://a/");
         const auto answer = [](void*, const berth_http_result*) noexcept {};
         return found.http->request(found.host, &request, answer, nullptr);
       }},
  };
}

const std::vector<Function>& Functions() {
  static const std::vector<Function> all = [] {
    std::vector<Function> functions;
    for (const auto& some :
         {FunctionsOfLoad(), FunctionsOfCycle(), FunctionsOfRequests(), FunctionsOfAny()}) {
      functions.insert(functions.end(), some.begin(), some.end());
    }
    return functions;
  }();
  return all;
}

// The place at which the plugin calls all functions, and their results.
const char* wanted_place = nullptr;
std::vector<int64_t> word_results;

void CallAll(const char* place, const berth_cycle* cycle) {
  if (wanted_place == nullptr || std::string(wanted_place) != place) return;
  word_results.clear();
  for (const Function& function : Functions()) word_results.push_back(function.call(cycle));
}

berth_code AtBinding(const char* place) {
  CallAll(place, nullptr);
  return BERTH_SUCCESS;
}

// A plugin that calls CallAll() wherever it is called.
Parts CallingParts() {
  Parts parts;
  parts.kinds = {kKind};
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    FindServices(host, args, status);
    CallAll("create", nullptr);
    if (wanted_place != nullptr && std::string(wanted_place) == "a post") {
      found.timer->post(
          host, [](void*, berth_code) noexcept { CallAll("a post", nullptr); }, nullptr);
    }
    return berth_code{BERTH_SUCCESS};
  };
  parts.pre_enqueue = {sizeof(berth_pre_enqueue), 0,
                       [](void*, const berth_queued*, berth_status*) noexcept -> berth_code {
                         return AtBinding("PreEnqueue");
                       }};
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle* cycle, const berth_nodes* all,
                         berth_pre_filter_out*, berth_status*) noexcept -> berth_code {
                        last_nodes = all;
                        CallAll("PreFilter", cycle);
                        std::thread([cycle] { CallAll("a thread", cycle); }).join();
                        return BERTH_SUCCESS;
                      },
                      nullptr, nullptr};
  parts.filter = {sizeof(berth_filter), 0, nullptr,
                  [](void*, const berth_cycle* cycle, const berth_block* block,
                     berth_filter_out* out, berth_status*) noexcept -> berth_code {
                    CallAll("Filter", cycle);
                    EachSelected(block, [&](uint32_t i) { Reject(out, i, false); });
                    return BERTH_SUCCESS;
                  },
                  nullptr};
  parts.post_filter = {
      sizeof(berth_post_filter), 0,
      [](void*, const berth_cycle* cycle, const berth_nodes*, const berth_verdicts*,
         berth_post_filter_out*, berth_status* status) noexcept -> berth_code {
        CallAll("PostFilter", cycle);
        status->add_reason(status, ToAbi("done"));
        return BERTH_UNSCHEDULABLE;
      }};
  parts.pre_bind = {
      sizeof(berth_pre_bind), 0,
      [](void*, const berth_binding*, berth_status*) noexcept { return AtBinding("PreFlight"); },
      [](void*, const berth_binding*, berth_done, berth_status*) noexcept {
        return AtBinding("PreBind");
      }};
  parts.bind = {sizeof(berth_bind), 0,
                [](void*, const berth_binding*, berth_done, berth_status*) noexcept {
                  return AtBinding("Bind");
                }};
  return parts;
}

// Calls the plugin once at every place.
std::vector<std::string> FindingsAt(const char* place, uint32_t flags) {
  wanted_place = place;
  word_results.clear();
  Parts parts = CallingParts();
  parts.flags = flags;
  const Scenario scenario{.nodes = {MakeNode("a")},
                          .objects = {MakeObject(kKind, "default", "c", "{}")}};
  auto findings = Findings(parts, scenario, [](PluginUnderTest& plugin) {
    plugin.Advance(0);
    plugin.PreEnqueue(MakePod("p"));
    Cycle cycle(&plugin.instance(), &plugin.table(), PodHandle(MakePod("p"), plugin.ids()));
    cycle.PreFilter();
    EvaluateTable(cycle, Step::kFilter);
    Placement placement = plugin.Place(MakePod("p"));
    placement.PostFilter();
    EXPECT_EQ(placement.PreFlight("a"), Success());
    placement.PreBind("a");
    placement.Bind("a");
  });
  wanted_place = nullptr;
  return findings;
}

TEST(Words, EveryServiceRefusesOtherWordsAndPoints) {
  constexpr uint32_t kNone = 0;
  const struct {
    const char* place;
    uint32_t word;
    uint32_t flags;
  } places[] = {
      {"create", kLoad, 0},      {"a post", kEvent, 0},
      {"PreEnqueue", kQueue, 0}, {"PreFilter", kCycle, 0},
      {"PostFilter", kCycle, 0}, {"Filter", kBlock, 0},
      {"PreFlight", kBind, 0},   {"PreFlight", kBind, BERTH_PLUGIN_BLOCKS_IN_BIND},
      {"PreBind", kBind, 0},     {"PreBind", kNone, BERTH_PLUGIN_BLOCKS_IN_BIND},
      {"Bind", kBind, 0},        {"Bind", kNone, BERTH_PLUGIN_BLOCKS_IN_BIND},
      {"a thread", kNone, 0},
  };
  for (const auto& at : places) {
    SCOPED_TRACE(std::string(at.place) + " " + std::to_string(at.flags));
    const std::vector<std::string> findings = FindingsAt(at.place, at.flags);
    ASSERT_EQ(word_results.size(), Functions().size());
    for (size_t i = 0; i < word_results.size(); ++i) {
      const Function& function = Functions()[i];
      SCOPED_TRACE(function.name);
      const bool is_point = function.point == nullptr || std::string(function.point) == at.place;
      const bool is_place = std::string(function.name) == "nodes.place";
      const bool is_any = function.words == kAnyWord;
      const bool allowed = is_any || ((function.words & at.word) != 0 && (is_point || is_place));
      const auto finding = HasSubstr("calls " + std::string(function.name) + " from ");
      if (allowed) {
        EXPECT_THAT(findings, Not(Contains(finding)));
        if (!is_place || is_point) {
          EXPECT_NE(word_results[i], function.refused);
        }
      } else {
        EXPECT_THAT(findings, Contains(finding));
        EXPECT_EQ(word_results[i], function.refused.value_or(0));
      }
    }
  }
}

TEST(Words, ServicesRefuseAnotherCycle) {
  static berth_cycle other;
  static const berth_cycle* first = nullptr;
  static std::vector<int64_t> codes;
  codes.clear();
  Parts parts;
  parts.create = &FindServices;
  parts.pre_filter = {
      sizeof(berth_pre_filter), 0,
      [](void*, const berth_cycle* cycle, const berth_nodes*, berth_pre_filter_out*,
         berth_status*) noexcept -> berth_code {
        uint32_t index = 0;
        for (const berth_cycle* asked : {cycle, first, &std::as_const(other)}) {
          codes.push_back(found.columns->bind(found.host, asked, &kPodsColumn, &index));
          codes.push_back(found.random->next(found.host, asked) != 0);
        }
        return BERTH_SUCCESS;
      },
      nullptr, nullptr};
  parts.post_filter = {sizeof(berth_post_filter), 0,
                       [](void*, const berth_cycle*, const berth_nodes*, const berth_verdicts*,
                          berth_post_filter_out*, berth_status* status) noexcept -> berth_code {
                         const uint32_t row = 0;
                         uint64_t question = 0;
                         codes.push_back(found.whatif->begin(found.host, first, &row, 1,
                                                             BERTH_WHATIF_APART, &question));
                         status->add_reason(status, ToAbi("done"));
                         return BERTH_UNSCHEDULABLE;
                       }};
  const auto findings = FindingsOf(parts, [](PluginUnderTest& plugin) {
    const Cycle kept(&plugin.instance(), &plugin.table(), PodHandle(MakePod("kept"), plugin.ids()));
    first = kept.abi();
    plugin.Place(MakePod("p")).PostFilter();
  });
  EXPECT_THAT(codes,
              ElementsAre(BERTH_SUCCESS, 1, BERTH_CONFLICT, 0, BERTH_CONFLICT, 0, BERTH_CONFLICT));
  EXPECT_THAT(findings, ElementsAre(HasSubstr("calls columns.bind for another cycle than the"),
                                    HasSubstr("calls random.next for another cycle than the"),
                                    HasSubstr("calls whatif.begin for another cycle than the")));
}

TEST(Words, PreFlightReturnsNoPending) {
  Parts parts;
  parts.flags = BERTH_PLUGIN_BLOCKS_IN_BIND;
  parts.pre_bind = {sizeof(berth_pre_bind), 0,
                    [](void*, const berth_binding* binding, berth_status*) noexcept -> berth_code {
                      return binding->pod->priority;
                    },
                    [](void*, const berth_binding*, berth_done,
                       berth_status*) noexcept -> berth_code { return BERTH_SUCCESS; }};
  const auto findings = [&parts](berth_code code) {
    return FindingsOf(parts, [code](PluginUnderTest& plugin) {
      EXPECT_EQ(plugin.Place(MakePod("p").Priority(code)).PreFlight("a").code, code);
    });
  };
  EXPECT_THAT(findings(BERTH_SUCCESS), IsEmpty());
  EXPECT_THAT(findings(BERTH_SKIP), IsEmpty());
  EXPECT_THAT(findings(BERTH_PENDING),
              Contains(HasSubstr("PreBindPreFlight returns Pending, which is not a valid code")));
}

}  // namespace
}  // namespace berth::testing
