// One pod on its way to a node, with plugins that the test plays, and another pod that waits for
// its place.
#ifndef BERTH_TESTS_INTEGRATION_WAY_H_
#define BERTH_TESTS_INTEGRATION_WAY_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/integration/harness.h"
#include "tests/runtime/stage.h"

namespace berth::host {

// Pod "p" on its way to node "n1"; "other", which was refused before, waits for a place.
class Way {
 public:
  Way()
      : a_(stage_.Add("puppet.A", {Point::kEnqueueExtensions, Point::kFilter, Point::kReserve,
                                   Point::kPermit, Point::kPreBind})),
        b_(stage_.Add("puppet.B",
                      {Point::kReserve, Point::kPermit, Point::kPreBind, Point::kPostBind})),
        c_(stage_.Add("puppet.C", {Point::kBind})) {
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
                           !(other_fits_without_claim_ && IsClaimGivenBack());
      for (uint32_t i = 0; i < block.count; ++i) {
        out.codes[i] = refuses ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
        out.reasons[i] = 0;
      }
      return BERTH_SUCCESS;
    };
    NoteReservations("A", a_);
    NoteReservations("B", b_);
    b_.post_bind = [this](const berth_binding&) { calls_.emplace_back("post_bind B"); };
  }

  Puppet& a() { return a_; }
  Puppet& b() { return b_; }
  Puppet& c() { return c_; }
  Harness& harness() { return harness_; }
  std::vector<std::string>& calls() { return calls_; }
  berth_done* done() const { return done_; }
  // "other" is refused until A's claim for "p" was given back.
  void OtherFitsWithoutClaim() { other_fits_without_claim_ = true; }
  // It has got a place.
  bool IsOtherPlaced() { return harness_.loop().cache().RowOf("uid-other") != kNoRow; }
  // An answer that is kept back, for done().
  auto Later() {
    return [this](const berth_binding&, berth_done* done, berth_status*) {
      done_ = done;
      return BERTH_PENDING;
    };
  }

  void Run() {
    harness_.AddNode({.name = "n1"});
    stage_.Write();
    const Status status = harness_.Start(stage_.spec(), Stage::catalog());
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (before_run_) before_run_();
    AddPod("other");
    harness_.Run();
    ASSERT_EQ(harness_.PlaceOf("other"), QueuePlace::kUnschedulable);
    AddPod("p", "\"cpu\":\"1\"");
    harness_.Run();
  }
  // Between the start of the loop and its first pod.
  void BeforeRun(std::function<void()> happens) { before_run_ = std::move(happens); }
  void AddPod(const std::string& name, const std::string& requests = "") {
    harness_.AddPod({.name = name, .requests = requests, .spec = SchedulerName()});
  }
  // The cluster says that "p" is being deleted; it is still there.
  void BeginDeletion() {
    const PodRef pod = harness_.cluster().FindPod("default", "p");
    const PodRef going = harness_.objects().Pod(
        {.name = "p",
         .requests = "\"cpu\":\"1\"",
         .spec = SchedulerName(),
         .meta = R"("resourceVersion":"1000","deletionTimestamp":"2026-01-10T08:00:00Z")"});
    harness_.line().Tell({WatchType::kModified, going, pod, false});
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
  bool IsClaimGivenBack() const { return std::ranges::find(calls_, "unreserve A") != calls_.end(); }
  void NoteReservations(const std::string& name, Puppet& puppet) {
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
  berth_done* done_ = nullptr;
  std::function<void()> before_run_;
  Harness harness_;  // Goes first: it calls the plugins.
  bool other_fits_without_claim_ = false;
};

inline auto Answers(Said said) {
  return [said](const berth_cycle&, const berth_target&, berth_status* status) {
    return Give(said, status);
  };
}
inline auto BindAnswers(Said said) {
  return [said](const berth_binding&, berth_done*, berth_status* status) {
    return Give(said, status);
  };
}
inline auto PermitAnswers(Said said, int64_t timeout_ns = 0) {
  return [said, timeout_ns](const berth_cycle&, const berth_target&, int64_t* timeout,
                            berth_status* status) {
    *timeout = timeout_ns;
    return Give(said, status);
  };
}

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_WAY_H_
