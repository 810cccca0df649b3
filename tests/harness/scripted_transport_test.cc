#include "tests/harness/scripted_transport.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_clock.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RecordingStream final : public StreamSink {
 public:
  void OnHead(const HttpHead& head) override {
    seen.push_back("head " + std::to_string(head.http_status));
  }
  void OnBytes(std::string_view bytes) override {
    seen.push_back(std::string(bytes));
    if (destroys_itself) stream.reset();
  }
  void OnEnd(HttpResponse response) override {
    seen.push_back("end " + std::to_string(response.head.http_status) + " " +
                   response.status.ToString() + " " + response.body);
    stream.reset();
  }

  std::unique_ptr<HttpStream> stream;
  std::vector<std::string> seen;
  bool destroys_itself = false;
};

class ScriptedTransportTest : public ::testing::Test {
 protected:
  Transport::Callback Note() {
    return [this](const HttpResponse& response) {
      answers_.push_back(std::to_string(response.head.http_status) + " " +
                         response.status.ToString() + " " + response.body);
    };
  }

  TestClock clock_;
  VirtualExecutor executor_{clock_};
  ScriptedTransport transport_{executor_};
  RecordingStream sink_;
  std::vector<std::string> answers_;
};

TEST_F(ScriptedTransportTest, HoldsEachRequestUntilItIsAnswered) {
  transport_.Send({.verb = "GET", .target = "/a"}, Note());
  transport_.Send({.verb = "POST", .target = "/b", .body = "{}"}, Note());
  EXPECT_THAT(transport_.open(), ElementsAre("GET /a", "POST /b"));
  EXPECT_EQ(transport_.BodyOf(1), "{}");
  EXPECT_THAT(answers_, IsEmpty());
  transport_.Answer(1, 409, "conflict");
  transport_.Lose(0, Delivery::kNotSent);
  EXPECT_THAT(answers_, ElementsAre("409 Ok conflict", "0 Unavailable: connection refused "));
  EXPECT_THAT(transport_.open(), IsEmpty());
}

TEST_F(ScriptedTransportTest, PassesAStreamOnInParts) {
  sink_.stream = transport_.Open({.verb = "GET", .target = "/w"}, sink_);
  sink_.stream->SetSilenceLimit(7);
  EXPECT_EQ(transport_.SilenceLimitNs(0), 7);
  transport_.Head(0);
  transport_.Bytes(0, "ab");
  transport_.End(0);
  EXPECT_THAT(sink_.seen, ElementsAre("head 200", "ab", "end 200 Ok "));
  EXPECT_THAT(transport_.open(), IsEmpty());
}

TEST_F(ScriptedTransportTest, EndsStreamWithAnErrorWithoutItsHead) {
  sink_.stream = transport_.Open({.verb = "GET", .target = "/w"}, sink_);
  transport_.Answer(0, 410, "gone");
  EXPECT_THAT(sink_.seen, ElementsAre("end 410 Ok gone"));
}

TEST_F(ScriptedTransportTest, AStreamMayBeDestroyedWithinItsCallback) {
  sink_.destroys_itself = true;
  sink_.stream = transport_.Open({.verb = "GET", .target = "/w"}, sink_);
  transport_.Answer(0, 200, "body");
  EXPECT_THAT(sink_.seen, ElementsAre("head 200", "body"));
  EXPECT_THAT(transport_.open(), IsEmpty());
}

TEST_F(ScriptedTransportTest, CloseCompletesOpenRequestsAndRefusesLaterOnes) {
  transport_.Send({.verb = "GET", .target = "/a"}, Note());
  sink_.stream = transport_.Open({.verb = "GET", .target = "/w"}, sink_);
  transport_.Close();
  EXPECT_THAT(answers_, ElementsAre("0 Unavailable: the transport was closed "));
  EXPECT_THAT(sink_.seen, ElementsAre("end 0 Unavailable: the transport was closed "));
  transport_.Send({.verb = "GET", .target = "/late"}, Note());
  EXPECT_EQ(answers_.size(), 1u);
  executor_.RunAll();
  EXPECT_EQ(answers_.size(), 2u);
}

}  // namespace
}  // namespace berth::host
