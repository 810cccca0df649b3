// A group of three pods, and plugins whose answers for each pod the test sets.
#ifndef BERTH_TESTS_HARNESS_GROUP_CYCLE_FIXTURE_H_
#define BERTH_TESTS_HARNESS_GROUP_CYCLE_FIXTURE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {

inline std::string_view NameOf(const berth_pod& pod) { return Text(pod.meta->name); }

// The answer of a plugin for one member at one point, and the message of the pod's condition.
struct ScriptedFailure {
  const char* point;
  ScriptedAnswer answer;
  std::string message;
};

// The pods a, b and c of group "g", in this order, and the nodes n1 and n2.
class GroupCycleTest : public ::testing::Test {
 protected:
  GroupCycleTest()
      : a_(stage_.Add("puppet.A", {Point::kPreEnqueue, Point::kEnqueueExtensions, Point::kFilter,
                                   Point::kPostFilter, Point::kPreScore, Point::kScore,
                                   Point::kReserve, Point::kPermit, Point::kPreBind})),
        b_(stage_.Add("puppet.B", {Point::kEnqueueExtensions, Point::kReserve, Point::kPermit})),
        c_(stage_.Add("puppet.C", {Point::kBind})) {
    c_.bind = [this](const berth_binding& binding, berth_done done, berth_status*) {
      const berth_code code = c_.api->bind(c_.host, &binding, done);
      return code == BERTH_SUCCESS ? BERTH_PENDING : code;
    };
    a_.has_slot = true;
    a_.reasons = {{"no claim", 8}};
    const auto always = [](uint32_t resource, uint32_t action) {
      return berth_event_interest{.resource = resource,
                                  .actions = action,
                                  .kind = nullptr,
                                  .has_hint = 0,
                                  .reserved = 0,
                                  .pod_parts = 0};
    };
    a_.interests = {always(BERTH_RESOURCE_NODE, BERTH_ACTION_ADD),
                    always(BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE)};
    b_.interests = a_.interests;
    a_.filter = [this](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                       berth_status* status) {
      const ScriptedAnswer answer = AnswerAt("Filter", *cycle.pod);
      const bool only_first = AnswerAt("Filter but n1", *cycle.pod).code != BERTH_SUCCESS;
      for (uint32_t i = 0; i < block.count; ++i) {
        const bool errs = answer.code == BERTH_ERROR;
        out.codes[i] = static_cast<uint8_t>(errs ? BERTH_SUCCESS : answer.code);
        out.reasons[i] = errs ? 0 : 1;
        if (only_first && Text(block.nodes[i]->meta->name) != "n1") {
          out.codes[i] = BERTH_UNSCHEDULABLE;
        }
      }
      return answer.code == BERTH_ERROR ? Report(answer, status) : BERTH_SUCCESS;
    };
    SetFunctions("A", a_);
    SetFunctions("B", b_);
  }

  // Sets the answer of a plugin for the pod at the point. The default is Success.
  void SetAnswer(const std::string& point, const std::string& pod, const ScriptedAnswer& answer) {
    answers_[point + " " + pod] = answer;
  }
  void SetAnswerForAll(const std::string& point, const ScriptedAnswer& answer) {
    for (const char* pod : {"a", "b", "c"}) SetAnswer(point, pod, answer);
  }
  void ClearAnswers() { answers_.clear(); }

  void Start() {
    harness_.AddNodes({"n1", "n2"});
    stage_.CompleteProfile();
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  TestPod Member(const std::string& name, const std::string& group = "g") const {
    return {.name = name,
            .requests = "\"cpu\":\"1\"",
            .spec = "\"schedulerName\":\"" + stage_.spec().scheduler_name +
                    R"(","schedulingGroup":{"podGroupName":")" + group + "\"}"};
  }
  // For every failure of every member: adds a group of its own ("a7" to "c7" of "g7"), runs it,
  // calls check(failure, member, "7"), and deletes the group.
  template <class F>
  void ForEachMember(std::span<const ScriptedFailure> failures, F check) {
    Start();
    int round = 0;
    for (const ScriptedFailure& failure : failures) {
      for (const std::string member : {"a", "b", "c"}) {
        SCOPED_TRACE(std::string(failure.point) + " of " + member);
        const std::string suffix = std::to_string(++round);
        ClearAnswers();
        calls_.clear();
        SetAnswer(failure.point, member + suffix, failure.answer);
        for (const char* pod : {"a", "b", "c"}) {
          harness_.AddPod(Member(pod + suffix, "g" + suffix));
        }
        harness_.Run();
        check(failure, member, suffix);
        for (const char* pod : {"a", "b", "c"}) {
          harness_.cluster().DeletePod({"default", pod + suffix, ""}, 0, nullptr);
        }
        harness_.Run();
        EXPECT_EQ(CpuInUse(), 0);
        EXPECT_EQ(harness_.loop().queue().size(), 0U);
      }
    }
  }
  void AddGroup() {
    for (const char* pod : {"a", "b", "c"}) harness_.AddPod(Member(pod));
  }
  void Run() {
    Start();
    AddGroup();
    harness_.Run();
  }
  std::string NodeOf(const std::string& pod) {
    return std::string(harness_.cluster().FindPod("default", pod)->node_name());
  }
  std::string Bound() {
    std::string bound;
    for (const char* pod : {"a", "b", "c"}) bound += NodeOf(pod).empty() ? "" : pod;
    return bound;
  }
  std::string Message(const std::string& pod) {
    return std::string(harness_.cluster().PodScheduledMessage("default", pod));
  }
  int64_t CpuInUse() { return harness_.Column("req.cpu", "n1") + harness_.Column("req.cpu", "n2"); }
  // Rejects a waiting pod. To be called within a call of A.
  void RejectWaiting(std::string_view uid) const {
    const std::string_view why = "no more";
    const berth_rejection rejection{
        sizeof rejection, 0, {uid.data(), uid.size()}, {why.data(), why.size()}};
    EXPECT_EQ(a_.waiting->reject(a_.host, &rejection), BERTH_SUCCESS);
  }
  // Returns the number of FailedScheduling events of the pod.
  size_t Failures(const std::string& pod) {
    return static_cast<size_t>(
        std::ranges::count_if(harness_.cluster().events(), [&pod](const Event& event) {
          return event.regarding.name == pod && event.reason == "FailedScheduling";
        }));
  }

  // Makes PostFilter nominate these nodes, one after the other.
  void NominateNodes(std::vector<std::string> nodes) {
    a_.post_filter = [this, nodes](const berth_cycle&, const berth_nodes&, const berth_verdicts&,
                                   berth_post_filter_out& out, berth_status*) {
      const std::string& node = nodes[nominations_++ % nodes.size()];
      out.nominate(&out, {node.data(), node.size()});
      return BERTH_SUCCESS;
    };
  }

  Stage stage_;
  Puppet& a_;
  Puppet& b_;
  Puppet& c_;
  std::vector<std::string> calls_;  // "reserve A a"
  std::map<std::string, ScriptedAnswer, std::less<>> answers_;
  size_t nominations_ = 0;
  Harness harness_;  // Destroyed first, because it calls the plugins.

 private:
  ScriptedAnswer AnswerAt(const std::string& point, const berth_pod& pod) const {
    const auto found = answers_.find(point + " " + std::string(NameOf(pod)));
    return found != answers_.end() ? found->second : ScriptedAnswer();
  }
  void SetFunctions(const std::string& name, Puppet& puppet) {
    puppet.reserve = [this, name](const berth_cycle& cycle, const berth_target&,
                                  berth_status* status) {
      calls_.push_back("reserve " + name + " " + std::string(NameOf(*cycle.pod)));
      return Report(AnswerAt("Reserve" + name, *cycle.pod), status);
    };
    puppet.unreserve = [this, name](const berth_binding& binding) {
      calls_.push_back("unreserve " + name + " " + std::string(NameOf(*binding.pod)));
    };
    puppet.permit = [this, name](const berth_cycle& cycle, const berth_target&, int64_t* timeout_ns,
                                 berth_status* status) {
      *timeout_ns = kSecond;
      return Report(AnswerAt("Permit" + name, *cycle.pod), status);
    };
    puppet.pre_bind = [this, name](const berth_binding& binding, berth_done, berth_status* status) {
      return Report(AnswerAt("PreBind" + name, *binding.pod), status);
    };
    puppet.pre_enqueue = [this, name](const berth_queued& queued, berth_status* status) {
      return Report(AnswerAt("PreEnqueue" + name, *queued.pod), status);
    };
  }
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_GROUP_CYCLE_FIXTURE_H_
