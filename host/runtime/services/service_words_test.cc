// The words of <berth/abi.h>, [load], [cycle] and so on: a service that is called under another
// word than its own does nothing and returns CONFLICT, 0 or NULL.
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/instance_host.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::IsEmpty;

constexpr uint32_t kAnyWord = UINT32_MAX;
constexpr uint32_t kNoWord = 0;

// A call of a service, and the words under which it may be made.
struct WordRow {
  const char* service;
  uint32_t words;
  std::function<berth_code()> call;  // CONFLICT also stands for 0 and NULL.
};

// A function of a plugin that the host calls, and its words.
struct PlaceRow {
  const char* description;
  CalledFunction function;
  uint32_t words;
};

constexpr PlaceRow kPlaces[] = {
    {"no call", {}, kNoWord},
    {"quiesce", {.point = kLoad}, kLoadWord},
    {"a callback", {.point = kCallback}, kEventWord},
    {"a slot", {.point = kCycleState}, kCycleWord},
    {"PreEnqueue", {.point = Point::kPreEnqueue}, kQueueWord},
    {"a hint", {.point = Point::kEnqueueExtensions}, kQueueWord},
    {"QueueSort", {.point = Point::kQueueSort}, kQueueWord},
    {"PreFilter", {.point = Point::kPreFilter}, kCycleWord},
    {"Filter", {.point = Point::kFilter}, kBlockWord},
    {"a whole Filter", {.point = Point::kFilter, .words = kCycleWord}, kCycleWord},
    {"PostFilter", {.point = Point::kPostFilter}, kCycleWord},
    {"PreScore", {.point = Point::kPreScore}, kCycleWord},
    {"Score", {.point = Point::kScore}, kBlockWord},
    {"NormalizeScore", {.point = Point::kScore, .words = kCycleWord}, kCycleWord},
    {"Reserve", {.point = Point::kReserve}, kCycleWord | kEventWord},
    {"Permit", {.point = Point::kPermit}, kCycleWord},
    {"PreBind", {.point = Point::kPreBind}, kBindWord},
    {"Bind", {.point = Point::kBind}, kBindWord},
    {"PostBind", {.point = Point::kPostBind}, kEventWord},
    {"AttemptFailed", {.point = Point::kAttemptFailed}, kEventWord},
    {"Changes", {.point = Point::kChanges}, kCycleWord | kEventWord},
    {"HandOver", {.point = Point::kHandOver}, kLoadWord},
};

class WordsTest : public ServicesTest {
 protected:
  WordsTest() {
    scheduler_.rows["n1"] = 7;
    objects_.Set(test_objects_.ObjectFrom(
        R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"red","uid":"uid-red"}})"));
  }

  static int32_t EachPod(void*, const berth_pod*) noexcept { return 1; }
  static int32_t EachNominated(void*, const berth_pod*, berth_str) noexcept { return 1; }
  static int32_t EachObject(void*, const berth_object*) noexcept { return 1; }
  static void Changed(void*, const berth_object_change*) noexcept {}
  static void Fire(void*) noexcept {}
  static void Run(void*, berth_code) noexcept {}
  static void Answer(void*, const berth_api_result*) noexcept {}
  static berth_code AsCode(bool is_there) { return is_there ? BERTH_SUCCESS : BERTH_CONFLICT; }

  // Appends the services that concern the scheduler.
  void AddScheduling(std::vector<WordRow>& rows) {
    constexpr uint32_t kLook = kEventWord | kQueueWord | kCycleWord;
    const auto* nodes = &Service<berth_node_lookup>(BERTH_SERVICE_NODES);
    const auto* nominator = &Service<berth_nominator>(BERTH_SERVICE_NOMINATOR);
    const auto* activate = &Service<berth_activate>(BERTH_SERVICE_ACTIVATE);
    const auto* waiting = &Service<berth_waiting>(BERTH_SERVICE_WAITING);
    const std::vector<WordRow> more = {
        {"nodes.find", kLook, [=, this] { return nodes->find(abi(), AsStr("n1"), &number_); }},
        {"nodes.place", kCycleWord,
         [=, this] { return nodes->place(abi(), &no_nodes_, 0, &number_, &number_); }},
        {"nominator.list", kLook,
         [=, this] { return nominator->list(abi(), AsStr("n1"), EachPod, nullptr); }},
        {"nominator.clear", kLook, [=, this] { return nominator->clear(abi(), AsStr("uid")); }},
        {"nominator.each", kLook,
         [=, this] { return nominator->each(abi(), EachNominated, nullptr); }},
        {"activate.activate", kLook | kBindWord,
         [=, this] { return activate->activate(abi(), nullptr, 0); }},
        {"waiting.each", kLook | kBindWord,
         [=, this] { return waiting->each(abi(), EachPod, nullptr); }},
        {"waiting.allow", kLook | kBindWord,
         [=, this] { return waiting->allow(abi(), AsStr("uid")); }},
        {"waiting.reject", kLook | kBindWord,
         [=, this] { return waiting->reject(abi(), &rejection_); }},
    };
    rows.insert(rows.end(), more.begin(), more.end());
  }

  // Appends the services that need a cycle, with a cycle that is not that of the call.
  void AddOfCycles(std::vector<WordRow>& rows) {
    const auto* columns = &Service<berth_columns>(BERTH_SERVICE_COLUMNS);
    const auto* what_if = &Service<berth_whatif>(BERTH_SERVICE_WHATIF);
    const std::vector<WordRow> more = {
        {"columns.bind", kNoWord,
         [=, this] { return columns->bind(abi(), &cycle_, &column_, &number_); }},
        {"whatif.begin", kNoWord,
         [=, this] {
           return what_if->begin(abi(), &cycle_, &number_, 1, BERTH_WHATIF_APART, &large_);
         }},
        {"whatif.remove_pod", kNoWord,
         [=, this] { return what_if->remove_pod(abi(), 1, 0, &pod_, nullptr); }},
        {"whatif.add_pod", kNoWord,
         [=, this] { return what_if->add_pod(abi(), 1, 0, &pod_, nullptr); }},
        {"whatif.run_filters", kNoWord,
         [=, this] { return what_if->run_filters(abi(), 1, &run_, nullptr); }},
        {"whatif.pod_filters", kNoWord,
         [=, this] {
           const auto each = [](void*, berth_str) noexcept { return 1; };
           return what_if->pod_filters(abi(), &cycle_, each, nullptr);
         }},
        {"whatif.reasons", kNoWord, [=, this] { return what_if->reasons(abi(), 1, 0, nullptr); }},
    };
    rows.insert(rows.end(), more.begin(), more.end());
  }

  // Appends the services that concern objects, timers and metrics.
  void AddOthers(std::vector<WordRow>& rows) {
    constexpr uint32_t kLook = kEventWord | kQueueWord | kCycleWord | kBindWord;
    const auto* objects = &Service<berth_objects>(BERTH_SERVICE_OBJECTS);
    const auto* timer = &Service<berth_timer>(BERTH_SERVICE_TIMER);
    const auto* metrics = &Service<berth_metrics>(BERTH_SERVICE_METRICS);
    const berth_str kind = AsStr("v1/Namespace");
    const berth_str other = AsStr("v1/Secret");  // The plugin did not declare it.
    const std::vector<WordRow> more = {
        {"get_service", kLoadWord,
         [=, this] {
           const void* service = nullptr;
           const berth_code code = abi()->get_service(abi(), BERTH_SERVICE_LOG, &service);
           EXPECT_EQ(service != nullptr, code == BERTH_SUCCESS);
           return code;
         }},
        {"get_service of an unknown id", kLoadWord,
         [=, this] {
           const void* service = nullptr;
           return abi()->get_service(abi(), "berth.log/2", &service);
         }},
        {"objects.get", kLook,
         [=, this] {
           const berth_object* object = nullptr;
           return objects->get(abi(), kind, AsStr(""), AsStr("red"), &object);
         }},
        {"objects.list", kLook,
         [=, this] { return objects->list(abi(), kind, AsStr(""), EachObject, nullptr); }},
        {"objects.list of another kind", kLook,
         [=, this] { return objects->list(abi(), other, AsStr(""), EachObject, nullptr); }},
        {"objects.served", kLook, [=, this] { return objects->served(abi(), kind); }},
        {"objects.served of another kind", kLook,
         [=, this] { return objects->served(abi(), other); }},
        {"objects.watch", kLoadWord,
         [=, this] { return objects->watch(abi(), kind, Changed, nullptr); }},
        {"objects.watch of another kind", kLoadWord,
         [=, this] { return objects->watch(abi(), other, Changed, nullptr); }},
        {"objects.watch without a function", kLoadWord,
         [=, this] { return objects->watch(abi(), kind, nullptr, nullptr); }},
        {"timer.start", kLook | kLoadWord,
         [=, this] { return timer->start(abi(), 0, Fire, nullptr, &large_); }},
        {"timer.start without a function", kLook | kLoadWord,
         [=, this] { return timer->start(abi(), 0, nullptr, nullptr, &large_); }},
        {"timer.cancel", kLook | kLoadWord, [=, this] { return timer->cancel(abi(), 1); }},
        {"timer.now_ns", kAnyWord, [=, this] { return AsCode(timer->now_ns(abi()) != 0); }},
        {"timer.wall_ns", kAnyWord, [=, this] { return AsCode(timer->wall_ns(abi()) != 0); }},
        {"timer.post", kAnyWord, [=, this] { return timer->post(abi(), Run, nullptr); }},
        {"timer.hold", kAnyWord, [=, this] { return timer->hold(abi(), &large_); }},
        {"metrics.define", kLoadWord,
         [=, this] {
           berth_metric metric{};
           metric.struct_size = sizeof metric;
           metric.kind = BERTH_METRIC_COUNTER;
           const std::string name = "metric_" + std::to_string(++defined_);
           metric.name = AsStr(name);
           return metrics->define(abi(), &metric, &number_);
         }},
        {"metrics.series", kAnyWord,
         [=, this] { return metrics->series(abi(), UINT32_MAX, nullptr, &large_); }},
    };
    rows.insert(rows.end(), more.begin(), more.end());
  }

  // Appends the services that are marked [any].
  void AddForAny(std::vector<WordRow>& rows) {
    const auto* strings = &Service<berth_strings>(BERTH_SERVICE_STRINGS);
    const auto* refs = &Service<berth_refs>(BERTH_SERVICE_REFS);
    const auto* values = &Service<berth_values>(BERTH_SERVICE_VALUES);
    const auto* selectors = &Service<berth_selectors>(BERTH_SERVICE_SELECTORS);
    const auto* api = &Service<berth_api>(BERTH_SERVICE_API);
    const std::vector<WordRow> more = {
        {"strings.intern", kAnyWord,
         [=, this] { return AsCode(strings->intern(abi(), AsStr("rack")) != BERTH_ID_NONE); }},
        {"refs.retain", kAnyWord,
         [=, this] {
           return refs->retain(abi(), {BERTH_KIND_POD, 0, &pod_});
         }},
        {"values.parse", kAnyWord,
         [=, this] { return AsCode(values->parse(abi(), AsStr("1"), nullptr) != nullptr); }},
        {"selectors.from_text", kAnyWord,
         [=, this] {
           const berth_selector* selector = nullptr;
           return selectors->from_text(abi(), AsStr("app=web"), &selector, nullptr);
         }},
        {"api.request", kAnyWord,
         [=, this] {
           berth_api_request request{};
           request.struct_size = sizeof request;
           request.verb = AsStr("GET");
           request.path = AsStr("/x");
           return api->request(abi(), &request, Answer, nullptr);
         }},
    };
    rows.insert(rows.end(), more.begin(), more.end());
  }

  std::vector<WordRow> AllRows() {
    std::vector<WordRow> rows;
    AddScheduling(rows);
    AddOfCycles(rows);
    AddOthers(rows);
    AddForAny(rows);
    return rows;
  }
  static bool May(const WordRow& row, uint32_t words) {
    return row.words == kAnyWord || (row.words & words) != 0;
  }
  // Expects CONFLICT from every service that may not be called under `words`, and no CONFLICT from
  // the others.
  void ExpectUnder(uint32_t words) {
    for (const WordRow& row : AllRows()) {
      const bool may = May(row, words);
      EXPECT_EQ(row.call() != BERTH_CONFLICT, may) << row.service;
    }
  }

  const berth_rejection rejection_{sizeof(berth_rejection), 0, AsStr("uid"), AsStr("why")};
  const berth_column_request column_{sizeof(berth_column_request), 0, "alloc.cpu", BERTH_TYPE_I64,
                                     0};
  const berth_whatif_run run_{sizeof(berth_whatif_run), 0, nullptr, 0, nullptr};
  uint32_t number_ = 0;
  uint64_t large_ = 0;
  int defined_ = 0;
  const berth_cycle cycle_{};
  const berth_nodes no_nodes_{};
  const berth_pod pod_{};
};

TEST_F(WordsTest, InCreate) {
  ExpectUnder(kLoadWord);
  const PluginCall call(*host_, kLoad);
  ExpectUnder(kLoadWord);
}

TEST_F(WordsTest, AtEveryPoint) {
  host_->Begin();
  for (const PlaceRow& place : kPlaces) {
    SCOPED_TRACE(place.description);
    const PluginCall call(*host_, place.function);
    ExpectUnder(place.words);
  }
  ExpectUnder(kNoWord);
}

TEST_F(WordsTest, AtThePointOfTheInnermostCall) {
  host_->Begin();
  const PluginCall outer(*host_, Point::kPostFilter);
  {
    const PluginCall inner(*host_, Point::kFilter);
    ExpectUnder(kBlockWord);
  }
  ExpectUnder(kCycleWord);
}

TEST_F(WordsTest, OnAnotherThread) {
  host_->Begin();
  for (const Point point : {kCallback, kLoad, Point::kPreFilter, Point::kBind}) {
    const PluginCall call(*host_, point);
    std::thread([this] { ExpectUnder(kNoWord); }).join();
  }
}

// A refused call does nothing.
TEST_F(WordsTest, ARefusedCallDoesNothing) {
  host_->Begin();
  scheduler_.nominations().Add(test_objects_.Pod({.name = "p"}), "n1");
  const PluginCall call(*host_, Point::kFilter);
  ExpectUnder(kBlockWord);
  EXPECT_THAT(scheduler_.asked, IsEmpty());
  EXPECT_FALSE(scheduler_.nominations().empty());
  EXPECT_FALSE(timers_.NextNs().has_value());
  EXPECT_FALSE(host_->rejection() != nullptr);
}

// While the instance ends, quiesce() and destroy() may still call services.
TEST_F(WordsTest, AnInstanceThatEndsTakesNoNewCallbacks) {
  const auto& timer = Service<berth_timer>(BERTH_SERVICE_TIMER);
  const auto& objects = Service<berth_objects>(BERTH_SERVICE_OBJECTS);
  const auto start = [&](void (*fire)(void*) noexcept) {
    return timer.start(abi(), 0, fire, nullptr, &large_);
  };
  const auto watch = [&] { return objects.watch(abi(), AsStr("v1/Namespace"), Changed, nullptr); };
  EXPECT_EQ(start(Fire), BERTH_SUCCESS);
  EXPECT_EQ(start(nullptr), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(watch(), BERTH_SUCCESS);
  host_->Begin();
  host_->Close();
  const PluginCall call(*host_, kLoad);
  EXPECT_EQ(start(Fire), BERTH_CANCELLED);
  EXPECT_EQ(start(nullptr), BERTH_CANCELLED);
  EXPECT_EQ(watch(), BERTH_CANCELLED);
}

// The words count until the instance is destroyed. Metrics are defined in create() only.
TEST_F(WordsTest, EndingInstanceMayCallItsWordsServices) {
  const auto is_refused = [](const WordRow& row) {
    const berth_code code = row.call();
    return code == BERTH_CONFLICT || code == BERTH_CANCELLED;
  };
  const std::set<std::string> no_more = {"metrics.define",
                                         "objects.watch",
                                         "objects.watch of another kind",
                                         "objects.watch without a function",
                                         "timer.start",
                                         "timer.start without a function",
                                         "timer.post",
                                         "timer.hold",
                                         "api.request"};
  host_->Begin();
  host_->Close();
  const auto rows = AllRows();
  for (const PlaceRow& place : kPlaces) {
    SCOPED_TRACE(place.description);
    const PluginCall call(*host_, place.function);
    for (const WordRow& row : rows) {
      const bool may = May(row, place.words) && !no_more.contains(row.service);
      EXPECT_EQ(is_refused(row), !may) << row.service;
    }
  }
  host_->Retire();
  for (const WordRow& row : rows) EXPECT_TRUE(is_refused(row)) << row.service;
}

}  // namespace
}  // namespace berth::host
