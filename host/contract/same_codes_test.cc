// Tests that the services of the test kit and those of the host return the same codes for the same
// calls, and that both have the same names of parts.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/fake_host.h>
#include <berth/testing/parts.h>

#include "host/http/http_client.h"
#include "host/plan/instance_host.h"
#include "host/runtime/reuse/reuse_check.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::berth::testing::PluginUnderTest;
using ::berth::testing::PodHandle;

// The host and the objects that a call uses.
struct Caller {
  const berth_host* host = nullptr;
  const berth_pod* pod = nullptr;
  std::map<std::string_view, const void*> services = {};

  // Called: under [load].
  void FindServices() {
    for (const char* id :
         {BERTH_SERVICE_ACTIVATE, BERTH_SERVICE_API, BERTH_SERVICE_COLUMNS, BERTH_SERVICE_HTTP,
          BERTH_SERVICE_METRICS, BERTH_SERVICE_NODES, BERTH_SERVICE_NOMINATOR,
          BERTH_SERVICE_OBJECTS, BERTH_SERVICE_RANDOM, BERTH_SERVICE_REFS, BERTH_SERVICE_SHARED,
          BERTH_SERVICE_STRINGS, BERTH_SERVICE_TIMER, BERTH_SERVICE_VALUES, BERTH_SERVICE_WAITING,
          BERTH_SERVICE_WHATIF}) {
      EXPECT_EQ(host->get_service(host, id, &services[id]), BERTH_SUCCESS) << id;
    }
  }
  template <class T>
  const T& Get(const char* id) const {
    return *static_cast<const T*>(services.at(id));
  }
};

struct SameCall {
  const char* name;
  int64_t (*call)(const Caller& c);
};

void NoAnswer(void*, const berth_api_result*) noexcept {}
void NoHttpAnswer(void*, const berth_http_result*) noexcept {}
void NoFire(void*) noexcept {}
void NoDestroy(void*) noexcept {}
void OtherDestroy(void*) noexcept { std::abort(); }

// ---- Calls under [load] -------------------------------------------------------------------------

berth_metric MetricNamed(const char* name, const berth_str* label = nullptr) {
  return {sizeof(berth_metric),
          BERTH_METRIC_COUNTER,
          AsStr(name),
          {},
          label,
          label != nullptr ? 1U : 0,
          nullptr,
          0};
}

int64_t Define(const Caller& c, const berth_metric& metric) {
  uint32_t index = 0;
  return c.Get<berth_metrics>(BERTH_SERVICE_METRICS).define(c.host, &metric, &index);
}

int64_t DefineHistogram(const Caller& c, const char* name, std::vector<double> bounds) {
  berth_metric metric = MetricNamed(name);
  metric.kind = BERTH_METRIC_HISTOGRAM;
  metric.buckets = bounds.data();
  metric.n_buckets = bounds.size();
  return Define(c, metric);
}

int64_t StartTimer(const Caller& c, void (*fire)(void*) noexcept) {
  uint64_t timer = 0;
  return c.Get<berth_timer>(BERTH_SERVICE_TIMER).start(c.host, 1, fire, nullptr, &timer);
}

int64_t Watch(const Caller& c, void (*change)(void*, const berth_object_change*) noexcept) {
  return c.Get<berth_objects>(BERTH_SERVICE_OBJECTS)
      .watch(c.host, AsStr("v1/Namespace"), change, nullptr);
}

int64_t FindShared(const Caller& c, const char* key, void (*destroy)(void*) noexcept) {
  void* object = nullptr;
  return c.Get<berth_shared>(BERTH_SERVICE_SHARED).find(c.host, AsStr(key), destroy, &object);
}

int64_t AddShared(const Caller& c, const char* key, bool has_object,
                  void (*destroy)(void*) noexcept) {
  static int object = 0;
  return c.Get<berth_shared>(BERTH_SERVICE_SHARED)
      .add(c.host, AsStr(key), has_object ? &object : nullptr, destroy);
}

int64_t Ask(const Caller& c, void (*change)(berth_http_request& request),
            berth_http_answer answer = NoHttpAnswer) {
  berth_http_request request{};
  request.struct_size = sizeof request;
  request.method = AsStr("GET");
  request.url = AsStr("http://a/");
  change(request);
  return c.Get<berth_http>(BERTH_SERVICE_HTTP).request(c.host, &request, answer, nullptr);
}

constexpr SameCall kLoadCalls[] = {
    {"find no shared object", [](const Caller& c) { return FindShared(c, "k", NoDestroy); }},
    {"share nothing", [](const Caller& c) { return AddShared(c, "k", false, NoDestroy); }},
    {"share without a key", [](const Caller& c) { return AddShared(c, "", true, NoDestroy); }},
    {"share without a function", [](const Caller& c) { return AddShared(c, "k", true, nullptr); }},
    {"share", [](const Caller& c) { return AddShared(c, "k", true, NoDestroy); }},
    {"share again", [](const Caller& c) { return AddShared(c, "k", true, NoDestroy); }},
    {"find a shared object", [](const Caller& c) { return FindShared(c, "k", NoDestroy); }},
    {"find one of another type", [](const Caller& c) { return FindShared(c, "k", OtherDestroy); }},
    {"ask the web", [](const Caller& c) { return Ask(c, [](auto&) {}); }},
    {"get_service of an unknown id",
     [](const Caller& c) -> int64_t {
       const void* service = nullptr;
       return c.host->get_service(c.host, "test.absent/1", &service);
     }},
    {"define", [](const Caller& c) { return Define(c, MetricNamed("a")); }},
    {"define again", [](const Caller& c) { return Define(c, MetricNamed("a")); }},
    {"define a wrong name", [](const Caller& c) { return Define(c, MetricNamed("a b")); }},
    {"define a reserved label",
     [](const Caller& c) {
       const berth_str label = AsStr("profile");
       return Define(c, MetricNamed("b", &label));
     }},
    {"define an unknown kind",
     [](const Caller& c) {
       berth_metric metric = MetricNamed("c");
       metric.kind = 4;
       return Define(c, metric);
     }},
    {"define with a small struct",
     [](const Caller& c) {
       berth_metric metric = MetricNamed("d");
       --metric.struct_size;
       return Define(c, metric);
     }},
    {"define falling bounds",
     [](const Caller& c) {
       return DefineHistogram(c, "e", {2, 1});
     }},
    {"define rising bounds",
     [](const Caller& c) {
       return DefineHistogram(c, "f", {1, 2});
     }},
    {"watch", [](const Caller& c) { return Watch(c, [](void*, const auto*) noexcept {}); }},
    {"watch without a function", [](const Caller& c) { return Watch(c, nullptr); }},
    {"start a timer", [](const Caller& c) { return StartTimer(c, NoFire); }},
    {"start a timer without a function", [](const Caller& c) { return StartTimer(c, nullptr); }},
    {"cancel an unknown timer",
     [](const Caller& c) -> int64_t {
       return c.Get<berth_timer>(BERTH_SERVICE_TIMER).cancel(c.host, 77);
     }},
    {"find a node under another word",
     [](const Caller& c) -> int64_t {
       uint32_t row = 0;
       return c.Get<berth_node_lookup>(BERTH_SERVICE_NODES).find(c.host, AsStr("a"), &row);
     }},
};

// ---- Calls under [event] ------------------------------------------------------------------------

const berth_api& Api(const Caller& c) { return c.Get<berth_api>(BERTH_SERVICE_API); }

int64_t Send(const Caller& c, const char* verb, const char* path, uint32_t flags = 0,
             uint32_t size = sizeof(berth_api_request), berth_api_answer answer = NoAnswer) {
  const berth_api_request request{size, flags, AsStr(verb), AsStr(path), {}, {}, 0};
  return Api(c).request(c.host, &request, answer, nullptr);
}

int64_t Patch(const Caller& c, const char* json, uint32_t flags = 0) {
  const berth_status_patch patch{sizeof patch, flags, c.pod, AsStr(json)};
  return Api(c).patch_status(c.host, &patch, NoAnswer, nullptr);
}

int64_t Evict(const Caller& c, uint32_t flags, berth_api_answer answer) {
  const berth_eviction eviction{sizeof eviction, flags, c.pod, AsStr("room")};
  return Api(c).evict(c.host, &eviction, answer, nullptr);
}

int64_t PutEvent(const Caller& c, const char* type, berth_tagged related, const char* reason = "R",
                 uint32_t flags = 0) {
  const berth_tagged about{BERTH_KIND_POD, 0, c.pod};
  const berth_api_event event{sizeof event, flags,         &about,     &related,
                              AsStr(type),  AsStr(reason), AsStr("A"), AsStr("N")};
  return Api(c).event(c.host, &event);
}

int64_t RejectWaiting(const Caller& c, uint32_t flags, uint32_t size = sizeof(berth_rejection)) {
  const berth_rejection rejection{size, flags, AsStr("unknown"), AsStr("late")};
  return c.Get<berth_waiting>(BERTH_SERVICE_WAITING).reject(c.host, &rejection);
}

constexpr SameCall kApiCalls[] = {
    {"request", [](const Caller& c) { return Send(c, "GET", "/x"); }},
    {"request of an unknown verb", [](const Caller& c) { return Send(c, "HEAD", "/x"); }},
    {"request of a relative path", [](const Caller& c) { return Send(c, "GET", "x"); }},
    {"request with a flag", [](const Caller& c) { return Send(c, "GET", "/x", 1); }},
    {"request with a small struct",
     [](const Caller& c) { return Send(c, "GET", "/x", 0, sizeof(berth_api_request) - 1); }},
    {"request without an answer",
     [](const Caller& c) { return Send(c, "GET", "/x", 0, sizeof(berth_api_request), nullptr); }},
    {"patch", [](const Caller& c) { return Patch(c, "{}"); }},
    {"patch without an object", [](const Caller& c) { return Patch(c, "[]"); }},
    {"patch of no JSON", [](const Caller& c) { return Patch(c, "{"); }},
    {"patch of wrong metadata", [](const Caller& c) { return Patch(c, R"({"metadata":1})"); }},
    {"patch of no metadata", [](const Caller& c) { return Patch(c, R"({"metadata":null})"); }},
    {"patch with a flag", [](const Caller& c) { return Patch(c, "{}", 1); }},
    {"evict", [](const Caller& c) { return Evict(c, 0, NoAnswer); }},
    {"evict with a flag", [](const Caller& c) { return Evict(c, 1, NoAnswer); }},
    {"evict without an answer", [](const Caller& c) { return Evict(c, 0, nullptr); }},
    {"event",
     [](const Caller& c) {
       return PutEvent(c, "Normal", {0, 0, nullptr});
     }},
    {"event of an unknown type", [](const Caller& c) { return PutEvent(c, "normal", {}); }},
    {"event without a reason", [](const Caller& c) { return PutEvent(c, "Normal", {}, ""); }},
    {"event with a flag", [](const Caller& c) { return PutEvent(c, "Normal", {}, "R", 1); }},
    {"event related to a pod",
     [](const Caller& c) {
       return PutEvent(c, "Warning", {BERTH_KIND_POD, 0, c.pod});
     }},
    {"event related to an unknown kind",
     [](const Caller& c) {
       return PutEvent(c, "Normal", {99, 0, c.pod});
     }},
    {"event related to no object",
     [](const Caller& c) {
       return PutEvent(c, "Normal", {99, 0, nullptr});
     }},
    {"bind with an unknown promise",
     [](const Caller& c) -> int64_t {
       const berth_binding binding{};
       return Api(c).bind(c.host, &binding, {c.host, 7});
     }},
};

constexpr SameCall kEventCalls[] = {
    {"define under another word", [](const Caller& c) { return Define(c, MetricNamed("late")); }},
    {"series of an unknown metric",
     [](const Caller& c) -> int64_t {
       uint64_t series = 0;
       return c.Get<berth_metrics>(BERTH_SERVICE_METRICS).series(c.host, 77, nullptr, &series);
     }},
    {"activate",
     [](const Caller& c) -> int64_t {
       const berth_str uid = AsStr("unknown");
       return c.Get<berth_activate>(BERTH_SERVICE_ACTIVATE).activate(c.host, &uid, 1);
     }},
    {"reject a pod that does not wait", [](const Caller& c) { return RejectWaiting(c, 0); }},
    {"reject with a flag", [](const Caller& c) { return RejectWaiting(c, 1); }},
    {"reject with a small struct",
     [](const Caller& c) { return RejectWaiting(c, 0, sizeof(berth_rejection) - 1); }},
    {"allow a pod that does not wait",
     [](const Caller& c) -> int64_t {
       return c.Get<berth_waiting>(BERTH_SERVICE_WAITING).allow(c.host, AsStr("unknown"));
     }},
    {"clear a nomination that does not exist",
     [](const Caller& c) -> int64_t {
       return c.Get<berth_nominator>(BERTH_SERVICE_NOMINATOR).clear(c.host, AsStr("unknown"));
     }},
    {"find an unknown node",
     [](const Caller& c) -> int64_t {
       uint32_t row = 0;
       return c.Get<berth_node_lookup>(BERTH_SERVICE_NODES).find(c.host, AsStr("no"), &row);
     }},
    {"get an object of a kind that is not declared",
     [](const Caller& c) -> int64_t {
       const berth_object* object = nullptr;
       return c.Get<berth_objects>(BERTH_SERVICE_OBJECTS)
           .get(c.host, AsStr("v1/Secret"), AsStr("n"), AsStr("s"), &object);
     }},
    {"list a kind that is not declared",
     [](const Caller& c) -> int64_t {
       const auto each = [](void*, const berth_object*) noexcept { return 1; };
       return c.Get<berth_objects>(BERTH_SERVICE_OBJECTS)
           .list(c.host, AsStr("v1/Secret"), {}, each, nullptr);
     }},
    {"ask whether a kind is served that is not declared",
     [](const Caller& c) -> int64_t {
       return c.Get<berth_objects>(BERTH_SERVICE_OBJECTS).served(c.host, AsStr("v1/Secret"));
     }},
    {"watch under another word",
     [](const Caller& c) { return Watch(c, [](void*, const auto*) noexcept {}); }},
    {"retain a copy",
     [](const Caller& c) -> int64_t {
       const berth_pod copy = *c.pod;
       return c.Get<berth_refs>(BERTH_SERVICE_REFS).retain(c.host, {BERTH_KIND_POD, 0, &copy});
     }},
    {"find a text without an id",
     [](const Caller& c) -> int64_t {
       return c.Get<berth_strings>(BERTH_SERVICE_STRINGS).find(c.host, AsStr("never interned"));
     }},
    {"parse no JSON",
     [](const Caller& c) -> int64_t {
       return c.Get<berth_values>(BERTH_SERVICE_VALUES).parse(c.host, AsStr("[1"), nullptr) !=
              nullptr;
     }},
    {"a random number outside of an attempt",
     [](const Caller& c) -> int64_t {
       return static_cast<int64_t>(c.Get<berth_random>(BERTH_SERVICE_RANDOM).next(c.host, nullptr));
     }},
    {"bind a column outside of an attempt",
     [](const Caller& c) -> int64_t {
       const berth_column_request request{sizeof request, 0, "alloc.pods", BERTH_TYPE_I64, 0};
       uint32_t index = 0;
       return c.Get<berth_columns>(BERTH_SERVICE_COLUMNS).bind(c.host, nullptr, &request, &index);
     }},
    {"begin a question outside of an attempt",
     [](const Caller& c) -> int64_t {
       const uint32_t row = 0;
       uint64_t question = 0;
       return c.Get<berth_whatif>(BERTH_SERVICE_WHATIF)
           .begin(c.host, nullptr, &row, 1, BERTH_WHATIF_APART, &question);
     }},
    {"start a timer", [](const Caller& c) { return StartTimer(c, NoFire); }},
    {"start a timer without a function", [](const Caller& c) { return StartTimer(c, nullptr); }},
    {"find a shared object under another word",
     [](const Caller& c) { return FindShared(c, "k", NoDestroy); }},
    {"share under another word",
     [](const Caller& c) { return AddShared(c, "l", true, NoDestroy); }},
    {"ask the web", [](const Caller& c) { return Ask(c, [](auto&) {}); }},
    {"ask without an answer",
     [](const Caller& c) {
       return Ask(
           c, [](auto&) {}, nullptr);
     }},
    {"ask with an unknown flag",
     [](const Caller& c) { return Ask(c, [](auto& request) { request.flags = 1; }); }},
    {"ask with a small struct",
     [](const Caller& c) { return Ask(c, [](auto& request) { request.struct_size = 8; }); }},
    {"ask another scheme",
     [](const Caller& c) { return Ask(c, [](auto& request) { request.url = AsStr("ftp://a"); }); }},
    {"ask for too long",
     [](const Caller& c) { return Ask(c, [](auto& request) { request.timeout_ns = INT64_MAX; }); }},
    {"hold and release",
     [](const Caller& c) -> int64_t {
       const auto& timer = c.Get<berth_timer>(BERTH_SERVICE_TIMER);
       uint64_t hold = 0;
       const berth_code code = timer.hold(c.host, &hold);
       timer.release(c.host, hold);
       return code;
     }},
    {"post without a function",
     [](const Caller& c) -> int64_t {
       return c.Get<berth_timer>(BERTH_SERVICE_TIMER).post(c.host, nullptr, nullptr);
     }},
};

// ---- The two hosts ------------------------------------------------------------------------------

using Codes = std::vector<std::pair<std::string, int64_t>>;

template <size_t kCount>
void CallEach(const SameCall (&calls)[kCount], const Caller& caller, Codes* codes) {
  for (const SameCall& one : calls) codes->emplace_back(one.name, one.call(caller));
}

// The plugin for the kit, which makes the calls in create() and in a timer.
Caller kit_caller;
Codes kit_codes;

class MakesCalls : public Plugin {
 public:
  static constexpr std::string_view kName = "test.MakesCalls";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Calls services.";
  static constexpr std::array kKinds{"v1/Namespace"};

  explicit MakesCalls(const berth::Host& host) {
    kit_caller = {.host = host.services().host};
    kit_caller.FindServices();
    CallEach(kLoadCalls, kit_caller, &kit_codes);
    uint64_t timer = 0;
    const auto fire = [](void*) noexcept {
      CallEach(kApiCalls, kit_caller, &kit_codes);
      CallEach(kEventCalls, kit_caller, &kit_codes);
    };
    kit_caller.Get<berth_timer>(BERTH_SERVICE_TIMER)
        .start(kit_caller.host, 0, fire, nullptr, &timer);
  }
  berth::Status PreEnqueue(const berth::Pod& /*pod*/) { return berth::Status::Success(); }
};

class SameCodesTest : public ServicesTest {
 protected:
  SameCodesTest() { services_.http = &http_; }
  ~SameCodesTest() override { host_ = nullptr; }  // Before the client that it uses.

  static Codes OfTheKit() {
    kit_codes.clear();
    PluginUnderTest plugin(kEntryOf<MakesCalls>, {.on_failure = [](const std::string&) {}});
    const PodHandle pod(testing::MakePod("p"), plugin.ids());
    kit_caller.pod = pod.get();
    plugin.Advance(0);
    plugin.End();
    return kit_codes;
  }
  Codes OfTheHost() {
    const PodRef pod = test_objects_.Pod({.name = "p"});
    Caller caller{.host = abi(), .pod = &pod->view()};
    Codes codes;
    caller.FindServices();
    CallEach(kLoadCalls, caller, &codes);
    host_->Begin();
    const PluginCall call(*host_, kCallback);
    CallEach(kApiCalls, caller, &codes);
    CallEach(kEventCalls, caller, &codes);
    return codes;
  }

  NoHttpClient http_;
};

TEST_F(SameCodesTest, TheSameCallHasTheSameCode) {
  const Codes of_the_host = OfTheHost();
  const Codes of_the_kit = OfTheKit();
  ASSERT_EQ(of_the_host.size(), of_the_kit.size());
  for (size_t i = 0; i < of_the_host.size(); ++i) {
    EXPECT_EQ(of_the_kit[i].second, of_the_host[i].second) << of_the_host[i].first;
  }
}

TEST(SameNamesTest, PartsOfAPod) {
  for (uint32_t part = 0; part < BERTH_PART_COUNT; ++part) {
    EXPECT_EQ(PartName(part), berth::testing::PartName(static_cast<int>(part)));
  }
}

}  // namespace
}  // namespace berth::host
