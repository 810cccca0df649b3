// Which extension points are called and which services are there. A change of either is a change of
// what plugins can rely on, so both are written down here once more.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cache/object_store.h"
#include "host/runtime/instance_host.h"
#include "host/runtime/plugin_status.h"
#include "host/runtime/point.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

TEST(Points, AreInTheOrderOfTheEnumeration) {
  for (size_t i = 0; i < kPointCount; ++i) {
    EXPECT_EQ(static_cast<size_t>(kPoints[i].point), i);
    EXPECT_EQ(FindPoint(kPoints[i].id), &kPoints[i]);
    EXPECT_EQ(&InfoOf(kPoints[i].point), &kPoints[i]);
  }
  EXPECT_EQ(FindPoint("berth.filter/2"), nullptr);
  EXPECT_EQ(FindPoint(""), nullptr);
}

TEST(Points, ThatAreCalled) {
  std::vector<std::string_view> called;
  std::vector<std::string_view> ignored;
  for (const PointInfo& info : kPoints) (info.served ? called : ignored).push_back(info.name);
  EXPECT_THAT(called, ElementsAre("QueueSort", "PreFilter", "Filter", "PreScore", "Score", "Bind"));
  EXPECT_THAT(ignored, ElementsAre("PreEnqueue", "EnqueueExtensions", "PostFilter", "Reserve",
                                   "Permit", "PreBind", "PostBind", "Changes"));
}

class ServicesTest : public ::testing::Test {
 protected:
  Interner interner_;
  ObjectStore objects_;
  std::vector<std::string> lines_;
  HostServices services_{
      .interner = interner_,
      .objects = objects_,
      .log =
          [this](uint32_t level, std::string_view plugin, std::string_view text) {
            lines_.push_back(std::to_string(level) + " " + std::string(plugin) + ": " +
                             std::string(text));
          },
      .log_level = BERTH_LOG_INFO,
      .bind = nullptr};
  InstanceHost host_{services_, "test.Plugin", {"v1/Namespace"}};

  template <class T>
  const T& Service(const char* id) {
    const void* service = nullptr;
    EXPECT_EQ(host_.abi()->get_service(host_.abi(), id, &service), BERTH_SUCCESS) << id;
    return *static_cast<const T*>(service);
  }
};

TEST_F(ServicesTest, ThatAreThere) {
  std::vector<std::string> there;
  std::vector<std::string> unsupported;
  for (const ServiceInfo& info : Services()) {
    const void* service = nullptr;
    const berth_code code =
        host_.abi()->get_service(host_.abi(), std::string(info.id).c_str(), &service);
    EXPECT_EQ(code, info.service != nullptr ? BERTH_SUCCESS : BERTH_UNSUPPORTED) << info.id;
    EXPECT_EQ(service != nullptr, code == BERTH_SUCCESS) << info.id;
    (code == BERTH_SUCCESS ? there : unsupported).emplace_back(info.id);
  }
  EXPECT_THAT(there,
              ElementsAre("berth.log/1", "berth.strings/1", "berth.columns/1", "berth.args/1",
                          "berth.objects/1", "berth.api/1", "berth.completion/1"));
  EXPECT_THAT(unsupported, ElementsAre("berth.metrics/1", "berth.whatif/1", "berth.nominator/1",
                                       "berth.activate/1", "berth.waiting/1", "berth.timer/1"));
}

TEST_F(ServicesTest, AnUnknownIdIsNotFound) {
  const void* service = nullptr;
  EXPECT_EQ(host_.abi()->get_service(host_.abi(), "berth.log/2", &service), BERTH_NOT_FOUND);
  EXPECT_EQ(host_.abi()->get_service(host_.abi(), "", &service), BERTH_NOT_FOUND);
  EXPECT_EQ(service, nullptr);
}

// Parts of services that are there.
TEST_F(ServicesTest, FunctionsThatAnswerUnsupported) {
  const auto& api = Service<berth_api>(BERTH_SERVICE_API);
  const berth_binding binding{};
  const berth_str text{};
  EXPECT_EQ(api.bind(host_.abi(), &binding, nullptr), BERTH_UNSUPPORTED);  // Without a cluster.
  EXPECT_EQ(api.patch_status(host_.abi(), nullptr, text, nullptr, nullptr), BERTH_UNSUPPORTED);
  EXPECT_EQ(api.evict(host_.abi(), nullptr, text, nullptr, nullptr), BERTH_UNSUPPORTED);
  EXPECT_EQ(api.event(host_.abi(), nullptr, nullptr, text, text, text, text), BERTH_UNSUPPORTED);
  EXPECT_EQ(api.request(host_.abi(), text, text, text, 0, nullptr, nullptr), BERTH_UNSUPPORTED);
  const auto& objects = Service<berth_objects>(BERTH_SERVICE_OBJECTS);
  EXPECT_EQ(objects.watch(host_.abi(), AsStr("v1/Namespace"), nullptr, nullptr), BERTH_UNSUPPORTED);
  EXPECT_EQ(objects.watch(host_.abi(), AsStr("v1/Secret"), nullptr, nullptr), BERTH_NOT_FOUND);
}

TEST_F(ServicesTest, HostSaysWhatItIs) {
  EXPECT_EQ(Text(host_.abi()->name), "berth");
  EXPECT_EQ(host_.abi()->struct_size, sizeof(berth_host));
  EXPECT_EQ(host_.abi()->abi_major, BERTH_ABI_MAJOR);
  EXPECT_EQ(host_.abi()->abi_minor, BERTH_ABI_MINOR);
}

TEST_F(ServicesTest, LogDropsWhatIsBelowItsLevel) {
  const auto& log = Service<berth_log>(BERTH_SERVICE_LOG);
  EXPECT_EQ(*log.level, uint32_t{BERTH_LOG_INFO});
  const berth_str_pair pairs[] = {{AsStr("node"), AsStr("a")}, {AsStr("free"), AsStr("3")}};
  log.log(host_.abi(), BERTH_LOG_DEBUG, AsStr("dropped"), nullptr, 0);
  log.log(host_.abi(), BERTH_LOG_INFO, AsStr("kept"), pairs, 2);
  services_.log_level = BERTH_LOG_ERROR;
  EXPECT_EQ(*log.level, uint32_t{BERTH_LOG_ERROR});
  log.log(host_.abi(), BERTH_LOG_WARN, AsStr("dropped"), nullptr, 0);
  EXPECT_THAT(lines_, ElementsAre("2 test.Plugin: kept node=a free=3"));
}

TEST_F(ServicesTest, AnInternedIdLivesAsLongAsTheInstance) {
  const auto& strings = Service<berth_strings>(BERTH_SERVICE_STRINGS);
  EXPECT_EQ(strings.find(host_.abi(), AsStr("rack-7")), kNoId);
  {
    InstanceHost other(services_, "test.Other", {});
    const berth_id id = strings.intern(other.abi(), AsStr("rack-7"));
    EXPECT_EQ(strings.intern(other.abi(), AsStr("rack-7")), id);
    EXPECT_EQ(strings.intern(host_.abi(), AsStr("rack-7")), id);
    const berth_id gone = strings.intern(other.abi(), AsStr("rack-8"));
    EXPECT_EQ(strings.find(host_.abi(), AsStr("rack-8")), gone);
  }
  interner_.Sweep();
  const berth_id id = strings.find(host_.abi(), AsStr("rack-7"));
  EXPECT_NE(id, kNoId);
  EXPECT_EQ(Text(strings.text(host_.abi(), id)), "rack-7");
  EXPECT_EQ(strings.find(host_.abi(), AsStr("rack-8")), kNoId);
}

TEST_F(ServicesTest, CompletionCountsOnce) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  std::vector<std::string> answers;
  berth_done done;
  done.answer = [&](berth_code code, std::string_view reason) {
    answers.push_back(std::to_string(code) + " " + std::string(reason));
  };
  completion.complete(&done, BERTH_ERROR, AsStr("first"));
  completion.complete(&done, BERTH_SUCCESS, AsStr("second"));
  EXPECT_THAT(answers, ElementsAre("1 first"));
}

TEST(PluginStatus, MessageJoinsReasons) {
  EXPECT_EQ(PluginStatus().Message(), "");
  EXPECT_EQ((PluginStatus{BERTH_ERROR, "p", {"a"}}.Message()), "a");
  EXPECT_EQ((PluginStatus{BERTH_ERROR, "p", {"a", "b"}}.Message()), "a, b");
}

TEST(PluginStatus, RejectedIsARefusalAndNoFailure) {
  for (const berth_code code :
       {BERTH_UNSCHEDULABLE, BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, BERTH_PENDING}) {
    EXPECT_TRUE((PluginStatus{code, "", {}}.rejected())) << code;
  }
  for (const berth_code code : {BERTH_SUCCESS, BERTH_ERROR, BERTH_WAIT, BERTH_SKIP, BERTH_BUG}) {
    EXPECT_FALSE((PluginStatus{code, "", {}}.rejected())) << code;
  }
}

}  // namespace
}  // namespace berth::host
