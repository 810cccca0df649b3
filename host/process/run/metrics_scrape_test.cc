// The text of /metrics after a run of the scheduler: what dashboards for kube-scheduler read.
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/cycle/cycle_meter.h"
#include "host/serve/metrics_page.h"
#include "tests/harness/default_profile.h"
#include "tests/harness/harness.h"

namespace berth::host {
namespace {

using ::testing::IsSubsetOf;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

// One metric of a page.
struct ScrapedMetric {
  std::string type;
  std::map<std::string, std::set<std::string>> labels;  // The values of each label except "le".
  std::vector<std::string> bounds;                      // The values of "le", without "+Inf".

  // Returns "histogram{profile,result} 15: 0.001 to 16.384".
  std::string Shape() const {
    std::string text = type + "{";
    for (const auto& [label, values] : labels) {
      text.append(text.back() == '{' ? "" : ",").append(label);
    }
    text += '}';
    if (bounds.empty()) return text;
    return text.append(" ").append(std::to_string(bounds.size())).append(": ") + bounds.front() +
           " to " + bounds.back();
  }
};

// Reads `name{a="x",le="1"} 2`. No value of these tests has a comma, a quote or a brace.
void ReadSample(const std::string& line, std::map<std::string, ScrapedMetric>& metrics) {
  std::string name = line.substr(0, line.find_first_of("{ "));
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string base = name.substr(0, name.size() - suffix.size());
    if (metrics.contains(base)) name = base;
  }
  ASSERT_TRUE(metrics.contains(name)) << line << ": a sample without a type";
  ScrapedMetric& metric = metrics[name];
  if (line.find('{') == std::string::npos) return;
  std::istringstream pairs(line.substr(line.find('{') + 1, line.find('}') - line.find('{') - 1));
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const size_t equals = pair.find('=');
    const std::string label = pair.substr(0, equals);
    const std::string value = pair.substr(equals + 2, pair.size() - equals - 3);
    if (label != "le") {
      metric.labels[label].insert(value);
    } else if (value != "+Inf" && std::ranges::find(metric.bounds, value) == metric.bounds.end()) {
      metric.bounds.push_back(value);
    }
  }
}

std::map<std::string, ScrapedMetric> Scrape(const MetricTable& table) {
  std::map<std::string, ScrapedMetric> metrics;
  std::istringstream page(ToMetricsText(table.Read()));
  for (std::string line; std::getline(page, line);) {
    std::istringstream words(line);
    std::string hash, keyword, name, type;
    words >> hash >> keyword >> name >> type;
    if (keyword == "TYPE") metrics[name].type = type;
    if (hash != "#") ReadSample(line, metrics);
  }
  return metrics;
}

// A scheduler with the default profile that binds pods, and parks and gates others.
class MetricsScrapeTest : public ::testing::Test {
 protected:
  MetricsScrapeTest() {
    harness_.options().metrics = &metrics_;
    const Status status = harness_.Start(DefaultPlanSpec(TestCatalog()));
    EXPECT_TRUE(status.ok()) << status.ToString();
    for (const char* name : {"n1", "n2"}) {
      harness_.AddNode({.name = name, .allocatable = R"("cpu":"8","memory":"16Gi","pods":"20")"});
    }
    for (int i = 0; i < 12; ++i) AddPod("small" + std::to_string(i), "1");
    AddPod("huge", "100");
    harness_.AddPod({.name = "gated", .spec = R"("schedulingGates":[{"name":"later"}])"});
    harness_.Run();
    harness_.Advance(30 * kSecond);
  }

  void AddPod(const std::string& name, const std::string& cpu) {
    harness_.AddPod({.name = name, .requests = R"("cpu":")" + cpu + '"'});
  }

  MetricTable table_;
  SchedulerMetrics metrics_{table_};
  Harness harness_;
};

TEST_F(MetricsScrapeTest, MetricsAreThoseOfKubeScheduler) {
  std::map<std::string, std::string> shapes;
  for (const auto& [name, metric] : Scrape(table_)) shapes[name] = metric.Shape();
  const std::map<std::string, std::string> expected = {
      {"scheduler_cache_size", "gauge{type}"},
      {"scheduler_event_handling_duration_seconds", "histogram{event} 12: 0.0001 to 0.2048"},
      {"scheduler_framework_extension_point_duration_seconds",
       "histogram{extension_point,profile,status} 12: 0.0001 to 0.2048"},
      {"scheduler_goroutines", "gauge{operation}"},
      {"scheduler_inflight_events", "gauge{event}"},
      {"scheduler_pending_pods", "gauge{queue}"},
      {"scheduler_plugin_evaluation_total", "counter{extension_point,plugin,profile}"},
      {"scheduler_plugin_execution_duration_seconds",
       "histogram{extension_point,plugin,status} 20: 1e-05 to 0.02216837820053101"},
      {"scheduler_pod_scheduled_after_flush_total", "counter{}"},
      {"scheduler_pod_scheduling_attempts", "histogram{} 5: 1 to 16"},
      {"scheduler_pod_scheduling_sli_duration_seconds", "histogram{attempts} 20: 0.01 to 5242.88"},
      {"scheduler_preemption_attempts_total", "counter{}"},
      {"scheduler_preemption_victims", "histogram{} 7: 1 to 64"},
      {"scheduler_queue_incoming_pods_total", "counter{event,queue}"},
      {"scheduler_schedule_attempts_total", "counter{profile,result}"},
      {"scheduler_scheduling_algorithm_duration_seconds", "histogram{} 15: 0.001 to 16.384"},
      {"scheduler_scheduling_attempt_duration_seconds",
       "histogram{profile,result} 15: 0.001 to 16.384"},
      {"scheduler_unschedulable_pods", "gauge{plugin,profile}"}};
  EXPECT_EQ(shapes, expected);
}

TEST_F(MetricsScrapeTest, LabelValuesAreThoseOfKubeScheduler) {
  const auto scraped = Scrape(table_);
  const auto values = [&scraped](const char* name, const char* label) {
    return scraped.at(name).labels.at(label);
  };
  EXPECT_THAT(values("scheduler_schedule_attempts_total", "result"),
              UnorderedElementsAre("scheduled", "unschedulable", "error"));
  EXPECT_THAT(values("scheduler_schedule_attempts_total", "profile"),
              UnorderedElementsAre("default-scheduler"));
  EXPECT_THAT(values("scheduler_pending_pods", "queue"),
              UnorderedElementsAre("active", "backoff", "gated", "unschedulable"));
  EXPECT_THAT(values("scheduler_cache_size", "type"),
              UnorderedElementsAre("assumed_pods", "nodes", "pods"));
  EXPECT_THAT(values("scheduler_queue_incoming_pods_total", "event"),
              IsSupersetOf({"UnscheduledPodAdd", "ScheduleAttemptFailure"}));
  EXPECT_THAT(
      values("scheduler_framework_extension_point_duration_seconds", "extension_point"),
      UnorderedElementsAre("Bind", "Filter", "Permit", "PostBind", "PreBind", "PreBindPreFlight",
                           "PreFilter", "PreScore", "Reserve", "Score"));
  EXPECT_THAT(values("scheduler_framework_extension_point_duration_seconds", "status"),
              IsSubsetOf({"Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable",
                          "Wait", "Skip", "Pending"}));
  EXPECT_THAT(values("scheduler_plugin_evaluation_total", "extension_point"),
              UnorderedElementsAre("Filter", "PreFilter", "PreScore", "Score"));
}

}  // namespace
}  // namespace berth::host
