// The service berth.api/1.
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/runtime/plugin_call.h"
#include "host/runtime/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A cluster that keeps requests until the test answers them.
class ApiServiceTest : public ServicesTest {
 protected:
  ApiServiceTest()
      : served_({.clock = clock_, .max_events = 10, .serve = [this](const ApiRequest& request) {
                   requests_.push_back(request);
                   return reply_;
                 }}) {
    services_.client = &served_;
    host_->Begin();
    Result<AnyObject> created = served_.Create(test_objects_.Pod({.name = "p"}));
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    pod_ = std::get<PodRef>(*created);
  }

  const berth_api& service() { return Service<berth_api>(BERTH_SERVICE_API); }
  static void Note(void* to, berth_code code, berth_str body) {
    auto& test = *static_cast<ApiServiceTest*>(to);
    test.answers_.push_back(std::to_string(code) + " " + std::string(Text(body)));
    test.at_ = test.host_->point();
  }
  berth_code Request(const char* verb = "GET", const char* path = "/x", int64_t timeout_ns = 0) {
    return service().request(abi(), AsStr(verb), AsStr(path), AsStr("{}"), timeout_ns, Note, this);
  }
  void RunServed() {
    while (served_.Deliver() + inbox_.Drain() + timers_.RunDue(clock_.NowNs()) > 0) {
    }
  }

  std::vector<ApiRequest> requests_;
  Result<std::string> reply_ = std::string("body");
  EmbeddedCluster served_;
  PodRef pod_;
  std::vector<std::string> answers_;
  Point at_ = kNoCall;
};

// ---- Answers ------------------------------------------------------------------------------------

TEST_F(ApiServiceTest, AnswersOnceAndNotWithinTheCall) {
  EXPECT_EQ(Request(), BERTH_SUCCESS);
  EXPECT_THAT(answers_, IsEmpty());
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 body"));
  EXPECT_EQ(at_, kCallback);
  RunServed();
  EXPECT_EQ(answers_.size(), 1U);
  EXPECT_EQ(host_->api_calls().open_count(), 0U);
}

TEST_F(ApiServiceTest, MapsErrorsToCodesOfTheBoundary) {
  const std::pair<ErrorCode, berth_code> kTable[] = {
      {ErrorCode::kNotFound, BERTH_NOT_FOUND},
      {ErrorCode::kConflict, BERTH_CONFLICT},
      {ErrorCode::kAlreadyExists, BERTH_CONFLICT},
      {ErrorCode::kInvalidArgument, BERTH_BAD_ARGUMENT},
      {ErrorCode::kUnsupported, BERTH_BAD_ARGUMENT},
      {ErrorCode::kOutOfRange, BERTH_BAD_ARGUMENT},
      {ErrorCode::kPermissionDenied, BERTH_ERROR},
      {ErrorCode::kUnavailable, BERTH_ERROR},
      {ErrorCode::kInternal, BERTH_ERROR},
  };
  for (const auto& [error, code] : kTable) {
    answers_.clear();
    reply_ = Status(error, "why");
    Request();
    RunServed();
    EXPECT_THAT(answers_, ElementsAre(std::to_string(code) + " why")) << ErrorCodeName(error);
  }
}

TEST_F(ApiServiceTest, ATimedOutRequestIsCancelledAndIgnoresItsLateAnswer) {
  Request("GET", "/x", 5 * kSecond);
  clock_.Advance(5 * kSecond - 1);
  timers_.RunDue(clock_.NowNs());
  EXPECT_THAT(answers_, IsEmpty());
  clock_.Advance(1);
  timers_.RunDue(clock_.NowNs());
  EXPECT_THAT(answers_, ElementsAre("32 no answer within 5s"));
  RunServed();
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(ApiServiceTest, AnAnswerInTimeEndsTheTimer) {
  Request("GET", "/x", 5 * kSecond);
  EXPECT_EQ(timers_.size(), 1U);
  RunServed();
  EXPECT_EQ(timers_.size(), 0U);
  Request("GET", "/x", INT64_MAX);
  EXPECT_EQ(timers_.size(), 0U);
}

TEST_F(ApiServiceTest, CloseCancelsOpenRequests) {
  Request();
  Request();
  host_->Close();
  EXPECT_THAT(answers_,
              ElementsAre("32 the plugin's instance ends", "32 the plugin's instance ends"));
  RunServed();
  EXPECT_EQ(answers_.size(), 2U);
  EXPECT_EQ(Request(), BERTH_CANCELLED);
  const berth_tagged pod{BERTH_KIND_POD, 0, &pod_->view()};
  const berth_str text = AsStr("Normal");
  EXPECT_EQ(service().event(abi(), &pod, nullptr, text, text, text, text), BERTH_CANCELLED);
}

TEST_F(ApiServiceTest, AnInstanceThatWasNeverClosedGetsNoAnswer) {
  Request("GET", "/x", kSecond);
  host_.reset();
  EXPECT_EQ(timers_.size(), 0U);
  RunServed();
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(ApiServiceTest, RequestsOfOtherThreadsRunOnTheSchedulingThread) {
  std::thread([&] { EXPECT_EQ(Request(), BERTH_SUCCESS); }).join();
  EXPECT_THAT(requests_, IsEmpty());
  RunServed();
  EXPECT_EQ(requests_.size(), 1U);
  EXPECT_THAT(answers_, ElementsAre("0 body"));
}

// ---- request ------------------------------------------------------------------------------------

TEST_F(ApiServiceTest, PassesARequestToTheClient) {
  service().request(abi(), AsStr("PATCH"), AsStr("/api/v1/x?y=z"), AsStr("{\"a\":1}"), kSecond,
                    Note, this);
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].verb, "PATCH");
  EXPECT_EQ(requests_[0].path, "/api/v1/x?y=z");
  EXPECT_EQ(requests_[0].body, "{\"a\":1}");
  EXPECT_EQ(requests_[0].timeout_ns, kSecond);
  EXPECT_EQ(requests_[0].patch, PatchKind::kMerge);
}

TEST_F(ApiServiceTest, RefusesAnInvalidRequest) {
  for (const char* verb : {"", "get", "HEAD", "OPTIONS"}) {
    EXPECT_EQ(Request(verb), BERTH_BAD_ARGUMENT) << verb;
  }
  EXPECT_EQ(Request("GET", ""), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Request("GET", "api"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(service().request(abi(), AsStr("GET"), AsStr("/x"), AsStr(""), 0, nullptr, nullptr),
            BERTH_BAD_ARGUMENT);
  for (const char* verb : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    EXPECT_EQ(Request(verb), BERTH_SUCCESS) << verb;
  }
}

// ---- bind ---------------------------------------------------------------------------------------

class BindServiceTest : public ApiServiceTest {
 protected:
  BindServiceTest() {
    binding_.struct_size = sizeof(binding_);
    binding_.pod = &pod_->view();
    binding_.node_name = AsStr("n1");
  }
  berth_done* Done(Promises::Kind kind = Promises::Kind::kBind) {
    return host_->promises().Open(
        [this](berth_code code, std::string_view reason) {
          answers_.push_back(std::to_string(code) + " " + std::string(reason));
        },
        kind);
  }

  berth_binding binding_{};
};

TEST_F(BindServiceTest, CompletesThePromiseWithTheResult) {
  EXPECT_EQ(service().bind(abi(), &binding_, Done()), BERTH_PENDING);
  EXPECT_THAT(answers_, IsEmpty());
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 "));
  EXPECT_EQ(served_.FindPod("default", "p")->node_name(), "n1");
  service().bind(abi(), &binding_, Done());
  RunServed();
  EXPECT_THAT(answers_.back(), HasSubstr("1 Operation cannot be fulfilled"));
}

// PreBind has promises too, and a plugin may keep a promise of Bind too long.
TEST_F(BindServiceTest, AcceptsOnlyAnOpenPromiseOfBind) {
  berth_done* pre_bind = Done(Promises::Kind::kOther);
  berth_done* ended = Done();
  host_->promises().Close(ended);
  for (berth_done* done : {pre_bind, ended, static_cast<berth_done*>(nullptr)}) {
    EXPECT_EQ(service().bind(abi(), &binding_, done), BERTH_CONFLICT);
    std::thread([&] { EXPECT_EQ(service().bind(abi(), &binding_, done), BERTH_CONFLICT); }).join();
  }
  RunServed();
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_EQ(served_.FindPod("default", "p")->node_name(), "");
  const PluginCall call(*host_, Point::kBind);
  EXPECT_EQ(service().bind(abi(), &binding_, Done()), BERTH_PENDING);
}

TEST_F(BindServiceTest, BindsOnTheSchedulingThreadWhenCalledFromAPool) {
  berth_done* done = Done();
  std::thread([&] { EXPECT_EQ(service().bind(abi(), &binding_, done), BERTH_PENDING); }).join();
  EXPECT_EQ(served_.FindPod("default", "p")->node_name(), "");
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 "));
}

// ---- patch_status -------------------------------------------------------------------------------

TEST_F(ApiServiceTest, AStatusPatchHasTheUidOfThePod) {
  const berth_str patch = AsStr(R"({"status":{"nominatedNodeName":"n1"}})");
  EXPECT_EQ(service().patch_status(abi(), &pod_->view(), patch, Note, this), BERTH_SUCCESS);
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].verb, "PATCH");
  EXPECT_EQ(requests_[0].path, "/api/v1/namespaces/default/pods/p/status");
  EXPECT_EQ(requests_[0].patch, PatchKind::kStrategicMerge);
  EXPECT_EQ(requests_[0].body,
            R"({"status":{"nominatedNodeName":"n1"},"metadata":{"uid":"uid-p"}})");
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 body"));
}

TEST_F(ApiServiceTest, RefusesAnInvalidPatch) {
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[');
  const std::string deep_and_whole = deep + std::string(1'000'000, ']') + "}";
  const std::string large = R"({"a":")" + std::string(size_t{4} << 20, 'x') + R"("})";
  for (const std::string& patch :
       {std::string(), std::string("{"), std::string("[]"), std::string("1"), std::string("null"),
        std::string(R"({"metadata":1})"), std::string(R"({"metadata":"x"})"),
        std::string(R"({"metadata":[]})"), std::string("{\"a\":\"\xff\"}"), deep, deep_and_whole,
        large}) {
    EXPECT_EQ(service().patch_status(abi(), &pod_->view(), AsStr(patch), Note, this),
              BERTH_BAD_ARGUMENT)
        << patch.substr(0, 20);
  }
  EXPECT_THAT(requests_, IsEmpty());
  for (const char* patch : {"{}", R"({"metadata":null})", R"({"metadata":{"uid":7}})"}) {
    service().patch_status(abi(), &pod_->view(), AsStr(patch), Note, this);
    EXPECT_EQ(requests_.back().body, R"({"metadata":{"uid":"uid-p"}})") << patch;
  }
}

// ---- evict --------------------------------------------------------------------------------------

TEST_F(ApiServiceTest, PassesAnEvictionToTheScheduler) {
  EXPECT_EQ(service().evict(abi(), &pod_->view(), AsStr("make room"), Note, this), BERTH_SUCCESS);
  EXPECT_THAT(scheduler_.asked, ElementsAre("evict default/p uid-p: make room"));
  EXPECT_THAT(answers_, IsEmpty());  // Although the scheduler answered at once.
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 "));
}

TEST_F(ApiServiceTest, EvictingAPodThatIsGoneSucceeds) {
  scheduler_.evicted = Status::NotFound("gone");
  service().evict(abi(), &pod_->view(), AsStr(""), Note, this);
  RunServed();
  scheduler_.evicted = Status::Unavailable("away");
  service().evict(abi(), &pod_->view(), AsStr(""), Note, this);
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 ", "1 away"));
}

// ---- event --------------------------------------------------------------------------------------

class EventServiceTest : public ApiServiceTest {
 protected:
  berth_code Put(const berth_tagged* regarding, const char* type = "Normal",
                 const char* reason = "Preempted", const char* action = "Preempting",
                 const std::string& note = "a note", const berth_tagged* related = nullptr) {
    return service().event(abi(), regarding, related, AsStr(type), AsStr(reason), AsStr(action),
                           AsStr(note));
  }
  berth_tagged pod_tag() const { return {BERTH_KIND_POD, 0, &pod_->view()}; }
};

TEST_F(EventServiceTest, HasReporterAndObjects) {
  const NodeRef node = test_objects_.Node({.name = "n1"});
  const ObjectRef claim = test_objects_.ObjectFrom(
      R"({"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"c"}})");
  const berth_tagged pod = pod_tag();
  const berth_tagged node_tag{BERTH_KIND_NODE, 0, &node->view()};
  const berth_tagged object_tag{BERTH_KIND_OBJECT, 0, &claim->view()};
  EXPECT_EQ(Put(&pod, "Normal", "R", "A", "N", &node_tag), BERTH_SUCCESS);
  EXPECT_EQ(Put(&object_tag, "Warning"), BERTH_SUCCESS);
  ASSERT_EQ(served_.events().size(), 2U);
  const Event& event = served_.events()[0];
  EXPECT_EQ(event.type + event.reason + event.action + event.note, "NormalRAN");
  EXPECT_EQ(event.regarding.api_version, "v1");
  EXPECT_EQ(event.regarding.kind, "Pod");
  EXPECT_EQ(event.regarding.ns, "default");
  EXPECT_EQ(event.regarding.name, "p");
  EXPECT_EQ(event.regarding.uid, "uid-p");
  EXPECT_EQ(event.related->kind, "Node");
  EXPECT_EQ(event.related->name, "n1");
  EXPECT_EQ(event.reporting_controller, "default-scheduler");
  EXPECT_EQ(event.time_ns, clock_.NowNs());
  EXPECT_EQ(served_.events()[1].regarding.api_version, "storage.k8s.io/v1");
  EXPECT_EQ(served_.events()[1].regarding.kind, "CSINode");
  EXPECT_FALSE(served_.events()[1].related.has_value());
}

TEST_F(EventServiceTest, RefusesAnInvalidEvent) {
  const berth_tagged pod = pod_tag();
  const berth_tagged nothing{};
  EXPECT_EQ(Put(&nothing), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(nullptr), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(&pod, "normal"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(&pod, "Normal", ""), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(&pod, "Normal", "R", ""), BERTH_BAD_ARGUMENT);
  EXPECT_THAT(served_.events(), IsEmpty());
}

TEST_F(EventServiceTest, CutsOffALongNote) {
  const berth_tagged pod = pod_tag();
  Put(&pod, "Normal", "R", "A", std::string(1024, 'x'));
  Put(&pod, "Normal", "R", "A", std::string(1025, 'x'));
  ASSERT_EQ(served_.events().size(), 2U);
  EXPECT_EQ(served_.events()[0].note, std::string(1024, 'x'));
  EXPECT_EQ(served_.events()[1].note, std::string(1020, 'x') + " ...");
}

TEST_F(EventServiceTest, ALongNoteIsNotCutWithinACharacter) {
  const berth_tagged pod = pod_tag();
  Put(&pod, "Normal", "R", "A", std::string(1019, 'x') + "\xc3\xa4" + std::string(10, 'y'));
  ASSERT_EQ(served_.events().size(), 1U);
  EXPECT_EQ(served_.events()[0].note, std::string(1019, 'x') + " ...");
}

}  // namespace
}  // namespace berth::host
