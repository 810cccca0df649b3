#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/process/doctor/doctor_checks.h"
#include "host/process/doctor/doctor_testing.h"

namespace berth::host {
namespace {

using Level = DoctorFinding::Level;

// ---- kinds --------------------------------------------------------------------------------------

KindAnswer Served(const std::string& kind, std::vector<std::string> verbs = {"list", "watch"}) {
  Resource resource;
  resource.kind = kind;
  resource.verbs = std::move(verbs);
  return {kind, "the plugin P", std::move(resource), {}};
}

KindAnswer NotServed(const std::string& kind) { return {kind, "the plugin P", std::nullopt, {}}; }

KindAnswer NotKnown(const std::string& kind) {
  return {kind, "the plugin P", std::nullopt, Status::Unavailable("connection reset")};
}

TEST(KindsFindingTest, EachOutcome) {
  struct Case {
    const char* name;
    std::vector<KindAnswer> kinds;
    Level level;
    const char* found;
  };
  const Case cases[] = {
      {"all", {Served("v1/Pod"), Served("v1/Node")}, Level::kOk, "all 2 are served"},
      {"one is missing",
       {Served("v1/Pod"), NotServed("resource.k8s.io/v1/ResourceClaim")},
       Level::kNote,
       "resource.k8s.io/v1/ResourceClaim (the plugin P) is not served; pods that do not use it are "
       "not affected"},
      {"two are missing",
       {Served("v1/Pod"), NotServed("a/v1/B"), NotServed("a/v1/C")},
       Level::kNote,
       "2 of 3 are not served: a/v1/B (the plugin P), a/v1/C (the plugin P); pods that do not use "
       "them are not affected"},
      {"nodes are missing",
       {Served("v1/Pod"), NotServed("v1/Node")},
       Level::kFailure,
       "v1/Node (the plugin P) is not served"},
      {"no answer",
       {Served("v1/Pod"), NotKnown("a/v1/B")},
       Level::kWarning,
       "a/v1/B (the plugin P): connection reset"},
      {"no answer about pods",
       {NotKnown("v1/Pod")},
       Level::kFailure,
       "v1/Pod (the plugin P): connection reset"},
      {"no watch",
       {Served("v1/Pod"), Served("a/v1/B", {"list"})},
       Level::kWarning,
       "a/v1/B (the plugin P) cannot be watched"},
      {"several reasons",
       {NotServed("a/v1/A"), NotKnown("a/v1/B")},
       Level::kWarning,
       "a/v1/A (the plugin P) is not served; pods that do not use it are not affected; a/v1/B (the "
       "plugin P): connection reset"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(KindsFinding(c.kinds), (DoctorFinding{"kinds", c.level, c.found})) << c.name;
  }
}

// ---- permissions --------------------------------------------------------------------------------

Permission Rule(const std::string& verb, const std::string& resource,
                const std::string& needed_by = "the host", const std::string& group = "") {
  return {.group = group,
          .resource = resource,
          .verb = verb,
          .ns = "",
          .name = "",
          .needed_by = needed_by};
}

PermissionAnswer Granted(Permission permission) {
  return {std::move(permission), AccessAnswer{true, ""}};
}

PermissionAnswer Denied(Permission permission) {
  return {std::move(permission), AccessAnswer{false, ""}};
}

PermissionAnswer Unknown(Permission permission) {
  return {std::move(permission), Status::PermissionDenied("reviews are\nforbidden")};
}

TEST(PermissionTextTest, NamesWhatIsSet) {
  EXPECT_EQ(PermissionText(Rule("list", "pods")), "list pods");
  EXPECT_EQ(PermissionText(Rule("create", "pods/binding")), "create pods/binding");
  Permission lease = Rule("update", "leases", "leader election", "coordination.k8s.io");
  lease.ns = "kube-system";
  EXPECT_EQ(PermissionText(lease), "update coordination.k8s.io/leases in kube-system");
  lease.name = "berth";
  EXPECT_EQ(PermissionText(lease), "update coordination.k8s.io/leases berth in kube-system");
}

TEST(PermissionsFindingTest, EachOutcome) {
  Permission optional = Rule("patch", "events", "series of events");
  optional.is_optional = true;
  const std::string fix = "add the missing rules";
  struct Case {
    const char* name;
    std::vector<PermissionAnswer> permissions;
    DoctorFinding expected;
    size_t missing;
  };
  const Case cases[] = {
      {"all",
       {Granted(Rule("list", "pods")), Granted(Rule("list", "nodes"))},
       {"permissions", Level::kOk, "all 2 are granted"},
       0},
      {"one is missing",
       {Granted(Rule("list", "pods")), Denied(Rule("list", "csinodes", "A", "storage.k8s.io"))},
       {"permissions", Level::kFailure, "1 of 2 is missing: list storage.k8s.io/csinodes (A)", fix},
       1},
      {"verbs of one resource are joined",
       {Denied(Rule("get", "pods")), Denied(Rule("list", "pods")), Denied(Rule("watch", "pods")),
        Denied(Rule("watch", "nodes")), Denied(Rule("get", "nodes", "A"))},
       {"permissions", Level::kFailure,
        "5 of 5 are missing: get, list and watch pods (the host), watch nodes (the host), get "
        "nodes (A)",
        fix},
       5},
      {"only optional ones",
       {Granted(Rule("list", "pods")), Denied(optional)},
       {"permissions", Level::kWarning,
        "1 of 2 is missing: patch events (series of events; "
        "optional)",
        fix},
       1},
      {"an optional one among others",
       {Denied(Rule("list", "pods")), Denied(optional)},
       {"permissions", Level::kFailure,
        "2 of 2 are missing: list pods (the host), patch events (series of events; optional)", fix},
       2},
      {"no answer",
       {Unknown(Rule("list", "pods")), Granted(Rule("list", "nodes"))},
       {"permissions", Level::kWarning, "1 of 2 could not be checked: reviews are; forbidden"},
       0},
      {"no answer and a missing one",
       {Unknown(Rule("list", "pods")), Denied(Rule("list", "nodes"))},
       {"permissions", Level::kFailure,
        "1 of 2 is missing: list nodes (the host); 1 of 2 could not be checked: reviews are; "
        "forbidden",
        fix},
       1},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(PermissionsFinding(c.permissions), c.expected) << c.name;
    EXPECT_EQ(MissingPermissions(c.permissions).size(), c.missing) << c.name;
  }
}

// ---- clock --------------------------------------------------------------------------------------

TEST(ClockFindingTest, EachDistance) {
  const std::string effect = "; leader election is not affected, times of events are";
  const std::string fix = "synchronise the clocks of both machines";
  struct Case {
    std::optional<int64_t> ahead_ns;
    DoctorFinding expected;
  };
  const Case cases[] = {
      {std::nullopt, {"clock", Level::kNote, "not known: the server sends no header Date"}},
      {0, {"clock", Level::kOk, "that of this machine and of the server agree"}},
      {300 * kMillisecond, {"clock", Level::kOk, "this machine is 300 ms ahead of the API server"}},
      {-(2 * kSecond - 1), {"clock", Level::kOk, "this machine is 1.9s behind the API server"}},
      {2 * kSecond,
       {"clock", Level::kNote, "this machine is 2.0s ahead of the API server" + effect, fix}},
      {-(5 * kSecond - 1),
       {"clock", Level::kNote, "this machine is 4.9s behind the API server" + effect, fix}},
      {7200 * kMillisecond,
       {"clock", Level::kWarning, "this machine is 7.2s ahead of the API server" + effect, fix}},
      {-5 * kSecond,
       {"clock", Level::kWarning, "this machine is 5.0s behind the API server" + effect, fix}},
  };
  for (const Case& c : cases) EXPECT_EQ(ClockFinding(c.ahead_ns), c.expected);
}

// ---- lease --------------------------------------------------------------------------------------

LeaseState State(bool exists, const std::string& holder, int64_t renewed_ns, bool is_expired) {
  return {.name = "kube-system/kube-scheduler",
          .exists = exists,
          .holder = holder,
          .renewed_ns = renewed_ns,
          .is_expired = is_expired,
          .error = {}};
}

TEST(LeaseFindingTest, EachState) {
  EXPECT_EQ(LeaseFinding(true, State(false, "", 0, false)),
            (DoctorFinding{"lease", Level::kOk,
                           "kube-system/kube-scheduler does not exist; Berth creates it"}));
  EXPECT_EQ(LeaseFinding(true, State(true, "", 0, false)),
            (DoctorFinding{"lease", Level::kOk, "kube-system/kube-scheduler has no holder"}));
  EXPECT_EQ(
      LeaseFinding(true, State(true, "cp-1_1f2e", 1'100 * kMillisecond, false)),
      (DoctorFinding{"lease", Level::kNote,
                     "kube-system/kube-scheduler is held by cp-1_1f2e (renewed 1.1s ago): with "
                     "this lease name Berth waits",
                     "for a second scheduler set leaderElection.resourceName in the host file"}));
  EXPECT_EQ(LeaseFinding(true, State(true, "cp-1_1f2e", 3 * kMinute, true)),
            (DoctorFinding{"lease", Level::kOk,
                           "kube-system/kube-scheduler was held by cp-1_1f2e (renewed 3m ago); "
                           "Berth takes it over"}));
  LeaseState denied = State(false, "", 0, false);
  denied.error = Status::PermissionDenied("forbidden");
  denied.is_forbidden = true;
  EXPECT_EQ(LeaseFinding(true, denied),
            (DoctorFinding{"lease", Level::kWarning,
                           "kube-system/kube-scheduler: not known, because the permission "
                           "to read is missing"}));
  LeaseState untrusted = State(false, "", 0, false);
  untrusted.error = Status::PermissionDenied("the certificate has expired");
  EXPECT_EQ(LeaseFinding(true, untrusted),
            (DoctorFinding{"lease", Level::kWarning,
                           "kube-system/kube-scheduler: not known: the certificate has expired"}));
  LeaseState lost = State(false, "", 0, false);
  lost.error = Status::Unavailable("connection reset");
  EXPECT_EQ(LeaseFinding(true, lost),
            (DoctorFinding{"lease", Level::kWarning,
                           "kube-system/kube-scheduler: not known: connection reset"}));
  EXPECT_EQ(LeaseFinding(false, denied),
            (DoctorFinding{"lease", Level::kNote,
                           "leader election is off: a second process with this configuration would "
                           "place the same pods"}));
}

// ---- pods ---------------------------------------------------------------------------------------

PendingPods Pods(std::map<std::string, size_t, std::less<>> by_scheduler, bool is_complete = true) {
  return {.by_scheduler = std::move(by_scheduler), .is_complete = is_complete, .error = {}};
}

TEST(PodsFindingTest, EachOutcome) {
  struct Case {
    const char* name;
    PendingPods pods;
    std::vector<std::string> profiles;
    std::optional<LeaseState> rival;
    DoctorFinding expected;
  };
  const LeaseState held = State(true, "cp-1", kSecond, false);
  PendingPods denied;
  denied.error = Status::PermissionDenied("forbidden");
  denied.is_forbidden = true;
  PendingPods refused;
  refused.error = Status::PermissionDenied("the status is 407");
  PendingPods lost;
  lost.error = Status::Unavailable("connection reset");
  const Case cases[] = {
      {"no answer", lost, {"acme"}, {}, {"pods", Level::kWarning, "not known: connection reset"}},
      {"the proxy refuses the connection",
       refused,
       {"acme"},
       {},
       {"pods", Level::kWarning, "not known: the status is 407"}},
      {"none", Pods({}), {"acme"}, {}, {"pods", Level::kOk, "no pending pods name acme"}},
      {"one", Pods({{"acme", 1}}), {"acme"}, {}, {"pods", Level::kOk, "1 pending pod names acme"}},
      {"several, and those of others",
       Pods({{"acme", 3}, {"b", 1}, {"default-scheduler", 1200}}),
       {"acme"},
       {},
       {"pods", Level::kOk,
        "3 pending pods name acme; 1,200 name default-scheduler, which no profile has; 1 names b, "
        "which no profile has"}},
      {"two profiles",
       Pods({{"b", 1}}),
       {"b", "acme"},
       {},
       {"pods", Level::kOk, "no pending pods name acme; 1 names b"}},
      {"too many to count",
       Pods({{"acme", 10'000}}, false),
       {"acme"},
       {},
       {"pods", Level::kOk,
        "there are more; of those that were read: 10,000 pending pods name acme"}},
      {"another leader places the same pods",
       Pods({{"default-scheduler", 2}}),
       {"default-scheduler"},
       held,
       {"pods", Level::kWarning,
        "2 pending pods name default-scheduler; cp-1 holds kube-system/kube-scheduler and places "
        "the pods of default-scheduler, too",
        "use the lease kube-system/kube-scheduler, or give the profile another schedulerName"}},
      {"the other lease has expired",
       Pods({{"default-scheduler", 2}}),
       {"default-scheduler"},
       State(true, "cp-1", kMinute, true),
       {"pods", Level::kOk, "2 pending pods name default-scheduler"}},
      {"not allowed",
       denied,
       {"acme"},
       held,
       {"pods", Level::kWarning, "not known, because the permission to read is missing"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(PodsFinding(c.pods, c.profiles, c.rival), c.expected) << c.name;
  }
}

TEST(PodsFindingTest, NamesTheMostFrequentSchedulersWithoutAProfile) {
  const PendingPods pods = Pods({{"a", 1}, {"b\n", 3}, {"c", 2}, {"d", 9}, {"e", 1}});
  EXPECT_EQ(PodsFinding(pods, std::vector<std::string>{"acme"}, {}).found,
            "no pending pods name acme; 9 name d, which no profile has; 3 name b, which no profile "
            "has; 2 name c, which no profile has; 2 name 2 other schedulers");
}

// ---- placement ----------------------------------------------------------------------------------

TEST(PlacementFindingTest, EachOutcome) {
  using Counts = std::map<std::string, size_t, std::less<>>;
  using Rejected = std::map<std::string, std::map<std::string, size_t>, std::less<>>;
  using Unreadable = std::map<std::string, PendingPods::Unreadable, std::less<>>;
  const std::string fix = "correct or delete what cannot be read";
  const std::string none = "every pending pod of the profiles waits for its first try";
  const struct {
    const char* name;
    Rejected rejected;
    Counts gated;
    Unreadable unreadable;
    DoctorFinding expected;
  } cases[] = {
      {"none", {}, {}, {}, {"placement", Level::kOk, none}},
      {"of another scheduler",
       {{"other", {{"U: a", 3}}}},
       {{"other", 4}},
       {{"other", {2, "s/x: /: bad"}}},
       {"placement", Level::kOk, none}},
      {"one",
       {{"b", {{"U: a", 1}}}},
       {{"b", 1}},
       {},
       {"placement", Level::kOk,
        "1 pod had no place at the last attempt: 1 U: a; 1 waits for its scheduling gates"}},
      {"the most frequent reasons of two profiles",
       {{"acme", {{"U: a", 1}, {"U: b", 2}, {"U: c", 4}}}, {"b", {{"U: d", 3}, {"U: b", 2000}}}},
       {{"acme", 2}, {"b", 1}},
       {},
       {"placement", Level::kOk,
        "2,010 pods had no place at the last attempt: 2,002 U: b; 4 U: c; 3 U: d; 1 for other "
        "reasons; 3 wait for their scheduling gates"}},
      {"unreadable",
       {},
       {},
       {{"acme", {2, "s/x: /spec: bad"}}, {"b", {1, "s/y: /spec: bad"}}},
       {"placement", Level::kWarning,
        "3 pods cannot be read, and will not be placed, such as s/x: /spec: bad", fix}},
      {"both",
       {{"acme", {{"U: a", 1}}}},
       {},
       {{"b", {1, "s/y: /spec: bad"}}},
       {"placement", Level::kWarning,
        "1 pod cannot be read, and will not be placed, such as s/y: /spec: bad; 1 pod had no place "
        "at the last attempt: 1 U: a",
        fix}},
  };
  for (const auto& c : cases) {
    PendingPods pods;
    pods.rejected = c.rejected;
    pods.gated = c.gated;
    pods.unreadable = c.unreadable;
    const std::vector<std::string> profiles = {"acme", "b"};
    EXPECT_EQ(PlacementFinding(pods, profiles), c.expected) << c.name;
    pods.is_complete = false;
    EXPECT_EQ(PlacementFinding(pods, profiles).found,
              "of the pods that were read: " + c.expected.found)
        << c.name;
  }
}

}  // namespace
}  // namespace berth::host
