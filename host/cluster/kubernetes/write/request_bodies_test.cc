#include "host/cluster/kubernetes/write/request_bodies.h"

#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

constexpr PodName kPodName{"default", "web-0", "u1"};
// 2026-01-10T08:00:00Z
constexpr int64_t kBodyTime = 1'768'032'000 * kSecond;

// ---- Paths --------------------------------------------------------------------------------------

TEST(RequestPathsTest, EncodesEachPart) {
  struct Case {
    const char* text;
    const char* encoded;
  };
  const Case cases[] = {
      {"web-0", "web-0"}, {"a.b_c~D9", "a.b_c~D9"}, {"a/b", "a%2Fb"},
      {"a?b", "a%3Fb"},   {"a#b", "a%23b"},         {"a%2Fb", "a%252Fb"},
      {"a b", "a%20b"},   {"\xc3\xa9", "%C3%A9"},   {"a\nb", "a%0Ab"},
      {".", "%2E"},       {"..", "%2E%2E"},         {"...", "%2E%2E%2E"},
      {"..a", "..a"},     {"../a", "..%2Fa"},       {"a..", "a.."},
      {"\x7f", "%7F"},
  };
  for (const Case& c : cases) EXPECT_EQ(EncodePathPart(c.text), c.encoded);
}

TEST(RequestPathsTest, NamesEachObject) {
  EXPECT_EQ(PodPath(kPodName), "/api/v1/namespaces/default/pods/web-0");
  EXPECT_EQ(PodPath(kPodName, "binding"), "/api/v1/namespaces/default/pods/web-0/binding");
  EXPECT_EQ(PodPath({"../x", "a/status", ""}), "/api/v1/namespaces/..%2Fx/pods/a%2Fstatus");
  EXPECT_EQ(LeasePath("kube-system", "kube-scheduler"),
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler");
  EXPECT_EQ(LeasePath("kube-system"), "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
  Event event;
  event.regarding.ns = "ns";
  EXPECT_EQ(EventPath(event), "/apis/events.k8s.io/v1/namespaces/ns/events");
  EXPECT_EQ(EventPath(event, "p.1f"), "/apis/events.k8s.io/v1/namespaces/ns/events/p.1f");
  event.regarding.ns.clear();
  EXPECT_EQ(EventPath(event), "/apis/events.k8s.io/v1/namespaces/default/events");
}

TEST(RequestPathsDeathTest, RefusesAPathOfAllPods) {
  EXPECT_DEATH(static_cast<void>(PodPath({"default", "", "u1"})), "name.empty");
  EXPECT_DEATH(static_cast<void>(PodPath({"", "web-0", "u1"})), "ns.empty");
}

// ---- Pods ---------------------------------------------------------------------------------------

TEST(RequestBodiesTest, WritesBindings) {
  EXPECT_EQ(BindingBody(kPodName, "node-1"),
            R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"web-0",)"
            R"("namespace":"default","uid":"u1"},"target":{"kind":"Node","name":"node-1"}})");
  EXPECT_EQ(BindingBody({"default", "web-0", ""}, "node-1"),
            R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"web-0",)"
            R"("namespace":"default"},"target":{"kind":"Node","name":"node-1"}})");
}

TEST(RequestBodiesTest, WritesConditions) {
  PodStatusPatch patch;
  patch.pod_scheduled = PodStatusPatch::Condition{.status = BERTH_CONDITION_FALSE,
                                                  .reason = "Unschedulable",
                                                  .message = "0/1 nodes \"fit\"",
                                                  .transition_ns = kBodyTime + kSecond - 1,
                                                  .observed_generation = 3};
  EXPECT_EQ(StatusPatchBody(kPodName, patch),
            R"({"metadata":{"uid":"u1"},"status":{"conditions":[{"type":"PodScheduled",)"
            R"("status":"False","reason":"Unschedulable","message":"0/1 nodes \"fit\"",)"
            R"("lastProbeTime":null,"lastTransitionTime":"2026-01-10T08:00:00Z",)"
            R"("observedGeneration":3}]}})");
  patch.pod_scheduled->keeps_status = true;
  patch.pod_scheduled->observed_generation = 0;
  EXPECT_EQ(StatusPatchBody(kPodName, patch),
            R"({"metadata":{"uid":"u1"},"status":{"conditions":[{"type":"PodScheduled",)"
            R"("status":"False","reason":"Unschedulable","message":"0/1 nodes \"fit\"",)"
            R"("lastProbeTime":null}]}})");
  patch.pod_scheduled.reset();
  patch.disruption_target = PodStatusPatch::Condition{
      .status = BERTH_CONDITION_TRUE, .reason = "R", .message = "M", .transition_ns = -1};
  EXPECT_EQ(
      StatusPatchBody({"default", "web-0", ""}, patch),
      R"({"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"R",)"
      R"("message":"M","lastProbeTime":null,"lastTransitionTime":"1969-12-31T23:59:59Z"}]}})");
}

TEST(RequestBodiesTest, WritesNominations) {
  PodStatusPatch patch;
  patch.nominated_node = "node-1";
  EXPECT_EQ(StatusPatchBody(kPodName, patch),
            R"({"metadata":{"uid":"u1"},"status":{"nominatedNodeName":"node-1"}})");
  patch.nominated_node = "";
  EXPECT_EQ(StatusPatchBody(kPodName, patch),
            R"({"metadata":{"uid":"u1"},"status":{"nominatedNodeName":null}})");
}

TEST(RequestBodiesTest, WritesDeletions) {
  EXPECT_EQ(DeleteBody(kPodName, std::nullopt),
            R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u1"}})");
  EXPECT_EQ(DeleteBody({"default", "web-0", ""}, 0),
            R"({"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0})");
}

TEST(RequestBodiesTest, ReadsBindings) {
  struct Case {
    const char* name;
    const char* body;
    const char* uid;
    const char* node;
    bool is_deleting;
  };
  const Case cases[] = {
      {"pending", R"({"metadata":{"uid":"u"},"spec":{"containers":[]}})", "u", "", false},
      {"bound", R"({"metadata":{"uid":"u"},"spec":{"nodeName":"n"}})", "u", "n", false},
      {"nulls", R"({"metadata":{"uid":"u","deletionTimestamp":null},"spec":{"nodeName":null}})",
       "u", "", false},
      {"deleting",
       R"({"metadata":{"uid":"u","deletionTimestamp":"2026-01-10T08:00:00Z"},"spec":{}})", "u", "",
       true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<PodBinding> binding = ReadPodBinding(c.body);
    ASSERT_TRUE(binding.ok()) << binding.status().ToString();
    EXPECT_EQ(binding->uid, c.uid);
    EXPECT_EQ(binding->node, c.node);
    EXPECT_EQ(binding->is_deleting, c.is_deleting);
  }
}

TEST(RequestBodiesTest, RefusesWhatIsNoPod) {
  struct Case {
    const char* body;
    const char* message;
  };
  const Case cases[] = {
      {"", "the server's answer is not a pod: the body is not a JSON object"},
      {"<html>", "the server's answer is not a pod: the body is not a JSON object"},
      {"[]", "the server's answer is not a pod: the body is not a JSON object"},
      {"{}", "pod: metadata.uid is missing in the server's answer"},
      {R"({"metadata":{"uid":"u"}})", "pod: spec is missing in the server's answer"},
      {R"({"metadata":[],"spec":{}})",
       "pod: metadata: expected an object in the server's answer, found []"},
      {R"({"metadata":{"uid":7},"spec":{}})",
       "pod: uid: expected a string in the server's answer, found 7"},
      {R"({"metadata":{"uid":"u"},"spec":{"nodeName":{}}})",
       "pod: nodeName: expected a string in the server's answer, found {}"},
  };
  for (const Case& c : cases) {
    const Result<PodBinding> binding = ReadPodBinding(c.body);
    EXPECT_EQ(binding.status().code(), ErrorCode::kInternal) << c.body;
    EXPECT_EQ(binding.status().message(), c.message);
  }
}

// ---- Events -------------------------------------------------------------------------------------

Event ScheduledWeb() {
  Event event;
  event.type = "Normal";
  event.reason = "Scheduled";
  event.action = "Binding";
  event.note = "Successfully assigned default/web-0 to node-1";
  event.regarding = {.api_version = "v1",
                     .kind = "Pod",
                     .ns = "default",
                     .name = "web-0",
                     .uid = "u1",
                     .resource_version = "7"};
  event.reporting_controller = "default-scheduler";
  event.reporting_instance = "default-scheduler-host";
  event.time_ns = kBodyTime + 250 * kMillisecond;
  return event;
}

TEST(RequestBodiesTest, WritesEvents) {
  Event event = ScheduledWeb();
  const std::string start =
      R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"web-0.1f",)"
      R"("namespace":"default"},"eventTime":"2026-01-10T08:00:00.250000Z","type":"Normal",)"
      R"("reason":"Scheduled","action":"Binding",)"
      R"("note":"Successfully assigned default/web-0 to node-1",)"
      R"("regarding":{"apiVersion":"v1","kind":"Pod","namespace":"default","name":"web-0",)"
      R"("uid":"u1","resourceVersion":"7"},"reportingController":"default-scheduler",)"
      R"("reportingInstance":"default-scheduler-host")";
  EXPECT_EQ(EventBody(event, "web-0.1f"), start + "}");
  event.related.emplace();
  event.related->kind = "Node";
  event.related->name = "node-1";
  EXPECT_EQ(EventBody(event, "web-0.1f", EventSeries{3, kBodyTime}),
            start + R"(,"related":{"kind":"Node","name":"node-1"},)"
                    R"("series":{"count":3,"lastObservedTime":"2026-01-10T08:00:00.000000Z"}})");
}

TEST(RequestBodiesTest, ShortensTheNotesOfEvents) {
  Event event = ScheduledWeb();
  for (const size_t size : {kMaxEventNoteBytes, kMaxEventNoteBytes + 1}) {
    event.note = std::string(size, 'x');
    const nlohmann::json body = ParseJson(EventBody(event, "e"));
    const auto note = body["note"].get<std::string>();
    EXPECT_EQ(note.size(), kMaxEventNoteBytes);
    EXPECT_EQ(note.ends_with(" ..."), size > kMaxEventNoteBytes);
  }
}

TEST(RequestBodiesTest, WritesSeries) {
  EXPECT_EQ(EventSeriesBody({2, kBodyTime + 1500}),
            R"({"series":{"count":2,"lastObservedTime":"2026-01-10T08:00:00.000001Z"}})");
}

TEST(RequestBodiesTest, NamesEvents) {
  struct Case {
    std::string name;
    int64_t time_ns;
    std::string event_name;
  };
  const std::string suffix = ".18894fb2ee0f8000";
  const Case cases[] = {
      {"web-0", 0x18894fb2ee0f8000, "web-0" + suffix},
      {"web-0", 1, "web-0.1"},
      {"", 255, ".ff"},
      {std::string(236, 'a'), 0x18894fb2ee0f8000, std::string(236, 'a') + suffix},
      {std::string(237, 'a'), 0x18894fb2ee0f8000, std::string(236, 'a') + suffix},
      {std::string(253, 'a'), 0x18894fb2ee0f8000, std::string(236, 'a') + suffix},
      {std::string(234, 'a') + ".-bcd", 0x18894fb2ee0f8000, std::string(234, 'a') + suffix},
  };
  for (const Case& c : cases) {
    Event event;
    event.regarding.name = c.name;
    EXPECT_EQ(EventName(event, c.time_ns), c.event_name);
    EXPECT_LE(EventName(event, c.time_ns).size(), 253U);
  }
}

// ---- Leases -------------------------------------------------------------------------------------

Lease SampleLease() {
  return {.ns = "kube-system",
          .name = "kube-scheduler",
          .resource_version = "12",
          .holder_identity = "a_1",
          .duration_seconds = 15,
          .transitions = 2,
          .acquire_ns = kBodyTime,
          .renew_ns = kBodyTime + 123'456'789};
}

// Returns a lease without a holder.
Lease BareLease(const char* resource_version) {
  Lease lease;
  lease.ns = "n";
  lease.name = "l";
  lease.resource_version = resource_version;
  lease.duration_seconds = 15;
  return lease;
}

TEST(RequestBodiesTest, WritesLeases) {
  EXPECT_EQ(LeaseBody(SampleLease()),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":)"
            R"({"name":"kube-scheduler","namespace":"kube-system","resourceVersion":"12"},)"
            R"("spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,)"
            R"("acquireTime":"2026-01-10T08:00:00.000000Z",)"
            R"("renewTime":"2026-01-10T08:00:00.123456Z","leaseTransitions":2}})");
  EXPECT_EQ(LeaseBody(BareLease("")),
            R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":)"
            R"({"name":"l","namespace":"n"},"spec":{"leaseDurationSeconds":15,)"
            R"("acquireTime":null,"renewTime":null,"leaseTransitions":0}})");
}

TEST(RequestBodiesTest, KeepsOtherFieldsOfALease) {
  const std::string stored =
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l",)"
      R"("namespace":"n","uid":"u","labels":{"team":"a"},"managedFields":[{"manager":"x"}],)"
      R"("resourceVersion":"11"},"spec":{"holderIdentity":"other","strategy":"OldestEmulation"}})";
  const Lease lease = BareLease("12");
  const nlohmann::json body = ParseJson(LeaseBody(lease, stored));
  EXPECT_EQ(body["metadata"]["labels"]["team"], "a");
  EXPECT_EQ(body["metadata"]["uid"], "u");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "12");
  EXPECT_FALSE(body["metadata"].contains("managedFields"));
  EXPECT_EQ(body["spec"]["strategy"], "OldestEmulation");
  EXPECT_EQ(body["spec"]["leaseDurationSeconds"], 15);
  EXPECT_FALSE(body["spec"].contains("holderIdentity")) << "the lease is released";
  for (const char* unusable : {"", "<html>", "[]", R"({"metadata":7,"spec":[]})"}) {
    const nlohmann::json other = ParseJson(LeaseBody(lease, unusable));
    EXPECT_EQ(other["metadata"]["name"], "l");
    EXPECT_EQ(other["spec"]["leaseDurationSeconds"], 15);
  }
}

TEST(RequestBodiesTest, ReadsTheLeasesThatItWrites) {
  const Lease lease = SampleLease();
  const Result<Lease> read = ReadLease(LeaseBody(lease));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(read->ns, lease.ns);
  EXPECT_EQ(read->name, lease.name);
  EXPECT_EQ(read->resource_version, "12");
  EXPECT_EQ(read->holder_identity, "a_1");
  EXPECT_EQ(read->duration_seconds, 15);
  EXPECT_EQ(read->transitions, 2);
  EXPECT_EQ(read->acquire_ns, kBodyTime);
  EXPECT_EQ(read->renew_ns, kBodyTime + 123'456'000) << "a MicroTime has microseconds";
  const Result<Lease> empty = ReadLease(R"({"metadata":{"resourceVersion":"1"}})");
  ASSERT_TRUE(empty.ok()) << empty.status().ToString();
  EXPECT_EQ(empty->holder_identity, "");
  EXPECT_EQ(empty->renew_ns, 0);
}

TEST(RequestBodiesTest, RefusesWhatIsNoLease) {
  struct Case {
    const char* spec;
    const char* message;
  };
  const Case cases[] = {
      {R"({"holderIdentity":1})",
       "lease: holderIdentity: expected a string in the server's answer, found 1"},
      {R"({"leaseDurationSeconds":"15"})",
       "lease: leaseDurationSeconds: expected a number of 32 bits in the server's answer, found "
       "\"15\""},
      {R"({"leaseDurationSeconds":2147483648})",
       "lease: leaseDurationSeconds: expected a number of 32 bits in the server's answer, found "
       "2147483648"},
      {R"({"leaseTransitions":-1})",
       "lease: leaseTransitions: expected a number of 32 bits in the server's answer, found -1"},
      {R"({"leaseTransitions":18446744073709551615})",
       "lease: leaseTransitions: expected a number of 32 bits in the server's answer, found "
       "18446744073709551615"},
      {R"({"renewTime":"yesterday"})",
       "lease: renewTime: expected a time in the server's answer, found \"yesterday\""},
  };
  for (const Case& c : cases) {
    const Result<Lease> lease =
        ReadLease(std::string(R"({"metadata":{"resourceVersion":"1"},"spec":)") + c.spec + "}");
    EXPECT_EQ(lease.status().code(), ErrorCode::kInternal) << c.spec;
    EXPECT_EQ(lease.status().message(), c.message);
  }
  EXPECT_EQ(ReadLease("{}").status().message(),
            "lease: metadata.resourceVersion is missing in the server's answer");
  EXPECT_EQ(ReadLease("7").status().message(),
            "the server's answer is not a lease: the body is not a JSON object");
}

// ---- Times --------------------------------------------------------------------------------------

TEST(RequestBodiesTest, FormatsMicroTimes) {
  struct Case {
    int64_t time_ns;
    const char* text;
  };
  const Case cases[] = {
      {0, "1970-01-01T00:00:00.000000Z"},
      {999, "1970-01-01T00:00:00.000000Z"},
      {1000, "1970-01-01T00:00:00.000001Z"},
      {kSecond - 1, "1970-01-01T00:00:00.999999Z"},
      {kSecond, "1970-01-01T00:00:01.000000Z"},
      {-1, "1969-12-31T23:59:59.999999Z"},
      {-kSecond, "1969-12-31T23:59:59.000000Z"},
      {kBodyTime + 250 * kMillisecond, "2026-01-10T08:00:00.250000Z"},
      {std::numeric_limits<int64_t>::max(), "2262-04-11T23:47:16.854775Z"},
      {std::numeric_limits<int64_t>::min(), "1677-09-21T00:12:43.145224Z"},
  };
  for (const Case& c : cases) EXPECT_EQ(MicroTime(c.time_ns), c.text);
}

}  // namespace
}  // namespace berth::host
