// The list of services, which of them a host serves, and the services without a test file of their
// own.
#include "host/runtime/services.h"

#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/status_sink.h"
#include "host/runtime/plugin_call.h"
#include "host/runtime/test_services.h"

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

TEST_F(ServicesTest, ServesAllIfTheHostHasEverything) {
  const Served served(*host_);
  EXPECT_THAT(served.unsupported, IsEmpty());
  EXPECT_THAT(served.there,
              ElementsAre("berth.log/1", "berth.strings/1", "berth.columns/1", "berth.values/1",
                          "berth.selectors/1", "berth.metrics/1", "berth.objects/1",
                          "berth.whatif/1", "berth.nominator/1", "berth.activate/1",
                          "berth.waiting/1", "berth.timer/1", "berth.api/1", "berth.completion/1"));
}

TEST_F(ServicesTest, SomeAreUnsupportedWithoutASchedulerOrAClient) {
  HostServices bare{.interner = test_objects_.interner(), .objects = objects_, .log = {}};
  const InstanceHost host(bare, "test.Plugin", {});
  EXPECT_THAT(Served(host).unsupported,
              ElementsAre("berth.metrics/1", "berth.nominator/1", "berth.activate/1",
                          "berth.waiting/1", "berth.timer/1", "berth.api/1"));
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
  EXPECT_THAT(lines_, ElementsAre("2 test.Plugin: kept node=a free=3"));
}

TEST_F(ServicesTest, AnInternedIdIsValidAsLongAsTheInstance) {
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
TEST_F(ServicesTest, AFaultIsCountedAtThePointOfTheCall) {
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
  EXPECT_EQ(lines_[0], "3 test.Plugin: Changes: exception: index lost");
}

TEST_F(ServicesTest, CompletionCountsOnce) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  std::vector<std::string> answers;
  berth_done* done = host_->promises().Open([&](berth_code code, std::string_view reason) {
    answers.push_back(std::to_string(code) + " " + std::string(reason));
  });
  completion.complete(done, BERTH_ERROR, AsStr("first"));
  completion.complete(done, BERTH_SUCCESS, AsStr("second"));
  EXPECT_THAT(answers, ElementsAre("1 first"));
}

TEST_F(ServicesTest, CompletionReportsAReasonThatIsNull) {
  const auto& completion = Service<berth_completion>(BERTH_SERVICE_COMPLETION);
  std::vector<std::string> answers;
  for (const berth_code code : {BERTH_ERROR, BERTH_SUCCESS}) {
    berth_done* done = host_->promises().Open([&](berth_code answer, std::string_view reason) {
      answers.push_back(std::string(CodeName(answer)) + " " + std::string(reason));
    });
    completion.complete(done, code, {nullptr, 3});
  }
  EXPECT_THAT(answers, ElementsAre("Bug gave a reason that is NULL", "Success "));
}

}  // namespace
}  // namespace berth::host
