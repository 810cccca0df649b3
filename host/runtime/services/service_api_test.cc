// The service berth.api/1, except events.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/cluster/json_body.h"
#include "host/plan/instance_host.h"
#include "host/runtime/services/services.h"
#include "host/runtime/services/test_services.h"

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
  // Records the code with the body of a success, or the error text.
  static void Note(void* to, const berth_api_result* result) noexcept {
    auto& test = *static_cast<ApiServiceTest*>(to);
    EXPECT_EQ(result->struct_size, sizeof(berth_api_result));
    EXPECT_EQ(result->error.len == 0, result->code == BERTH_SUCCESS);
    const berth_str text = result->code == BERTH_SUCCESS ? result->body : result->error;
    test.answers_.push_back(std::to_string(result->code) + " " + std::string(Text(text)));
    test.at_ = test.host_->point();
  }
  berth_code Request(const char* verb = "GET", const char* path = "/x", int64_t timeout_ns = 0,
                     berth_api_answer answer = Note) {
    berth_api_request request{};
    request.struct_size = sizeof request;
    request.verb = AsStr(verb);
    request.path = AsStr(path);
    request.body = AsStr("{}");
    request.timeout_ns = timeout_ns;
    return service().request(abi(), &request, answer, this);
  }
  berth_code Evict(const char* message) {
    const berth_eviction eviction{sizeof eviction, 0, &pod_->view(), AsStr(message)};
    return service().evict(abi(), &eviction, Note, this);
  }
  berth_code PatchStatus(std::string_view text) {
    const berth_status_patch patch{sizeof patch, 0, &pod_->view(), AsStr(text)};
    return service().patch_status(abi(), &patch, Note, this);
  }
  void RunServed() {
    while (served_.Deliver() + inbox_.Drain() + timers_.RunDue(clock_.NowNs()) > 0) {
    }
  }

  std::vector<ApiRequest> requests_;
  ApiResponse reply_{.http_status = 200, .body = "body"};
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
  EXPECT_EQ(OpenRequestCount(*host_), 0U);
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
    reply_ = {.status = Status(error, "why"), .http_status = 499};
    Request();
    RunServed();
    EXPECT_THAT(answers_, ElementsAre(std::to_string(code) + " why")) << ErrorCodeName(error);
  }
}

TEST_F(ApiServiceTest, AnAnswerStatesWhatTheServerSent) {
  struct Seen {
    std::string text;
    const berth_values* values;
  } seen{{}, &Service<berth_values>(BERTH_SERVICE_VALUES)};
  const auto note = [](void* to, const berth_api_result* result) noexcept {
    Seen& self = *static_cast<Seen*>(to);
    self.text = std::to_string(result->code) + " http=" + std::to_string(result->http_status) +
                " retry=" + std::to_string(result->retry_after_ns) +
                " body=" + std::string(Text(result->body)) +
                " error=" + std::string(Text(result->error));
    if (result->value == nullptr) return;
    const berth_value* n = self.values->get(result->value, AsStr("n"));
    self.text += " n=" + std::to_string(self.values->as_int(n));
  };
  const std::string deep = std::string(101, '[') + std::string(101, ']');
  struct Case {
    const char* name;
    ApiResponse reply;
    std::string want;
  };
  const Case kTable[] = {
      {"JSON",
       {{}, 201, 0, "application/json", R"({"n":7})"},
       R"(0 http=201 retry=0 body={"n":7} error= n=7)"},
      {"JSON of no stated type",
       {{}, 200, 0, "", R"({"n":7})"},
       R"(0 http=200 retry=0 body={"n":7} error= n=7)"},
      {"JSON with parameters",
       {{}, 200, 0, "application/apply-patch+json; charset=utf-8", "{}"},
       "0 http=200 retry=0 body={} error= n=0"},
      {"text that looks like JSON",
       {{}, 200, 0, "text/plain", "{}"},
       "0 http=200 retry=0 body={} error="},
      {"broken JSON", {{}, 200, 0, "application/json", "{"}, "0 http=200 retry=0 body={ error="},
      {"JSON that is nested too deeply",
       {{}, 200, 0, "application/json", deep},
       "0 http=200 retry=0 body=" + deep + " error="},
      {"no body", {{}, 204, 0, "", ""}, "0 http=204 retry=0 body= error="},
      {"too many requests",
       {Status::Unavailable("slow down"), 429, 3 * kSecond, "application/json", R"({"n":1})"},
       R"(1 http=429 retry=3000000000 body={"n":1} error=slow down n=1)"},
      {"no response", ApiResponse::None(Status::Unavailable("no route")),
       "1 http=0 retry=0 body= error=no route"},
  };
  berth_api_request request{};
  request.struct_size = sizeof request;
  request.verb = AsStr("GET");
  request.path = AsStr("/x");
  for (const Case& c : kTable) {
    reply_ = c.reply;
    ASSERT_EQ(service().request(abi(), &request, note, &seen), BERTH_SUCCESS);
    RunServed();
    EXPECT_EQ(seen.text, c.want) << c.name;
  }
}

TEST_F(ApiServiceTest, TimedOutRequestIgnoresItsLateAnswer) {
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
  const berth_api_event event{sizeof event, 0, &pod, nullptr, text, text, text, text};
  EXPECT_EQ(service().event(abi(), &event), BERTH_CANCELLED);
}

TEST_F(ApiServiceTest, InstanceThatWasNeverClosedGetsNoAnswer) {
  Request("GET", "/x", kSecond);
  host_.reset();
  EXPECT_EQ(timers_.size(), 0U);
  RunServed();
  EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(ApiServiceTest, RequestsOfOtherThreadsRunOnSchedulingThread) {
  std::thread([&] { EXPECT_EQ(Request(), BERTH_SUCCESS); }).join();
  EXPECT_THAT(requests_, IsEmpty());
  RunServed();
  EXPECT_EQ(requests_.size(), 1U);
  EXPECT_THAT(answers_, ElementsAre("0 body"));
}

// ---- request ------------------------------------------------------------------------------------

TEST_F(ApiServiceTest, AnInstanceHasAtMost65536OpenRequests) {
  ASSERT_EQ(kMaxWaitingWork, 65'536U) << "as <berth/abi.h> states";
  for (size_t i = 0; i < kMaxWaitingWork; ++i) ASSERT_EQ(Request(), BERTH_SUCCESS) << i;
  EXPECT_EQ(Request(), BERTH_CONFLICT);
  EXPECT_EQ(Evict("make room"), BERTH_CONFLICT);
  EXPECT_EQ(PatchStatus("{}"), BERTH_CONFLICT);
  EXPECT_EQ(Request("FETCH"), BERTH_BAD_ARGUMENT);
  RunServed();
  EXPECT_EQ(answers_.size(), kMaxWaitingWork);
  EXPECT_EQ(Request(), BERTH_SUCCESS);
}

TEST_F(ApiServiceTest, PathAndBodyHaveALimit) {
  const std::string most(kMaxBodyBytes, 'x');
  const std::string path = "/" + most.substr(1);
  berth_api_request request{};
  request.struct_size = sizeof request;
  request.verb = AsStr("GET");
  const auto send = [&](std::string_view at, std::string_view body) {
    request.path = AsStr(at);
    request.body = AsStr(body);
    return service().request(abi(), &request, Note, this);
  };
  EXPECT_EQ(send(path, most), BERTH_SUCCESS);
  EXPECT_EQ(send(path + "y", ""), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(send("/x", most + "y"), BERTH_BAD_ARGUMENT);
}

TEST_F(ApiServiceTest, PassesARequestToTheClient) {
  berth_api_request request{sizeof request,     0,      AsStr("PATCH"), AsStr("/api/v1/x?y=z"), {},
                            AsStr("{\"a\":1}"), kSecond};
  service().request(abi(), &request, Note, this);
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].verb, "PATCH");
  EXPECT_EQ(requests_[0].path, "/api/v1/x?y=z");
  EXPECT_EQ(requests_[0].body, "{\"a\":1}");
  EXPECT_EQ(requests_[0].timeout_ns, kSecond);
  EXPECT_EQ(requests_[0].ContentType(), kMergePatch);
  request.content_type = AsStr("application/apply-patch+yaml");
  service().request(abi(), &request, Note, this);
  EXPECT_EQ(requests_[1].ContentType(), "application/apply-patch+yaml");
}

// A flag that this host does not have may change what the call means.
TEST_F(ApiServiceTest, RefusesAnUnknownFlag) {
  const berth_tagged pod{BERTH_KIND_POD, 0, &pod_->view()};
  for (const uint32_t flags : {0U, 1U, 0x80000000U}) {
    SCOPED_TRACE(flags);
    const berth_code expected = flags == 0 ? BERTH_SUCCESS : BERTH_BAD_ARGUMENT;
    berth_api_request request{};
    request.struct_size = sizeof request;
    request.flags = flags;
    request.verb = AsStr("GET");
    request.path = AsStr("/x");
    EXPECT_EQ(service().request(abi(), &request, Note, this), expected);
    const berth_eviction eviction{sizeof eviction, flags, &pod_->view(), AsStr("why")};
    EXPECT_EQ(service().evict(abi(), &eviction, Note, this), expected);
    const berth_api_event event{sizeof event,    flags,      &pod,       nullptr,
                                AsStr("Normal"), AsStr("R"), AsStr("A"), AsStr("")};
    EXPECT_EQ(service().event(abi(), &event), expected);
  }
  EXPECT_EQ(requests_.size(), 1U);
  EXPECT_EQ(scheduler_.asked.size(), 1U);
  EXPECT_EQ(served_.events().size(), 1U);
}

TEST_F(ApiServiceTest, RefusesAnInvalidRequest) {
  for (const char* verb : {"", "get", "HEAD", "OPTIONS"}) {
    EXPECT_EQ(Request(verb), BERTH_BAD_ARGUMENT) << verb;
  }
  EXPECT_EQ(Request("GET", ""), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Request("GET", "api"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Request("GET", "/x", 0, nullptr), BERTH_BAD_ARGUMENT);
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
  berth_done Done(Promises::Kind kind = Promises::Kind::kBind) {
    const Promises::Id id = host_->promises()->Open(
        [this](berth_code code, const std::vector<std::string>& reasons) {
          answers_.push_back(std::to_string(code) + " " + Join(reasons, ","));
        },
        kind);
    return {abi(), id};
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
  berth_done pre_bind = Done(Promises::Kind::kOther);
  berth_done ended = Done();
  host_->promises()->Close(ended.id);
  const auto other = Host("test.Other");
  const berth_done of_other = {
      other->abi(), other->promises()->Open([](berth_code, const auto&) {}, Promises::Kind::kBind)};
  for (berth_done done : {pre_bind, ended, of_other, berth_done{abi(), 0}, berth_done{}}) {
    EXPECT_EQ(service().bind(abi(), &binding_, done), BERTH_CONFLICT);
    std::thread([&] { EXPECT_EQ(service().bind(abi(), &binding_, done), BERTH_CONFLICT); }).join();
  }
  RunServed();
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_EQ(served_.FindPod("default", "p")->node_name(), "");
  const PluginCall call(*host_, Point::kBind);
  EXPECT_EQ(service().bind(abi(), &binding_, Done()), BERTH_PENDING);
}

TEST_F(BindServiceTest, BindsOnSchedulingThreadWhenCalledFromPool) {
  berth_done done = Done();
  std::thread([&] { EXPECT_EQ(service().bind(abi(), &binding_, done), BERTH_PENDING); }).join();
  EXPECT_EQ(served_.FindPod("default", "p")->node_name(), "");
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 "));
}

// ---- Arguments ----------------------------------------------------------------------------------

// Calls `send` with structs of several sizes and with unknown flags. `first_size`: of the first
// version.
template <class T>
std::vector<berth_code> CodesOf(T given, size_t first_size,
                                const std::function<berth_code(const T&)>& send) {
  std::vector<berth_code> codes;
  for (const size_t size : {size_t{0}, first_size - 1, first_size, sizeof(T) + 8}) {
    given.struct_size = static_cast<uint32_t>(size);
    codes.push_back(send(given));
  }
  given.struct_size = sizeof(T);
  for (const uint32_t flags : {1U, 1U << 31}) {
    given.flags = flags;
    codes.push_back(send(given));
  }
  return codes;
}

TEST_F(ApiServiceTest, RefusesTooSmallStructsAndUnknownFlags) {
  const auto expected = ElementsAre(BERTH_BAD_ARGUMENT, BERTH_BAD_ARGUMENT, BERTH_SUCCESS,
                                    BERTH_SUCCESS, BERTH_BAD_ARGUMENT, BERTH_BAD_ARGUMENT);
  const berth_status_patch patch{sizeof patch, 0, &pod_->view(), AsStr("{}")};
  EXPECT_THAT(CodesOf<berth_status_patch>(
                  patch, sizeof patch,
                  [&](const auto& p) { return service().patch_status(abi(), &p, Note, this); }),
              expected);
  const berth_eviction eviction{sizeof eviction, 0, &pod_->view(), AsStr("")};
  EXPECT_THAT(CodesOf<berth_eviction>(
                  eviction, sizeof eviction,
                  [&](const auto& e) { return service().evict(abi(), &e, Note, this); }),
              expected);
  const berth_api_request request{sizeof request, 0, AsStr("GET"), AsStr("/x"), AsStr(""),
                                  AsStr(""),      0};
  EXPECT_THAT(CodesOf<berth_api_request>(
                  request, sizeof request,
                  [&](const auto& r) { return service().request(abi(), &r, Note, this); }),
              expected);
  const berth_tagged pod{BERTH_KIND_POD, 0, &pod_->view()};
  const berth_api_event event{sizeof event,    0,          &pod,       nullptr,
                              AsStr("Normal"), AsStr("R"), AsStr("A"), AsStr("N")};
  EXPECT_THAT(CodesOf<berth_api_event>(event, sizeof event,
                                       [&](const auto& e) { return service().event(abi(), &e); }),
              expected);
  RunServed();
  EXPECT_EQ(answers_.size(), 6U) << "each request that was accepted is answered";
}

// ---- patch_status -------------------------------------------------------------------------------

TEST_F(ApiServiceTest, StatusPatchHasTheUidOfThePod) {
  const char* const patch = R"({"status":{"nominatedNodeName":"n1"}})";
  EXPECT_EQ(PatchStatus(patch), BERTH_SUCCESS);
  ASSERT_EQ(requests_.size(), 1U);
  EXPECT_EQ(requests_[0].verb, "PATCH");
  EXPECT_EQ(requests_[0].path, "/api/v1/namespaces/default/pods/p/status");
  EXPECT_EQ(requests_[0].ContentType(), kStrategicMergePatch);
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
    EXPECT_EQ(PatchStatus(patch), BERTH_BAD_ARGUMENT) << patch.substr(0, 20);
  }
  EXPECT_THAT(requests_, IsEmpty());
  for (const char* patch : {"{}", R"({"metadata":null})", R"({"metadata":{"uid":7}})"}) {
    PatchStatus(patch);
    EXPECT_EQ(requests_.back().body, R"({"metadata":{"uid":"uid-p"}})") << patch;
  }
}

// ---- evict --------------------------------------------------------------------------------------

TEST_F(ApiServiceTest, PassesAnEvictionToTheScheduler) {
  EXPECT_EQ(Evict("make room"), BERTH_SUCCESS);
  EXPECT_THAT(scheduler_.asked, ElementsAre("evict default/p uid-p: make room"));
  EXPECT_THAT(answers_, IsEmpty());  // Although the scheduler answered at once.
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 "));
}

TEST_F(ApiServiceTest, EvictionInMemoryIsMarked) {
  static uint32_t flags;
  const auto note = [](void*, const berth_api_result* result) noexcept { flags = result->flags; };
  const berth_eviction eviction{sizeof eviction, 0, &pod_->view(), AsStr("make room")};
  for (const bool in_memory : {false, true}) {
    scheduler_.evicts_in_memory = in_memory;
    flags = 77;
    EXPECT_EQ(service().evict(abi(), &eviction, note, nullptr), BERTH_SUCCESS);
    RunServed();
    EXPECT_EQ(flags, in_memory ? uint32_t{BERTH_API_RESULT_IN_MEMORY} : 0U);
  }
}

TEST_F(ApiServiceTest, EvictingAPodThatIsGoneSucceeds) {
  scheduler_.evicted = Status::NotFound("gone");
  Evict("");
  RunServed();
  scheduler_.evicted = Status::Unavailable("away");
  Evict("");
  RunServed();
  EXPECT_THAT(answers_, ElementsAre("0 ", "1 away"));
}

}  // namespace
}  // namespace berth::host
