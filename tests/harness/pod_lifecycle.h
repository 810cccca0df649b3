// The lifecycle of one pod, with plugins that the test implements, and another pod that waits for
// the room on the node.
#ifndef BERTH_TESTS_HARNESS_POD_LIFECYCLE_H_
#define BERTH_TESTS_HARNESS_POD_LIFECYCLE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/harness/harness.h"
#include "tests/harness/stage.h"

namespace berth::host {

// Schedules pod "p" on the only node, "n1". Pod "other" was rejected by puppet.A before, and is
// parked until an assigned pod is deleted.
class PodLifecycle {
 public:
  PodLifecycle()
      : a_(stage_.Add("puppet.A", {Point::kEnqueueExtensions, Point::kFilter, Point::kReserve,
                                   Point::kPermit, Point::kPreBind})),
        b_(stage_.Add("puppet.B",
                      {Point::kReserve, Point::kPermit, Point::kPreBind, Point::kPostBind})),
        c_(stage_.Add("puppet.C", {Point::kBind, Point::kAttemptFailed})) {
    a_.has_slot = true;
    a_.interests = {{.resource = BERTH_RESOURCE_ASSIGNED_POD,
                     .actions = BERTH_ACTION_DELETE,
                     .kind = nullptr,
                     .has_hint = 0,
                     .reserved = 0,
                     .pod_parts = 0}};
    a_.filter = [this](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                       berth_status*) {
      const bool refuses = Text(cycle.pod->meta->name) == "other" &&
                           !(other_fits_after_unreserve_ && IsUnreserved());
      for (uint32_t i = 0; i < block.count; ++i) {
        out.codes[i] = refuses ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
        out.reasons[i] = 0;
      }
      return BERTH_SUCCESS;
    };
    RecordReservations("A", a_);
    RecordReservations("B", b_);
    c_.attempt_failed = [this](const berth_failed_attempt& attempt) {
      if (Text(attempt.pod->meta->name) != "p") return;
      const std::string before = calls_.empty() ? "nothing" : calls_.back();
      failures_.push_back(before + ", then: " + std::string(Text(attempt.message)));
    };
    b_.post_bind = [this](const berth_binding&) { calls_.emplace_back("post_bind B"); };
  }

  Puppet& a() { return a_; }
  Puppet& b() { return b_; }
  Puppet& c() { return c_; }
  Harness& harness() { return harness_; }
  std::vector<std::string>& calls() { return calls_; }
  // What AttemptFailed got for "p": "unreserve A, then: no room".
  const std::vector<std::string>& failures() const { return failures_; }
  berth_done done() const { return done_; }
  // Makes A reject "other" only until A's Unreserve was called for "p".
  void OtherFitsAfterUnreserve() { other_fits_after_unreserve_ = true; }
  // Returns true if "other" has a node.
  bool IsOtherPlaced() { return harness_.loop().cache().RowOf("uid-other") != kNoRow; }
  // Returns a PreBind or Bind that does not answer: the test completes done().
  auto AnswersLater() {
    return [this](const berth_binding&, berth_done done, berth_status*) {
      done_ = done;
      return BERTH_PENDING;
    };
  }

  void Run() {
    harness_.AddNode({.name = "n1"});
    stage_.CompleteProfile();
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (before_run_) before_run_();
    AddPod("other");
    harness_.Run();
    ASSERT_EQ(harness_.PlaceOf("other"), QueuePlace::kUnschedulable);
    AddPod("p", "\"cpu\":\"1\"");
    harness_.Run();
  }
  // Sets a function that Run() calls between the start of the loop and the first pod.
  void BeforeRun(std::function<void()> function) { before_run_ = std::move(function); }
  void AddPod(const std::string& name, const std::string& requests = "") {
    harness_.AddPod({.name = name, .requests = requests, .spec = SchedulerName()});
  }
  // Sends an event that "p" is being deleted. The pod still exists.
  void BeginDeletion() {
    const PodRef pod = harness_.cluster().FindPod("default", "p");
    const PodRef terminating = harness_.objects().Pod(
        {.name = "p",
         .requests = "\"cpu\":\"1\"",
         .spec = SchedulerName(),
         .meta = R"("resourceVersion":"1000","deletionTimestamp":"2026-01-10T08:00:00Z")"});
    harness_.client().SendPodEvent({WatchType::kModified, terminating, pod, false});
    harness_.Settle();
  }
  std::string Outcome(const std::string& pod = "p") const {
    for (const AttemptResult& result : harness_.results()) {
      if (result.pod->name() == pod) return Harness::Outcome(result);
    }
    return "";
  }

  std::string SchedulerName() const {
    return "\"schedulerName\":\"" + stage_.spec().scheduler_name + '"';
  }

 private:
  bool IsUnreserved() const { return std::ranges::find(calls_, "unreserve A") != calls_.end(); }
  void RecordReservations(const std::string& name, Puppet& puppet) {
    if (!puppet.reserve) {
      puppet.reserve = [this, name](const berth_cycle&, const berth_target&, berth_status*) {
        calls_.push_back("reserve " + name);
        return BERTH_SUCCESS;
      };
    }
    puppet.unreserve = [this, name](const berth_binding&) {
      calls_.push_back("unreserve " + name);
    };
  }

  Stage stage_;
  Puppet& a_;
  Puppet& b_;
  Puppet& c_;
  std::vector<std::string> calls_;
  std::vector<std::string> failures_;
  berth_done done_ = {};
  std::function<void()> before_run_;
  Harness harness_;  // Destroyed first, because it calls the plugins.
  bool other_fits_after_unreserve_ = false;
};

// Returns the pod "p" as the cluster has it; null if it is gone.
inline PodRef FindInCluster(PodLifecycle& pod) {
  return pod.harness().cluster().FindPod("default", "p");
}

inline auto Answers(ScriptedAnswer answer) {
  return [answer](const berth_cycle&, const berth_target&, berth_status* status) {
    return Report(answer, status);
  };
}
inline auto BindAnswers(ScriptedAnswer answer) {
  return [answer](const berth_binding&, berth_done, berth_status* status) {
    return Report(answer, status);
  };
}
inline auto PermitAnswers(ScriptedAnswer answer, int64_t timeout_ns = 0) {
  return [answer, timeout_ns](const berth_cycle&, const berth_target&, int64_t* timeout,
                              berth_status* status) {
    *timeout = timeout_ns;
    return Report(answer, status);
  };
}

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_POD_LIFECYCLE_H_
