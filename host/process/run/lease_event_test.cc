#include "host/process/run/lease_event.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::EndsWith;

constexpr int64_t kEventNs = 7 * kSecond;

ElectionOptions Election() {
  ElectionOptions election;
  election.ns = "kube-system";
  election.name = "berth";
  election.identity = "host_1";
  return election;
}

void ExpectRegardsTheLease(const Event& event) {
  EXPECT_EQ(event.regarding.api_version, "coordination.k8s.io/v1");
  EXPECT_EQ(event.regarding.kind, "Lease");
  EXPECT_EQ(event.regarding.ns, "kube-system");
  EXPECT_EQ(event.regarding.name, "berth");
  EXPECT_EQ(event.time_ns, kEventNs);
}

TEST(LeaseEventTest, TellsWhoLeads) {
  const Event event = LeadingEvent(Election(), "default-scheduler", kEventNs);
  ExpectRegardsTheLease(event);
  EXPECT_EQ(event.type + " " + event.reason, "Normal LeaderElection");
  EXPECT_EQ(event.note, "host_1 became leader");
  EXPECT_EQ(event.reporting_controller, "default-scheduler");
}

TEST(LeaseEventTest, TellsWhichPluginIsInQuarantine) {
  const Event event = QuarantineEvent(Election(),
                                      {.profile = "acme-scheduler",
                                       .plugin = "acme.RackPower",
                                       .why = "10 faults within 1m0s",
                                       .pause_ns = 30 * kSecond},
                                      kEventNs);
  ExpectRegardsTheLease(event);
  EXPECT_EQ(event.type + " " + event.reason, "Warning PluginQuarantined");
  EXPECT_EQ(
      event.note,
      "acme.RackPower of the profile acme-scheduler is in quarantine for 30s: 10 faults within "
      "1m0s");
  EXPECT_EQ(event.reporting_controller, "acme-scheduler");
  EXPECT_TRUE(event.is_unique) << "a series has the note of its first event";
}

TEST(LeaseEventTest, ShortensALongReason) {
  const PluginFaults::Quarantined plugin = {
      .profile = "p", .plugin = "test.A", .why = std::string(2000, 'x'), .pause_ns = kSecond};
  const Event event = QuarantineEvent(Election(), plugin, kEventNs);
  EXPECT_EQ(event.note.size(), kMaxEventNoteBytes);
  EXPECT_THAT(event.note, EndsWith("xx ..."));
}

}  // namespace
}  // namespace berth::host
