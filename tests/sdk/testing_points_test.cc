// Tests the test kit: the extension points that are not called per block of nodes, and the services
// of the fake host.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The services that create() found, for the functions of the sample plugins.
struct Found {
  const berth_host* host = nullptr;
  const berth_log* log = nullptr;
  const berth_values* values = nullptr;
  const berth_metrics* metrics = nullptr;
  const berth_objects* objects = nullptr;
  const berth_timer* timer = nullptr;
  const berth_completion* completion = nullptr;
  uint32_t metric = 0;
};
Found found;

template <class T>
void Find(const char* id, const T** service) {
  const void* given = nullptr;
  found.host->get_service(found.host, id, &given);
  *service = static_cast<const T*>(given);
}

berth_code FindServices(const berth_host* host, const berth_value*, berth_status*) {
  found.host = host;
  Find(BERTH_SERVICE_LOG, &found.log);
  Find(BERTH_SERVICE_VALUES, &found.values);
  Find(BERTH_SERVICE_METRICS, &found.metrics);
  Find(BERTH_SERVICE_OBJECTS, &found.objects);
  Find(BERTH_SERVICE_TIMER, &found.timer);
  Find(BERTH_SERVICE_COMPLETION, &found.completion);
  const berth_str label = ToAbi("result");
  const berth_metric metric = {sizeof metric,
                               BERTH_METRIC_COUNTER,
                               ToAbi("sample_total"),
                               ToAbi("Samples."),
                               &label,
                               1,
                               nullptr,
                               0};
  return found.metrics->define(host, &metric, &found.metric);
}

std::vector<std::string> FindingsOf(const Parts& parts,
                                    const std::function<void(PluginUnderTest&)>& use) {
  return Findings(parts, {.nodes = {MakeNode("a")}}, use);
}

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

TEST(Hint, AnUnspecifiedUpdateNeedsAnInterestInEveryUpdate) {
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
      [](void*, const berth_pod* pod, berth_status* status) noexcept -> berth_code {
        if (pod->scheduling_gates.count == 0) return BERTH_SUCCESS;
        status->add_reason(status, ToAbi("gated"));
        return BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE;
      }};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {});
  EXPECT_EQ(plugin.PreEnqueue(MakePod("p")), Success());
  EXPECT_EQ(plugin.PreEnqueue(MakePod("p").Gate("g")), Unresolvable("gated"));
}

TEST(Permit, ReturnsWaitWithATimeout) {
  Parts parts;
  parts.permit = {sizeof(berth_permit), 0,
                  [](void*, const berth_cycle* cycle, const berth_target*, int64_t* timeout_ns,
                     berth_status*) noexcept -> berth_code {
                    *timeout_ns = cycle->pod->priority;
                    return BERTH_WAIT;
                  }};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")}});
  const PermitResult result = plugin.Permit(MakePod("p").Priority(5), "a");
  EXPECT_EQ(result.answer.code, BERTH_WAIT);
  EXPECT_EQ(result.timeout_ns, 5);
  EXPECT_THAT(FindingsOf(parts, [](PluginUnderTest& p) { p.Permit(MakePod("p"), "a"); }),
              Contains(HasSubstr("Permit returns Wait with a timeout of 0 ns")));
}

TEST(Bind, CompletesLaterAndOnlyOnce) {
  static berth_done* pending = nullptr;
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {
      sizeof(berth_bind), 0,
      [](void*, const berth_binding*, berth_done* done, berth_status*) noexcept -> berth_code {
        pending = done;
        return BERTH_PENDING;
      }};
  const auto findings = FindingsOf(parts, [](PluginUnderTest& plugin) {
    Placement placement = plugin.Place(MakePod("p"));
    EXPECT_EQ(placement.Bind("a").code, BERTH_PENDING);
    EXPECT_FALSE(placement.completion().completed);
    found.completion->complete(pending, BERTH_SUCCESS, ToAbi(""));
    EXPECT_TRUE(placement.completion().completed);
    found.completion->complete(pending, BERTH_SUCCESS, ToAbi(""));
  });
  EXPECT_THAT(findings, Contains(HasSubstr("completes a call twice")));
}

TEST(Bind, OnAPoolThreadMayCallOnlyAnyServices) {
  Parts parts;
  parts.create = &FindServices;
  parts.bind = {sizeof(berth_bind), 0,
                [](void*, const berth_binding*, berth_done*, berth_status*) noexcept -> berth_code {
                  uint64_t timer = 0;
                  found.timer->start(
                      found.host, 1, [](void*) {}, nullptr, &timer);
                  return BERTH_SUCCESS;
                }};
  const auto bind = [](PluginUnderTest& plugin) { plugin.Bind(MakePod("p"), "a"); };
  EXPECT_THAT(FindingsOf(parts, bind), IsEmpty());
  parts.flags = BERTH_PLUGIN_BLOCKS_IN_BIND;
  EXPECT_THAT(FindingsOf(parts, bind),
              Contains(HasSubstr("calls timer.start from Bind [bind] on a pool thread")));
}

TEST(Services, RecordLogAndMetrics) {
  Parts parts = CorrectFilter();
  parts.create = &FindServices;
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle*, const berth_nodes*, berth_pre_filter_out*,
                         berth_status*) noexcept -> berth_code {
                        const berth_str_pair pair{ToAbi("k"), ToAbi("v")};
                        found.log->log(found.host, BERTH_LOG_WARN, ToAbi("hello"), &pair, 1);
                        const berth_str label = ToAbi("ok");
                        found.metrics->observe(found.host, found.metric, &label, 2);
                        return BERTH_SUCCESS;
                      },
                      nullptr, nullptr};
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")},
                                           .without = {Check::kRepeat, Check::kWhatIf,
                                                       Check::kDependence, Check::kLeaks}});
  plugin.Filter(MakePod("p"));
  ASSERT_EQ(plugin.log().size(), 1u);
  EXPECT_EQ(plugin.log()[0].message, "hello");
  EXPECT_EQ(plugin.log()[0].pairs.at("k"), "v");
  const Metric& metric = plugin.metrics().at("sample_total");
  ASSERT_EQ(metric.observations.size(), 1u);
  EXPECT_THAT(metric.observations[0].first, ElementsAre("ok"));
  EXPECT_EQ(metric.observations[0].second, 2);
}

TEST(Services, TimersFollowTheVirtualClock) {
  static std::vector<int64_t> fired;
  fired.clear();
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    FindServices(host, args, status);
    const auto fire = [](void*) { fired.push_back(found.timer->now_ns(found.host)); };
    uint64_t first = 0;
    uint64_t second = 0;
    uint64_t third = 0;
    found.timer->start(host, 20, fire, nullptr, &second);
    found.timer->start(host, 10, fire, nullptr, &first);
    found.timer->start(host, 15, fire, nullptr, &third);
    EXPECT_EQ(found.timer->cancel(host, third), BERTH_SUCCESS);
    return berth_code{BERTH_SUCCESS};
  };
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(), {.nodes = {MakeNode("a")}});
  plugin.Advance(9);
  EXPECT_THAT(fired, IsEmpty());
  plugin.Advance(1);
  EXPECT_THAT(fired, ElementsAre(10));
  plugin.Advance(100);
  EXPECT_THAT(fired, ElementsAre(10, 20));
}

TEST(Services, ProvideTheObjectsOfTheTest) {
  static std::vector<std::string> seen;
  seen.clear();
  Parts parts = CorrectFilter();
  parts.kinds = {"v1/PersistentVolumeClaim"};
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    FindServices(host, args, status);
    return found.objects->watch(
        host, ToAbi("v1/PersistentVolumeClaim"),
        [](void*, const berth_object* old, const berth_object* now) {
          const auto number = [](const berth_object* object) {
            if (object == nullptr) return std::string("-");
            return std::to_string(
                found.values->as_int(found.values->get(object->value, ToAbi("n"))));
          };
          seen.push_back(number(old) + " " + number(now));
        },
        nullptr);
  };
  const SampleLibrary library(parts);
  const auto claim = [](const char* json) {
    return MakeObject("v1/PersistentVolumeClaim", "default", "c", json);
  };
  PluginUnderTest plugin(library.entry(),
                         {.nodes = {MakeNode("a")}, .objects = {claim(R"({"n": 0})")}});
  plugin.PutObject(claim(R"({"n": 1})"));
  plugin.PutObject(claim(R"({"n": 2})"));
  plugin.RemoveObject(claim(R"({"n": 2})"));
  plugin.PutObject(MakeObject("v1/Other", "", "o"));
  EXPECT_THAT(seen, ElementsAre("- 0", "0 1", "1 2", "2 -"));
}

TEST(Services, ObjectsMustBeDeclaredAndReleased) {
  Parts parts = CorrectFilter();
  parts.create = &FindServices;
  parts.kinds = {"v1/Kept"};
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle*, const berth_nodes*, berth_pre_filter_out*,
                         berth_status*) noexcept -> berth_code {
                        found.objects->get(found.host, ToAbi("v1/Secret"), ToAbi(""), ToAbi("s"));
                        const auto* kept =
                            found.objects->get(found.host, ToAbi("v1/Kept"), ToAbi(""), ToAbi("k"));
                        found.objects->retain(found.host, kept);
                        return BERTH_SUCCESS;
                      },
                      nullptr, nullptr};
  const auto findings =
      Findings(parts, {.nodes = {MakeNode("a")}, .objects = {MakeObject("v1/Kept", "", "k")}},
               [](PluginUnderTest& plugin) { plugin.Filter(MakePod("p")); });
  EXPECT_THAT(
      findings,
      Contains(HasSubstr("asks for objects of kind v1/Secret, which its berth_plugin_info.kinds")));
  EXPECT_THAT(findings, Contains(HasSubstr("keeps 1 retained objects after destroy")));
}

TEST(Services, ArgumentsAreReadInCreate) {
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value* args, berth_status* status) {
    FindServices(host, args, status);
    const berth_value* value = found.values->get(args, ToAbi("cpuMilli"));
    if (found.values->kind(value) != BERTH_VALUE_INT) {
      status->add_argument_error(status, ToAbi("/cpuMilli"), ToAbi("expected an integer"));
      return berth_code{BERTH_BAD_ARGUMENT};
    }
    return found.values->as_int(value) == 200 ? berth_code{BERTH_SUCCESS} : berth_code{BERTH_ERROR};
  };
  const SampleLibrary library(parts);
  EXPECT_EQ(PluginUnderTest::Create(library.entry(), {.args = {{"cpuMilli", 200}}}), Success());
  EXPECT_EQ(PluginUnderTest::Create(library.entry(), {.args = R"({"cpuMilli": "x"})"}),
            MakeAnswer(BERTH_BAD_ARGUMENT, {"/cpuMilli: expected an integer"}));
  EXPECT_EQ(PluginUnderTest::Create(library.entry(), {}).code, BERTH_BAD_ARGUMENT);
}

TEST(Services, CanBeReplacedByTheTest) {
  static const berth_activate kActivate{sizeof(berth_activate), 0, nullptr};
  static berth_code answers[3];
  static const void* given = nullptr;
  Parts parts = CorrectFilter();
  parts.create = [](const berth_host* host, const berth_value*, berth_status*) {
    const void* service = nullptr;
    answers[0] = host->get_service(host, BERTH_SERVICE_ACTIVATE, &given);
    answers[1] = host->get_service(host, BERTH_SERVICE_WAITING, &service);
    answers[2] = host->get_service(host, "acme.none/1", &service);
    return berth_code{BERTH_SUCCESS};
  };
  const SampleLibrary library(parts);
  EXPECT_EQ(PluginUnderTest::Create(library.entry(),
                                    {.services = {{BERTH_SERVICE_ACTIVATE, &kActivate}}}),
            Success());
  EXPECT_THAT(answers, ElementsAre(BERTH_SUCCESS, BERTH_UNSUPPORTED, BERTH_NOT_FOUND));
  EXPECT_EQ(given, &kActivate);
}

}  // namespace
}  // namespace berth::testing
