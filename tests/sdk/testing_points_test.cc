// Tests the test kit: the extension points that are not called per block of nodes.
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_found.h"
#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Hint, IsCalledOnlyForRegisteredEvents) {
  static const berth_event_interest kInterests[] = {
      {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, nullptr, 1, 0, 0},
      {BERTH_RESOURCE_ASSIGNED_POD, BERTH_ACTION_DELETE, nullptr, 0, 0, 0}};
  Parts parts;
  parts.enqueue_extensions = {
      sizeof(berth_enqueue_extensions),
      0,
      {kInterests, 2, sizeof kInterests[0]},
      [](void*, const berth_queued*, const berth_event* event) noexcept -> uint32_t {
        const auto* node = static_cast<const berth_node*>(event->after.object);
        return event->after.kind == BERTH_KIND_NODE && node->unschedulable == 0 ? BERTH_HINT_QUEUE
                                                                                : BERTH_HINT_SKIP;
      }};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  const auto hint = [&](const NodeSpec& node) {
    return plugin.Hint(
        MakePod("p"),
        {.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD, .new_node = {node}});
  };
  EXPECT_EQ(hint(MakeNode("n")), uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(hint(MakeNode("n").Unschedulable()), uint32_t{BERTH_HINT_SKIP});
  EXPECT_EQ(plugin.Hint(MakePod("p"),
                        {.resource = BERTH_RESOURCE_ASSIGNED_POD, .action = BERTH_ACTION_DELETE}),
            uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_PVC, .action = BERTH_ACTION_ADD}),
            uint32_t{BERTH_HINT_SKIP});
}

Parts WithHint(const berth_event_interest (&interests)[2],
               uint32_t (*hint)(void*, const berth_queued*, const berth_event*) noexcept) {
  Parts parts;
  parts.enqueue_extensions = {
      sizeof(berth_enqueue_extensions), 0, {interests, 2, sizeof interests[0]}, hint};
  return parts;
}

TEST(Hint, OnlyUnscheduledPodCoversPodsWithoutANode) {
  for (const uint32_t resource : {BERTH_RESOURCE_UNSCHEDULED_POD, BERTH_RESOURCE_POD_ANY,
                                  BERTH_RESOURCE_ASSIGNED_POD, BERTH_RESOURCE_WILDCARD}) {
    const berth_event_interest interests[] = {
        {resource, BERTH_ACTION_ALL, nullptr, 0, 0, 0},
        {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, nullptr, 0, 0, 0}};
    const SampleLibrary library(WithHint(interests, nullptr));
    PluginUnderTest plugin(library.entry(), {});
    EXPECT_EQ(
        plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_POD_ANY,
                                   .action = BERTH_ACTION_ADD,
                                   .new_pod = {MakePod("q")}}),
        uint32_t{resource == BERTH_RESOURCE_UNSCHEDULED_POD ? BERTH_HINT_QUEUE : BERTH_HINT_SKIP});
  }
}

TEST(Hint, ReceivesTheExactPodResource) {
  static const berth_event_interest kInterests[] = {
      {BERTH_RESOURCE_POD_ANY, BERTH_ACTION_UPDATE, nullptr, 1, 0, 0},
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_DELETE, nullptr, 0, 0, 0}};
  static uint32_t resource = 0;
  const SampleLibrary library(WithHint(
      kInterests, [](void*, const berth_queued*, const berth_event* event) noexcept -> uint32_t {
        resource = event->resource;
        return BERTH_HINT_QUEUE;
      }));
  PluginUnderTest plugin(library.entry(), {});
  const auto hint = [&](uint32_t action, const PodSpec& changed) {
    resource = 0;
    return plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_POD_ANY,
                                      .action = action,
                                      .old_pod = {changed},
                                      .new_pod = {changed}});
  };
  EXPECT_EQ(hint(BERTH_ACTION_UPDATE, MakePod("p")), uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(resource, uint32_t{BERTH_RESOURCE_TARGET_POD});
  hint(BERTH_ACTION_UPDATE_POD_LABEL, MakePod("q").NodeName("a"));
  EXPECT_EQ(resource, uint32_t{BERTH_RESOURCE_ASSIGNED_POD});
  EXPECT_EQ(hint(BERTH_ACTION_DELETE, MakePod("p")), uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(hint(BERTH_ACTION_DELETE, MakePod("q")), uint32_t{BERTH_HINT_SKIP});
}

TEST(Hint, UnspecifiedUpdateNeedsAnInterestInEveryUpdate) {
  static const berth_event_interest kInterests[] = {
      {BERTH_RESOURCE_TARGET_POD, BERTH_ACTION_UPDATE_POD_LABEL, nullptr, 0, 0, 0},
      {BERTH_RESOURCE_PVC, BERTH_ACTION_UPDATE, nullptr, 0, 0, 0}};
  const SampleLibrary library(WithHint(kInterests, nullptr));
  PluginUnderTest plugin(library.entry(), {});
  EXPECT_EQ(plugin.Hint(MakePod("p"),
                        {.resource = BERTH_RESOURCE_TARGET_POD, .action = BERTH_ACTION_UPDATE}),
            uint32_t{BERTH_HINT_SKIP});
  EXPECT_EQ(
      plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_PVC, .action = BERTH_ACTION_UPDATE}),
      uint32_t{BERTH_HINT_QUEUE});
}

// A plugin that was built with a later version of abi.h may return a value that is unknown here.
TEST(Hint, AnUnknownValueCountsAsQueue) {
  static const berth_event_interest kInterests[] = {
      {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, nullptr, 1, 0, 0},
      {BERTH_RESOURCE_POD_ANY, BERTH_ACTION_DELETE, nullptr, 1, 0, 0}};
  const SampleLibrary library(
      WithHint(kInterests, [](void*, const berth_queued*, const berth_event*) noexcept -> uint32_t {
        return BERTH_HINT_QUEUE + 1;
      }));
  for (const uint16_t newer : {uint16_t{0}, uint16_t{1}}) {
    berth_entry entry = library.entry();
    entry.abi_minor = static_cast<uint16_t>(entry.abi_minor + newer);
    std::vector<std::string> findings;
    PluginUnderTest plugin(
        entry, {.on_failure = [&](const std::string& text) { findings.push_back(text); }});
    EXPECT_EQ(plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_NODE,
                                         .action = BERTH_ACTION_ADD,
                                         .new_node = {MakeNode("n")}}),
              uint32_t{BERTH_HINT_QUEUE});
    if (newer != 0) {
      EXPECT_THAT(findings, IsEmpty());
    } else {
      EXPECT_THAT(findings, ElementsAre(HasSubstr("hint returns 2, which is not a BERTH_HINT_*")));
    }
  }
}

// Requeues pods with a label, but declares that it reads tolerations.
uint32_t HintByLabels(void*, const berth_queued* queued, const berth_event*) noexcept {
  return queued->pod->meta->labels.count != 0 ? BERTH_HINT_QUEUE : BERTH_HINT_SKIP;
}

TEST(Hint, ReportsUndeclaredPartsOfThePod) {
  static const berth_event_interest kTolerations[] = {
      {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, nullptr, 1, 0, BERTH_PART(TOLERATIONS)},
      {BERTH_RESOURCE_POD_ANY, BERTH_ACTION_DELETE, nullptr, 1, 0, BERTH_PART(TOLERATIONS)}};
  static const berth_event_interest kLabels[] = {
      {BERTH_RESOURCE_NODE, BERTH_ACTION_ADD, nullptr, 1, 0, BERTH_PART(LABELS)},
      {BERTH_RESOURCE_POD_ANY, BERTH_ACTION_DELETE, nullptr, 1, 0, 0}};
  const auto node_added = [](PluginUnderTest& plugin) {
    plugin.Hint(
        MakePod("p"),
        {.resource = BERTH_RESOURCE_NODE, .action = BERTH_ACTION_ADD, .new_node = {MakeNode("n")}});
  };
  const auto gone = [](const std::string& name) {
    return [name](PluginUnderTest& plugin) {
      plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_POD_ANY,
                                 .action = BERTH_ACTION_DELETE,
                                 .old_pod = {MakePod(name).NodeName("n")}});
    };
  };
  EXPECT_THAT(FindingsOf(WithHint(kTolerations, &HintByLabels), node_added),
              ElementsAre(AllOf(HasSubstr("the hint of interest 0 for pod default/p depends on the "
                                          "pod's LABELS, which pod_parts does not name: Skip, "
                                          "then Queue with this part changed"),
                                HasSubstr("kHints"))));
  EXPECT_THAT(FindingsOf(WithHint(kTolerations, &HintByLabels), gone("q")),
              ElementsAre(HasSubstr("the hint of interest 1")));
  EXPECT_THAT(FindingsOf(WithHint(kTolerations, &HintByLabels), gone("p")), IsEmpty())
      << "for the pod itself the hint is always called";
  EXPECT_THAT(FindingsOf(WithHint(kLabels, &HintByLabels), node_added), IsEmpty());
  EXPECT_THAT(FindingsOf(WithHint(kLabels, &HintByLabels), gone("q")), IsEmpty())
      << "without declared parts the hint is called for each pod";
}

TEST(Hint, ReceivesObjects) {
  static const berth_event_interest kInterests[] = {
      {BERTH_RESOURCE_PVC, BERTH_ACTION_UPDATE, nullptr, 1, 0, 0}};
  Parts parts;
  parts.enqueue_extensions = {
      sizeof(berth_enqueue_extensions),
      0,
      {kInterests, 1, sizeof kInterests[0]},
      [](void*, const berth_queued*, const berth_event* event) noexcept -> uint32_t {
        const auto volume = [](const berth_tagged& tagged) {
          if (tagged.kind != BERTH_KIND_OBJECT) return berth_str{nullptr, 0};
          const berth_value* value = static_cast<const berth_object*>(tagged.object)->value;
          const berth_values* reader = value->reader;
          return reader->as_string(
              reader->get(reader->get(value, ToAbi("spec")), ToAbi("volumeName")));
        };
        const bool bound = volume(event->before).len == 0 && volume(event->after).len != 0;
        return bound ? BERTH_HINT_QUEUE : BERTH_HINT_SKIP;
      }};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  const auto claim = [](const char* json) {
    return MakeObject("v1/PersistentVolumeClaim", "default", "c", json);
  };
  const ObjectSpec open = claim("{}");
  const ObjectSpec bound = claim(R"({"spec": {"volumeName": "pv"}})");
  const auto hint = [&](const ObjectSpec& before, const ObjectSpec& after) {
    return plugin.Hint(MakePod("p"), {.resource = BERTH_RESOURCE_PVC,
                                      .action = BERTH_ACTION_UPDATE,
                                      .old_object = {before},
                                      .new_object = {after}});
  };
  EXPECT_EQ(hint(open, bound), uint32_t{BERTH_HINT_QUEUE});
  EXPECT_EQ(hint(bound, open), uint32_t{BERTH_HINT_SKIP});
}

TEST(PreEnqueue, ReturnsAStatus) {
  Parts parts;
  parts.pre_enqueue = {
      sizeof(berth_pre_enqueue), 0,
      [](void*, const berth_queued* queued, berth_status* status) noexcept -> berth_code {
        const bool is_member = queued->group.len != 0;
        if (queued->kind != (is_member ? BERTH_QUEUED_MEMBER : BERTH_QUEUED_POD))
          return BERTH_ERROR;
        if (queued->attempts > 2 || queued->pod->scheduling_gates.count == 0) return BERTH_SUCCESS;
        status->add_reason(status, ToAbi("gated"));
        return BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
      }};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  EXPECT_EQ(plugin.PreEnqueue(MakePod("p")), Success());
  EXPECT_EQ(plugin.PreEnqueue(MakePod("p").Gate("g")), Unresolvable("gated"));
  QueuedSpec queued{.pod = MakePod("p").Gate("g"), .group = "default/g", .attempts = 2};
  EXPECT_EQ(plugin.PreEnqueue(queued), Unresolvable("gated"));
  queued.attempts = 3;
  EXPECT_EQ(plugin.PreEnqueue(queued), Success());
}

TEST(Permit, ReturnsWaitWithATimeout) {
  Parts parts;
  parts.permit = {sizeof(berth_permit), 0,
                  [](void*, const berth_cycle* cycle, const berth_target*, berth_permit_out* out,
                     berth_status*) noexcept -> berth_code {
                    out->timeout_ns = cycle->pod->priority;
                    return BERTH_WAIT;
                  }};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")}});
  const PermitResult result = plugin.Permit(MakePod("p").Priority(5), "a");
  EXPECT_EQ(result.answer.code, BERTH_WAIT);
  EXPECT_EQ(result.timeout_ns, 5);
}

TEST(Bind, CompletesLaterAndOnlyOnce) {
  static berth_done pending = {};
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {
      sizeof(berth_bind), 0,
      [](void*, const berth_binding*, berth_done done, berth_status*) noexcept -> berth_code {
        pending = done;
        return BERTH_PENDING;
      }};
  const auto findings = FindingsOf(parts, [](PluginUnderTest& plugin) {
    Placement placement = plugin.Place(MakePod("p"));
    EXPECT_EQ(placement.Bind("a").code, BERTH_PENDING);
    EXPECT_FALSE(placement.completion().completed);
    const berth_outcome outcome{sizeof outcome, BERTH_SUCCESS, {}};
    found.completion->complete(pending, &outcome);
    EXPECT_TRUE(placement.completion().completed);
    found.completion->complete(pending, &outcome);
    found.completion->complete({pending.host, pending.id + 1}, &outcome);
    found.completion->complete({pending.host, 0}, &outcome);
  });
  EXPECT_THAT(findings, Contains(HasSubstr("completes a call twice")));
  EXPECT_THAT(findings, Contains(HasSubstr("completes promise 2, which it never got")));
  EXPECT_THAT(findings, Contains(HasSubstr("completes promise 0, which it never got")));
}

TEST(Bind, ReportsAnOutcomeThatIsTooSmall) {
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {
      sizeof(berth_bind), 0,
      [](void*, const berth_binding*, berth_done done, berth_status*) noexcept -> berth_code {
        const berth_outcome outcome{offsetof(berth_outcome, reasons), BERTH_SUCCESS, {}};
        found.completion->complete(done, &outcome);
        return BERTH_PENDING;
      }};
  EXPECT_THAT(FindingsOf(parts,
                         [](PluginUnderTest& plugin) {
                           Placement placement = plugin.Place(MakePod("p"));
                           placement.Bind("a");
                           EXPECT_EQ(placement.completion().answer.code, BERTH_BUG);
                         }),
              Contains(HasSubstr("calls completion.complete with a struct_size of 8; expected at "
                                 "least 24 [kShape]")));
}

TEST(Bind, OnPoolThreadMayCallOnlyAnyServices) {
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {sizeof(berth_bind), 0,
                [](void*, const berth_binding*, berth_done, berth_status*) noexcept -> berth_code {
                  uint64_t timer = 0;
                  found.timer->start(
                      found.host, 1, [](void*) noexcept {}, nullptr, &timer);
                  return BERTH_SUCCESS;
                }};
  const auto bind = [](PluginUnderTest& plugin) { plugin.Bind(MakePod("p"), "a"); };
  EXPECT_THAT(FindingsOf(parts, bind), IsEmpty());
  parts.flags = BERTH_PLUGIN_BLOCKS_IN_BIND;
  EXPECT_THAT(FindingsOf(parts, bind),
              Contains(HasSubstr("calls timer.start from Bind [bind] on a pool thread")));
}

}  // namespace
}  // namespace berth::testing
