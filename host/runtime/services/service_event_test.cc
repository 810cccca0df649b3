// The events of the service berth.api/1.
#include <cstddef>
#include <string>
#include <thread>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/runtime/services/services.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::IsEmpty;

class EventServiceTest : public ServicesTest {
 protected:
  EventServiceTest() : served_({.clock = clock_, .max_events = 10, .serve = {}}) {
    services_.client = &served_;
    host_->Begin();
    Result<AnyObject> created = served_.Create(test_objects_.Pod({.name = "p"}));
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    pod_ = std::get<PodRef>(*created);
  }

  berth_code Put(const berth_tagged* regarding, const char* type = "Normal",
                 const char* reason = "Preempted", const char* action = "Preempting",
                 const std::string& note = "a note", const berth_tagged* related = nullptr) {
    const berth_api_event event{sizeof event,  0,           regarding,
                                related,       AsStr(type), AsStr(reason),
                                AsStr(action), AsStr(note)};
    return Service<berth_api>(BERTH_SERVICE_API).event(abi(), &event);
  }
  berth_tagged pod_tag() const { return {BERTH_KIND_POD, 0, &pod_->view()}; }

  EmbeddedCluster served_;
  PodRef pod_;
};

TEST_F(EventServiceTest, HasReporterAndObjects) {
  const NodeRef node = test_objects_.Node({.name = "n1"});
  const ObjectRef claim = test_objects_.ObjectFrom(
      R"({"kind":"CSINode","apiVersion":"storage.k8s.io/v1","metadata":{"name":"c"}})");
  const berth_tagged pod = pod_tag();
  const berth_tagged node_tag{BERTH_KIND_NODE, 0, &node->view()};
  const berth_tagged object_tag{BERTH_KIND_OBJECT, 0, &claim->view()};
  EXPECT_EQ(Put(&pod, "Normal", "R", "A", "N", &node_tag), BERTH_SUCCESS);
  EXPECT_EQ(Put(&object_tag, "Warning"), BERTH_SUCCESS);
  ASSERT_EQ(served_.events().size(), 2U);
  const Event& event = served_.events()[0];
  EXPECT_EQ(event.type + event.reason + event.action + event.note, "NormalRAN");
  EXPECT_EQ(event.regarding.api_version, "v1");
  EXPECT_EQ(event.regarding.kind, "Pod");
  EXPECT_EQ(event.regarding.ns, "default");
  EXPECT_EQ(event.regarding.name, "p");
  EXPECT_EQ(event.regarding.uid, "uid-p");
  EXPECT_EQ(event.related->kind, "Node");
  EXPECT_EQ(event.related->name, "n1");
  EXPECT_EQ(event.reporting_controller, "default-scheduler");
  EXPECT_EQ(event.time_ns, clock_.NowNs());
  EXPECT_EQ(served_.events()[1].regarding.api_version, "storage.k8s.io/v1");
  EXPECT_EQ(served_.events()[1].regarding.kind, "CSINode");
  EXPECT_FALSE(served_.events()[1].related.has_value());
}

TEST_F(EventServiceTest, RefusesAnInvalidEvent) {
  const berth_tagged pod = pod_tag();
  const berth_tagged nothing{};
  EXPECT_EQ(Put(&nothing), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(nullptr), BERTH_BAD_ARGUMENT);
  const berth_tagged unknown{BERTH_KIND_OBJECT + 1, 0, &pod_->view()};
  EXPECT_EQ(Put(&unknown), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(&pod, "Normal", "R", "A", "N", &unknown), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(&pod, "normal"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(&pod, "Normal", ""), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Put(&pod, "Normal", "R", ""), BERTH_BAD_ARGUMENT);
  EXPECT_THAT(served_.events(), IsEmpty());
  EXPECT_EQ(Put(&pod, "Normal", "R", "A", "N", &nothing), BERTH_SUCCESS) << "related to nothing";
}

TEST_F(EventServiceTest, AtMost65536EventsOfOtherThreadsWait) {
  const berth_tagged pod = pod_tag();
  std::thread([&] {
    for (size_t i = 0; i < kMaxWaitingWork; ++i) ASSERT_EQ(Put(&pod), BERTH_SUCCESS) << i;
    EXPECT_EQ(Put(&pod), BERTH_CONFLICT);
    EXPECT_EQ(Put(&pod, "Unusual"), BERTH_BAD_ARGUMENT);
  }).join();
  inbox_.Drain();
  EXPECT_EQ(Put(&pod), BERTH_SUCCESS);
  EXPECT_EQ(served_.events().size(), 10U) << "the cluster keeps ten";
}

TEST_F(EventServiceTest, CutsOffALongNote) {
  const berth_tagged pod = pod_tag();
  Put(&pod, "Normal", "R", "A", std::string(1024, 'x'));
  Put(&pod, "Normal", "R", "A", std::string(1025, 'x'));
  ASSERT_EQ(served_.events().size(), 2U);
  EXPECT_EQ(served_.events()[0].note, std::string(1024, 'x'));
  EXPECT_EQ(served_.events()[1].note, std::string(1020, 'x') + " ...");
}

TEST_F(EventServiceTest, LongNoteIsNotCutWithinACharacter) {
  const berth_tagged pod = pod_tag();
  Put(&pod, "Normal", "R", "A", std::string(1019, 'x') + "\xc3\xa4" + std::string(10, 'y'));
  ASSERT_EQ(served_.events().size(), 1U);
  EXPECT_EQ(served_.events()[0].note, std::string(1019, 'x') + " ...");
}

}  // namespace
}  // namespace berth::host
