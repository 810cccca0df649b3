#include "host/cycle/failure_handler.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/queue_parts.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PluginId kPlugin = 3;

// Records the calls of the sink.
class RecordingSink final : public DecisionSink {
 public:
  void OnFailed(const PodRef& pod, std::string_view node, const Failure& failure) override {
    calls.push_back("failed " + std::string(pod->name()) + " on '" + std::string(node) +
                    "': " + failure.message + (failure.is_final ? "; final" : ""));
  }
  void OnSkipped(const PodRef& pod, std::string_view message) override {
    calls.push_back("skipped " + std::string(pod->name()) + ": " + std::string(message));
  }
  std::vector<std::string> calls;
};

class FailureHandlerTest : public QueuePartsTest {
 protected:
  static Failure Rejected(std::string message) {
    return {.code = BERTH_UNSCHEDULABLE,
            .message = std::move(message),
            .rejection = {.plugins = {kPlugin}}};
  }

  RecordingSink sink_;
  FailureHandler handler_{queue_,
                          client_,
                          clock_,
                          sink_,
                          nullptr,
                          [this](const PodRef& pod, std::string_view node, const Failure& failure) {
                            const QueuedEntity* entity = queue_.Find(pod->uid());
                            told_.push_back(std::string(pod->name()) + " on '" + std::string(node) +
                                            "': " + failure.message +
                                            (entity != nullptr ? "" : "; gone") +
                                            (failure.is_final ? "; final" : ""));
                          }};
  std::vector<std::string> told_;
};

TEST_F(FailureHandlerTest, ParksARejectedPodAndReportsIt) {
  PopPod("p");
  handler_.Handle("uid-p", "n1", Rejected("no room"));
  EXPECT_EQ(queue_.Find("uid-p")->place, QueuePlace::kUnschedulable);
  EXPECT_THAT(queue_.Find("uid-p")->rejection().plugins, ElementsAre(kPlugin));
  EXPECT_THAT(sink_.calls, ElementsAre("failed p on 'n1': no room"));
  EXPECT_THAT(client_.events, ElementsAre("Warning FailedScheduling p: no room"));
  EXPECT_THAT(client_.patches, ElementsAre("p Unschedulable: no room"));
  EXPECT_THAT(told_, ElementsAre("p on 'n1': no room"));
}

TEST_F(FailureHandlerTest, CutsMessageThatIsTooLongForCondition) {
  const std::string most(kMaxConditionMessageBytes, 'x');
  PopPod("p");
  handler_.Handle("uid-p", "", Rejected(most));
  PopPod("q");
  handler_.Handle("uid-q", "", Rejected(most + "y"));
  EXPECT_THAT(client_.patches, ElementsAre("p Unschedulable: " + most,
                                           "q Unschedulable: " + most.substr(4) + " ..."));
}

TEST_F(FailureHandlerTest, AnErrorMakesThePodBackOff) {
  PopPod("p");
  handler_.Handle("uid-p", "", {.message = "boom"});
  EXPECT_EQ(queue_.Find("uid-p")->place, QueuePlace::kErrorBackoff);
  EXPECT_THAT(client_.patches, ElementsAre("p SchedulerError: boom"));
}

TEST_F(FailureHandlerTest, OnlyTheSinkSeesAPodDeletedMeanwhile) {
  PopPod("p");
  queue_.Remove("uid-p");
  handler_.Handle("uid-p", "", Rejected("no room"));
  EXPECT_EQ(queue_.Find("uid-p"), nullptr);
  EXPECT_THAT(sink_.calls, ElementsAre("failed p on '': no room; final"));
  EXPECT_THAT(told_, ElementsAre("p on '': no room; gone; final"));
  EXPECT_THAT(client_.events, IsEmpty());
  EXPECT_THAT(client_.patches, IsEmpty());
}

TEST_F(FailureHandlerTest, SendsAnEqualConditionOnce) {
  PopPod("p");
  handler_.Handle("uid-p", "", Rejected("no room"));
  PopAgain("uid-p");
  handler_.Handle("uid-p", "", Rejected("no room"));
  EXPECT_EQ(client_.events.size(), 2U);
  EXPECT_EQ(client_.patches.size(), 1U);
  PopAgain("uid-p");
  handler_.Handle("uid-p", "", Rejected("still no room"));
  EXPECT_EQ(client_.patches.size(), 2U);
}

TEST_F(FailureHandlerTest, SendsTheConditionAgainAfterAFailedPatch) {
  const struct {
    Status answer;
    size_t patches;
  } kTable[] = {{Status(), 1},
                {Status::Unavailable("busy"), 2},
                {Status::Conflict("changed"), 2},
                {Status::NotFound("gone"), 1}};
  int number = 0;
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.answer.ToString());
    const std::string name = "p" + std::to_string(++number);
    client_.patches.clear();
    client_.patch_answer = row.answer;
    PopPod(name);
    handler_.Handle("uid-" + name, "", Rejected("no room"));
    client_.patch_answer = Status();
    PopAgain("uid-" + name);
    handler_.Handle("uid-" + name, "", Rejected("no room"));
    EXPECT_EQ(client_.patches.size(), row.patches);
  }
}

TEST_F(FailureHandlerTest, ANominationIsSetKeptAndCleared) {
  PopPod("p");
  Failure failure = Rejected("no room");
  failure.nominated_node = "n1";
  handler_.Handle("uid-p", "", failure);
  EXPECT_EQ(queue_.nominator().NodeOf("uid-p"), "n1");
  EXPECT_THAT(client_.patches, ElementsAre("p Unschedulable: no room; nominated to 'n1'"));
  PopAgain("uid-p");
  handler_.Handle("uid-p", "",
                  {.code = BERTH_UNSCHEDULABLE,
                   .message = "no room",
                   .rejection = {.plugins = {kPlugin}},
                   .overrides_nomination = false});
  EXPECT_EQ(queue_.nominator().NodeOf("uid-p"), "n1");
  PopAgain("uid-p");
  handler_.Handle("uid-p", "", Rejected("no room"));
  EXPECT_EQ(queue_.nominator().NodeOf("uid-p"), "");
}

TEST_F(FailureHandlerTest, SkipRemovesThePod) {
  const PodRef pod = PopPod("p");
  handler_.Skip(pod, "skip schedule deleting pod: default/p");
  EXPECT_EQ(queue_.Find("uid-p"), nullptr);
  EXPECT_THAT(sink_.calls, ElementsAre("skipped p: skip schedule deleting pod: default/p"));
  EXPECT_THAT(client_.events,
              ElementsAre("Warning FailedScheduling p: skip schedule deleting pod: default/p"));
  EXPECT_THAT(client_.patches, IsEmpty());
}

}  // namespace
}  // namespace berth::host
