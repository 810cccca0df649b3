// The list of services, which of them a host serves, and the services without a test file of their
// own.
#include "host/runtime/services/services.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/status_sink.h"
#include "host/base/text.h"
#include "host/http/http_client.h"
#include "host/plan/instance_host.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The ids of the services that a host serves, and of those that it does not support.
struct Served {
  std::vector<std::string> there;
  std::vector<std::string> unsupported;

  explicit Served(const InstanceHost& host) {
    for (const ServiceInfo& info : Services()) {
      const void* service = nullptr;
      const std::string id(info.id);
      const berth_code code = host.abi()->get_service(host.abi(), id.c_str(), &service);
      EXPECT_EQ(service != nullptr, code == BERTH_SUCCESS) << id;
      EXPECT_TRUE(code == BERTH_SUCCESS || code == BERTH_UNSUPPORTED) << id << " " << code;
      (code == BERTH_SUCCESS ? there : unsupported).push_back(id);
    }
  }
};

// Returns the faults of test.Plugin, as they were logged.
std::vector<std::string> FaultLines(const std::vector<std::string>& lines) {
  std::vector<std::string> faults;
  for (const std::string& line : lines) {
    const size_t at = line.find("exception: ");
    if (at == std::string::npos) continue;
    faults.push_back(WithoutFaultFields(line.substr(at + 11)));
  }
  return faults;
}

// Sends nothing.
struct ClosedClient final : HttpClient {
  std::unique_ptr<HttpSession> Open() override { return nullptr; }
};

TEST_F(ServicesTest, ServesAllIfTheHostHasEverything) {
  ClosedClient http;
  services_.http = &http;
  const Served served(*host_);
  EXPECT_THAT(served.unsupported, IsEmpty());
  EXPECT_THAT(served.there,
              ElementsAre("berth.strings/1", "berth.refs/1", "berth.values/1", "berth.selectors/1",
                          "berth.log/1", "berth.metrics/1", "berth.objects/1", "berth.timer/1",
                          "berth.columns/1", "berth.nodes/1", "berth.random/1", "berth.whatif/1",
                          "berth.nominator/1", "berth.activate/1", "berth.waiting/1",
                          "berth.completion/1", "berth.api/1", "berth.shared/1", "berth.http/1"));
}

TEST_F(ServicesTest, SomeAreUnsupportedWithoutSchedulerOrAClient) {
  HostServices bare(test_objects_.interner(), objects_);
  const InstanceHost host(bare, "test.Plugin", {});
  EXPECT_THAT(Served(host).unsupported,
              ElementsAre("berth.metrics/1", "berth.timer/1", "berth.nodes/1", "berth.nominator/1",
                          "berth.activate/1", "berth.waiting/1", "berth.api/1", "berth.http/1"));
}

TEST_F(ServicesTest, StatesAreInTheOrderOfTheirIndices) {
  std::vector<std::string_view> ids;
  for (const ServiceInfo& service : Services()) {
    if (service.create_state != nullptr) ids.push_back(service.id);
  }
  struct Case {
    ServiceIndex index;
    std::string_view id;
  };
  const Case cases[] = {{ServiceIndex::kStrings, BERTH_SERVICE_STRINGS},
                        {ServiceIndex::kRefs, BERTH_SERVICE_REFS},
                        {ServiceIndex::kValues, BERTH_SERVICE_VALUES},
                        {ServiceIndex::kSelectors, BERTH_SERVICE_SELECTORS},
                        {ServiceIndex::kLog, BERTH_SERVICE_LOG},
                        {ServiceIndex::kMetrics, BERTH_SERVICE_METRICS},
                        {ServiceIndex::kObjects, BERTH_SERVICE_OBJECTS},
                        {ServiceIndex::kTimer, BERTH_SERVICE_TIMER},
                        {ServiceIndex::kWhatIf, BERTH_SERVICE_WHATIF},
                        {ServiceIndex::kApi, BERTH_SERVICE_API},
                        {ServiceIndex::kShared, BERTH_SERVICE_SHARED},
                        {ServiceIndex::kHttp, BERTH_SERVICE_HTTP}};
  ASSERT_EQ(ids.size(), std::size(cases));
  for (const Case& c : cases) EXPECT_EQ(ids[static_cast<size_t>(c.index)], c.id);
}

TEST_F(ServicesTest, AnUnknownIdIsNotFound) {
  const void* service = nullptr;
  EXPECT_EQ(abi()->get_service(abi(), "berth.log/2", &service), BERTH_NOT_FOUND);
  EXPECT_EQ(abi()->get_service(abi(), "", &service), BERTH_NOT_FOUND);
  EXPECT_EQ(service, nullptr);
}

TEST_F(ServicesTest, HostHasNameAndVersion) {
  EXPECT_EQ(Text(abi()->name), "berth");
  EXPECT_EQ(abi()->struct_size, sizeof(berth_host));
  EXPECT_EQ(abi()->hash_key[0], Interner::kFixedKey[0]);
  EXPECT_EQ(abi()->hash_key[1], Interner::kFixedKey[1]);
  EXPECT_EQ(abi()->abi_major, BERTH_ABI_MAJOR);
  EXPECT_EQ(abi()->abi_minor, BERTH_ABI_MINOR);
}

TEST_F(ServicesTest, LogDropsLinesBelowItsLevel) {
  const auto& log = Service<berth_log>(BERTH_SERVICE_LOG);
  EXPECT_EQ(*log.level, uint32_t{BERTH_LOG_INFO});
  const berth_str_pair pairs[] = {{AsStr("node"), AsStr("a")}, {AsStr("free"), AsStr("3")}};
  log.log(abi(), BERTH_LOG_DEBUG, AsStr("dropped"), nullptr, 0);
  log.log(abi(), BERTH_LOG_INFO, AsStr("kept"), pairs, 2);
  services_.log_level = BERTH_LOG_ERROR;
  EXPECT_EQ(*log.level, uint32_t{BERTH_LOG_ERROR});
  log.log(abi(), BERTH_LOG_WARN, AsStr("dropped"), nullptr, 0);
  log.log(abi(), BERTH_LOG_OFF, AsStr("an error"), nullptr, 0);
  services_.log_level = BERTH_LOG_OFF;
  for (const uint32_t level : {uint32_t{BERTH_LOG_ERROR}, uint32_t{BERTH_LOG_OFF}, UINT32_MAX}) {
    log.log(abi(), level, AsStr("dropped"), nullptr, 0);
  }
  EXPECT_THAT(lines_, ElementsAre("2 test.Plugin: kept node=a free=3", "4 test.Plugin: an error"));
}

TEST_F(ServicesTest, ALongFaultIsCut) {
  const std::string what(kMaxReasonBytes + 1, 'x');
  host_->abi()->fault(abi(), AsStr(what));
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(FaultLines(lines_), ElementsAre(::testing::EndsWith(what.substr(4) + "...")));
}

// A text that no object has may be dropped while another thread uses its id.
TEST_F(ServicesTest, OnOtherThreadsFindReturnsNothing) {
  const auto& strings = Service<berth_strings>(BERTH_SERVICE_STRINGS);
  const berth_id id = strings.intern(abi(), AsStr("rack-7"));
  EXPECT_EQ(strings.find(abi(), AsStr("rack-7")), id);
  std::thread([&] {
    EXPECT_EQ(strings.find(abi(), AsStr("rack-7")), kNoId);
    EXPECT_EQ(strings.intern(abi(), AsStr("rack-7")), id);
  }).join();
}

TEST_F(ServicesTest, InternedIdIsValidAsLongAsInstance) {
  const auto& strings = Service<berth_strings>(BERTH_SERVICE_STRINGS);
  EXPECT_EQ(strings.find(abi(), AsStr("rack-7")), kNoId);
  {
    const InstanceHost other(services_, "test.Other", {});
    const berth_id id = strings.intern(other.abi(), AsStr("rack-7"));
    EXPECT_EQ(strings.intern(other.abi(), AsStr("rack-7")), id);
    EXPECT_EQ(strings.intern(abi(), AsStr("rack-7")), id);
    const berth_id gone = strings.intern(other.abi(), AsStr("rack-8"));
    EXPECT_EQ(strings.find(abi(), AsStr("rack-8")), gone);
  }
  test_objects_.interner().Sweep();
  const berth_id id = strings.find(abi(), AsStr("rack-7"));
  EXPECT_NE(id, kNoId);
  EXPECT_EQ(Text(strings.text(abi(), id)), "rack-7");
  EXPECT_EQ(strings.find(abi(), AsStr("rack-8")), kNoId);
}

TEST_F(ServicesTest, HoldsAnIdUntilItsLastRelease) {
  const auto& strings = Service<berth_strings>(BERTH_SERVICE_STRINGS);
  const auto exists = [&] {
    test_objects_.interner().Sweep();
    return strings.find(abi(), AsStr("rack-7")) != kNoId;
  };
  const berth_id id = strings.intern(abi(), AsStr("rack-7"));
  strings.intern(abi(), AsStr("rack-7"));
  strings.release(abi(), id);
  EXPECT_TRUE(exists());
  std::thread([&] { strings.release(abi(), id); }).join();
  EXPECT_FALSE(exists());
  strings.release(abi(), BERTH_ID_NONE);
  EXPECT_THAT(FaultLines(lines_), IsEmpty());
}

TEST_F(ServicesTest, ReleasingAnUnheldIdIsAHarmlessFault) {
  const auto& strings = Service<berth_strings>(BERTH_SERVICE_STRINGS);
  const auto other = Host("test.Other");
  const berth_id id = strings.intern(other->abi(), AsStr("rack-7"));
  strings.release(abi(), id);  // Another instance holds it.
  test_objects_.interner().Sweep();
  EXPECT_EQ(Text(strings.text(other->abi(), id)), "rack-7");
  strings.release(abi(), UINT32_MAX);
  const berth_id own = strings.intern(abi(), AsStr("rack-8"));
  strings.release(abi(), own);
  strings.release(abi(), own);
  EXPECT_EQ(faults_.Counts().size(), 1U);
  EXPECT_EQ(faults_.Counts()[0].plugin, "test.Plugin");
  EXPECT_EQ(faults_.Counts()[0].count, 3U);
  EXPECT_EQ(FaultLines(lines_).front(),
            "released id " + std::to_string(id) + ", which it does not hold");
}

class RefsTest : public ServicesTest {
 protected:
  const berth_refs& refs() { return Service<berth_refs>(BERTH_SERVICE_REFS); }
  berth_code Retain(uint32_t kind, const void* object) {
    return refs().retain(abi(), {kind, 0, object});
  }
  void Release(uint32_t kind, const void* object) { refs().release(abi(), {kind, 0, object}); }
  ObjectRef Namespace() {
    return test_objects_.ObjectFrom(
        R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"red"}})");
  }
};

TEST_F(RefsTest, KeepsObjectsOfEachKindUntilLastRelease) {
  PodRef pod = test_objects_.Pod({.name = "p"});
  NodeRef node = test_objects_.Node({.name = "n"});
  ObjectRef object = Namespace();
  const std::weak_ptr<const void> kept[] = {pod, node, object};
  const berth_tagged tagged[] = {{BERTH_KIND_POD, 0, &pod->view()},
                                 {BERTH_KIND_NODE, 0, &node->view()},
                                 {BERTH_KIND_OBJECT, 0, &object->view()}};
  for (const berth_tagged& one : tagged) {
    EXPECT_EQ(refs().retain(abi(), one), BERTH_SUCCESS);
    std::thread([&] { EXPECT_EQ(refs().retain(abi(), one), BERTH_SUCCESS); }).join();
  }
  pod.reset();
  node.reset();
  object.reset();
  EXPECT_EQ(Text(static_cast<const berth_pod*>(tagged[0].object)->meta->name), "p");
  EXPECT_EQ(Text(static_cast<const berth_node*>(tagged[1].object)->meta->name), "n");
  EXPECT_EQ(Text(static_cast<const berth_object*>(tagged[2].object)->meta->name), "red");
  for (size_t i = 0; i < 3; ++i) {
    refs().release(abi(), tagged[i]);
    EXPECT_FALSE(kept[i].expired()) << i;
    refs().release(abi(), tagged[i]);
    EXPECT_TRUE(kept[i].expired()) << i;
  }
  EXPECT_THAT(FaultLines(lines_), IsEmpty());
}

TEST_F(RefsTest, DerivedPodIsAnObjectOfItsOwn) {
  const PodRef pod = test_objects_.Pod({.name = "p"});
  PodRef derived = WithResourceVersion(pod, "9");
  const std::weak_ptr<const void> kept = derived;
  const berth_pod* view = &derived->view();
  EXPECT_EQ(Retain(BERTH_KIND_POD, view), BERTH_SUCCESS);
  derived.reset();
  EXPECT_EQ(Text(view->meta->resource_version), "9");
  Release(BERTH_KIND_POD, view);
  EXPECT_TRUE(kept.expired());
}

TEST_F(RefsTest, WhatIsNoObjectIsRefused) {
  const PodRef pod = test_objects_.Pod({.name = "p"});
  const NodeRef node = test_objects_.Node({.name = "n"});
  const ObjectRef object = Namespace();
  const berth_pod copy = pod->view();
  const berth_object object_copy = object->view();
  const berth_meta own_meta{};
  berth_node own{};
  own.struct_size = sizeof own;
  own.meta = &own_meta;
  struct Case {
    const char* name;
    uint32_t kind;
    const void* object;
  };
  const Case kTable[] = {
      {"NULL", BERTH_KIND_POD, nullptr},
      {"a copy of a pod", BERTH_KIND_POD, &copy},
      {"a copy of an object", BERTH_KIND_OBJECT, &object_copy},
      {"a node of the plugin", BERTH_KIND_NODE, &own},
      {"a pod as a node", BERTH_KIND_NODE, &pod->view()},
      {"a node as a pod", BERTH_KIND_POD, &node->view()},
      {"an object as a pod", BERTH_KIND_POD, &object->view()},
      {"a pod as an object", BERTH_KIND_OBJECT, &pod->view()},
      {"no kind", 0, &pod->view()},
      {"an unknown kind", 9, &pod->view()},
  };
  for (const Case& c : kTable) EXPECT_EQ(Retain(c.kind, c.object), BERTH_BAD_ARGUMENT) << c.name;
  EXPECT_EQ(pod.use_count(), 1);
  // The kind of a retained object matters too.
  EXPECT_EQ(Retain(BERTH_KIND_POD, &pod->view()), BERTH_SUCCESS);
  EXPECT_EQ(Retain(BERTH_KIND_NODE, &pod->view()), BERTH_BAD_ARGUMENT);
  EXPECT_THAT(FaultLines(lines_), IsEmpty());
}

TEST_F(RefsTest, ReleasingAnUnretainedObjectIsAFault) {
  const PodRef pod = test_objects_.Pod({.name = "p"});
  Release(BERTH_KIND_POD, &pod->view());
  EXPECT_EQ(Retain(BERTH_KIND_POD, &pod->view()), BERTH_SUCCESS);
  Release(BERTH_KIND_NODE, &pod->view());
  Release(BERTH_KIND_POD, nullptr);
  const auto other = Host("test.Other");
  refs().release(other->abi(), {BERTH_KIND_POD, 0, &pod->view()});
  EXPECT_EQ(pod.use_count(), 2) << "none of them released it";
  Release(BERTH_KIND_POD, &pod->view());
  EXPECT_EQ(pod.use_count(), 1);
  EXPECT_EQ(faults_.Counts().size(), 2U);
  EXPECT_EQ(FaultLines(lines_).front(), "released an object that it does not retain");
}

TEST_F(RefsTest, TheEndOfTheInstanceReleasesTheRest) {
  const PodRef pod = test_objects_.Pod({.name = "p"});
  Retain(BERTH_KIND_POD, &pod->view());
  Retain(BERTH_KIND_POD, &pod->view());
  EXPECT_EQ(pod.use_count(), 2);
  host_->Close();
  EXPECT_EQ(pod.use_count(), 2);
  host_->Retire();
  EXPECT_EQ(pod.use_count(), 1);
}

// A thread of the pool was inside the instance when it was closed. That thread, and others of the
// plugin, may use what the instance retained.
TEST_F(RefsTest, AnAbandonedInstanceKeepsItsObjects) {
  PodRef pod = test_objects_.Pod({.name = "p"});
  const std::weak_ptr<const void> kept = pod;
  Retain(BERTH_KIND_POD, &pod->view());
  pod.reset();
  host_->BeginCall();
  host_->Close();
  EXPECT_TRUE(host_->is_busy());
  host_->EndCall();
  host_->Retire(/*is_busy=*/true);
  host_->Retire();
  EXPECT_FALSE(kept.expired());
  // Such a host and what it keeps are never destroyed.
  static const InstanceHost* left_behind = nullptr;
  left_behind = host_.release();
  EXPECT_TRUE(left_behind->is_retired());
}

TEST_F(ServicesTest, AnUnknownIdHasNoText) {
  const auto& strings = Service<berth_strings>(BERTH_SERVICE_STRINGS);
  const berth_id last = strings.intern(abi(), AsStr("the last"));
  EXPECT_EQ(Text(strings.text(abi(), last)), "the last");
  for (const berth_id id : {last + 1, last + 100'000, 0x7fffffffU, UINT32_MAX - 1, UINT32_MAX}) {
    EXPECT_EQ(strings.text(abi(), id).len, 0U) << id;
  }
  EXPECT_EQ(strings.text(abi(), BERTH_ID_NONE).len, 0U);
}

// A function that returns no code reports its fault through berth_host.fault.
TEST_F(ServicesTest, FaultIsCountedAtPointOfTheCall) {
  const auto say = [&] { abi()->fault(abi(), AsStr("index lost")); };
  for (const Point point : {Point::kChanges, Point::kReserve, kLoad}) {
    const PluginCall call(*host_, point);
    say();
  }
  say();
  std::thread(say).join();
  std::vector<std::string> counts;
  for (const PluginFaults::Count& count : faults_.Counts()) {
    counts.push_back(count.plugin + " " + std::string(NameOf(count.point)) + " " +
                     std::string(FaultName(count.kind)) + " " + std::to_string(count.count));
  }
  EXPECT_THAT(counts,
              ElementsAre("test.Plugin Reserve exception 1", "test.Plugin Changes exception 1",
                          "test.Plugin callback exception 2", "test.Plugin load exception 1"));
  EXPECT_EQ(lines_[0],
            "3 test.Plugin: Changes: exception: index lost profile=default-scheduler count=1");
}

void Complete(const berth_completion& completion, berth_done done, berth_code code,
              std::vector<berth_str> reasons) {
  const berth_outcome outcome{sizeof outcome, code, AsArray(std::span(reasons))};
  completion.complete(done, &outcome);
}

TEST_F(ServicesTest, CompletionCountsOnce) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  std::vector<std::string> answers;
  const Promises::Id id = host_->promises()->Open([&](berth_code code, const auto& reasons) {
    answers.push_back(std::to_string(code) + " " + Join(reasons, ", "));
  });
  const berth_done done = {abi(), id};
  Complete(completion, done, BERTH_ERROR, {AsStr("first"), AsStr(""), AsStr("and more")});
  Complete(completion, done, BERTH_SUCCESS, {AsStr("second")});
  EXPECT_THAT(answers, ElementsAre("1 first, and more"));
  EXPECT_THAT(FaultLines(lines_), IsEmpty()) << "the host may have given up before";
}

TEST_F(ServicesTest, OutcomeKeepsAsManyReasonsAsAnAnswer) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  for (const size_t count : {kMaxStatusReasons, kMaxStatusReasons + 2}) {
    std::vector<std::string> kept;
    const Promises::Id id =
        host_->promises()->Open([&](berth_code, const auto& reasons) { kept = reasons; });
    Complete(completion, {abi(), id}, BERTH_ERROR, std::vector<berth_str>(count, AsStr("no")));
    const bool is_cut = count > kMaxStatusReasons;
    EXPECT_EQ(kept.size(), kMaxStatusReasons + (is_cut ? 1 : 0));
    EXPECT_EQ(kept.back(), is_cut ? "and 2 more reasons" : "no");
  }
}

TEST_F(ServicesTest, CompletionOfAnUnknownPromiseIsAFault) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  std::vector<std::string> answers;
  const Promises::Id id = host_->promises()->Open(
      [&](berth_code code, const auto&) { answers.push_back(std::to_string(code)); });
  const auto other = Host("test.Other");
  Complete(completion, {}, BERTH_SUCCESS, {});
  EXPECT_THAT(FaultLines(lines_), IsEmpty()) << "no instance is named";
  Complete(completion, {abi(), 0}, BERTH_SUCCESS, {});
  Complete(completion, {abi(), id + 1}, BERTH_SUCCESS, {});
  Complete(completion, {other->abi(), id}, BERTH_SUCCESS, {});
  EXPECT_THAT(answers, IsEmpty());
  EXPECT_EQ(host_->promises()->open_count(), 1U);
  std::vector<std::string> counts;
  for (const PluginFaults::Count& count : faults_.Counts()) {
    counts.push_back(count.plugin + " " + std::to_string(count.count));
  }
  EXPECT_THAT(counts, ElementsAre("test.Other 1", "test.Plugin 2"));
}

TEST_F(ServicesTest, TooSmallOutcomeCompletesTheCallWithBug) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  std::vector<std::string> answers;
  for (const size_t size : {size_t{0}, offsetof(berth_outcome, reasons), sizeof(berth_outcome) - 1,
                            sizeof(berth_outcome), sizeof(berth_outcome) + 8}) {
    const Promises::Id id = host_->promises()->Open([&](berth_code answer, const auto& reasons) {
      answers.push_back(std::string(CodeName(answer)) + " " + Join(reasons, ", "));
    });
    berth_str reason = AsStr("no disk");
    const berth_outcome outcome{static_cast<uint32_t>(size), BERTH_ERROR,
                                AsArray(std::span(&reason, 1))};
    completion.complete({abi(), id}, &outcome);
  }
  const char* const small = "Bug gave a berth_outcome that is too small";
  EXPECT_THAT(answers, ElementsAre(small, small, small, "Error no disk", "Error no disk"));
}

TEST_F(ServicesTest, CompletionReportsAReasonThatIsNull) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  std::vector<std::string> answers;
  for (const berth_code code : {BERTH_ERROR, BERTH_SUCCESS}) {
    const Promises::Id id = host_->promises()->Open([&](berth_code answer, const auto& reasons) {
      answers.push_back(std::string(CodeName(answer)) + " " + Join(reasons, ", "));
    });
    Complete(completion, {abi(), id}, code, {AsStr("first"), {nullptr, 3}});
  }
  EXPECT_THAT(answers, ElementsAre("Bug first, gave a reason that is NULL",
                                   "Success first, gave a reason that is NULL"));
}

TEST_F(ServicesTest, InvalidReasonsCompleteTheCallWithBug) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  const std::array<berth_str, 3> reasons = {AsStr("a"), AsStr("not seen"), AsStr("b")};
  const struct {
    berth_array reasons;
    const char* answer;
  } kTable[] = {
      {{nullptr, 0, 0}, "Error "},
      {{reasons.data(), 0, 1}, "Error "},
      {{reasons.data(), 1, sizeof(berth_str)}, "Error a"},
      {{reasons.data(), 2, 2 * sizeof(berth_str)}, "Error a, b"},
      {{nullptr, 1, sizeof(berth_str)},
       "Bug gave an array of reasons that is not valid: NULL with count 1"},
      {{reasons.data(), 1, sizeof(berth_str) - 8},
       "Bug gave an array of reasons that is not valid: stride 8"},
      {{reasons.data(), 65'537, sizeof(berth_str)},
       "Bug gave an array of reasons that is not valid: 65537 elements"},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.answer);
    std::string answer;
    const Promises::Id id = host_->promises()->Open([&](berth_code code, const auto& given) {
      answer = std::string(CodeName(code)) + " " + Join(given, ", ");
    });
    const berth_outcome outcome{sizeof outcome, BERTH_ERROR, row.reasons};
    completion.complete({abi(), id}, &outcome);
    EXPECT_EQ(answer, row.answer);
  }
}

}  // namespace
}  // namespace berth::host
