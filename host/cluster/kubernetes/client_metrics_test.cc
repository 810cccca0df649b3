#include "host/cluster/kubernetes/client_metrics.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/time_units.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class ClientMetricsTest : public ::testing::Test {
 protected:
  MetricTable::Metric Metric(const std::string& name) {
    for (MetricTable::Metric& metric : table_.Read()) {
      if (metric.name == name) return std::move(metric);
    }
    ADD_FAILURE() << "there is no metric " << name;
    return {};
  }
  // Returns the label values, joined by commas, and the value of each series.
  std::vector<std::pair<std::string, double>> Values(const std::string& name) {
    std::vector<std::pair<std::string, double>> values;
    for (const MetricTable::Series& series : Metric(name).series) {
      std::string labels;
      for (const std::string& value : series.label_values) {
        labels += (labels.empty() ? "" : ",") + value;
      }
      values.emplace_back(labels, series.value);
    }
    return values;
  }
  static WatchState Watch(const std::string& kind, const ReflectorCounts& counts,
                          int64_t silence_ns = 0) {
    WatchState state;
    state.kind = kind;
    state.counts = counts;
    state.silence_ns = silence_ns;
    return state;
  }

  MetricTable table_;
  ClientMetrics metrics_{table_};
};

TEST_F(ClientMetricsTest, HasNamesLabelsAndBucketsOfKubeScheduler) {
  struct Case {
    const char* name;
    std::vector<std::string> labels;
    std::vector<double> bounds;
  };
  const std::vector<double> seconds = {0.005, 0.025, 0.1, 0.25, 0.5,  1.0,
                                       2.0,   4.0,   8.0, 15.0, 30.0, 60.0};
  const std::vector<double> bytes = {64,    256,    512,     1024,    4096,    16384,
                                     65536, 262144, 1048576, 4194304, 16777216};
  const Case cases[] = {
      {"rest_client_request_size_bytes", {"verb", "host"}, bytes},
      {"rest_client_response_size_bytes", {"verb", "host"}, bytes},
      {"rest_client_requests_total", {"code", "method", "host"}, {}},
      {"rest_client_request_duration_seconds", {"verb", "host"}, seconds},
      {"rest_client_rate_limiter_duration_seconds", {"verb", "host"}, seconds},
      {"leader_election_master_status", {"name"}, {}},
      {"leader_election_slowpath_total", {"name"}, {}},
  };
  for (const Case& c : cases) {
    const MetricTable::Metric metric = Metric(c.name);
    EXPECT_EQ(metric.labels, c.labels) << c.name;
    EXPECT_EQ(metric.bounds, c.bounds) << c.name;
    EXPECT_FALSE(metric.help.empty()) << c.name;
  }
}

TEST_F(ClientMetricsTest, CountsRequestsByTheirAnswers) {
  const std::string_view host = "10.0.0.1:6443";
  metrics_.OnRequest({.verb = "POST", .host = host, .http_status = 201});
  metrics_.OnRequest({.verb = "POST", .host = host, .http_status = 201});
  metrics_.OnRequest({.verb = "POST", .host = host, .http_status = 409});
  metrics_.OnRequest({.verb = "GET", .host = host, .http_status = 0});
  EXPECT_THAT(
      Values("rest_client_requests_total"),
      UnorderedElementsAre(Pair("201,POST,10.0.0.1:6443", 2), Pair("409,POST,10.0.0.1:6443", 1),
                           Pair("<error>,GET,10.0.0.1:6443", 1)));
}

TEST_F(ClientMetricsTest, ObservesTimesOfRequestsButNotOfStreams) {
  metrics_.OnRequest({.verb = "GET", .host = "h", .http_status = 200, .is_stream = true});
  EXPECT_THAT(Values("rest_client_requests_total"), ElementsAre(Pair("200,GET,h", 1)));
  EXPECT_THAT(Metric("rest_client_request_duration_seconds").series, IsEmpty());
  metrics_.OnRequest({.verb = "GET",
                      .host = "h",
                      .http_status = 200,
                      .took_ns = 300 * kMillisecond,
                      .waited_ns = 20 * kMillisecond});
  const auto took = Metric("rest_client_request_duration_seconds").series;
  ASSERT_EQ(took.size(), 1u);
  EXPECT_THAT(took[0].label_values, ElementsAre("GET", "h"));
  EXPECT_DOUBLE_EQ(took[0].histogram.sum, 0.3);
  EXPECT_EQ(took[0].histogram.buckets[4], 1u);  // Up to 0.5 s.
  const auto waited = Metric("rest_client_rate_limiter_duration_seconds").series;
  ASSERT_EQ(waited.size(), 1u);
  EXPECT_EQ(waited[0].histogram.buckets[1], 1u);  // Up to 25 ms.
}

TEST_F(ClientMetricsTest, ObservesTheSizesOfRequestsAndAnswers) {
  metrics_.OnRequest(
      {.verb = "POST", .host = "a", .http_status = 201, .request_bytes = 64, .response_bytes = 65});
  // Without an answer, only the request has a size.
  metrics_.OnRequest({.verb = "POST", .host = "a", .request_bytes = 300});
  metrics_.OnRequest({.verb = "GET", .host = "a", .http_status = 200, .is_stream = true});
  const MetricTable::Metric requests = Metric("rest_client_request_size_bytes");
  ASSERT_EQ(requests.series.size(), 1U);
  EXPECT_EQ(requests.series[0].label_values, (std::vector<std::string>{"POST", "a"}));
  EXPECT_EQ(requests.series[0].histogram.buckets,
            (std::vector<uint64_t>{1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(requests.series[0].histogram.sum, 364);
  const MetricTable::Metric answers = Metric("rest_client_response_size_bytes");
  ASSERT_EQ(answers.series.size(), 1U);
  EXPECT_EQ(answers.series[0].histogram.buckets,
            (std::vector<uint64_t>{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(ClientMetricsTest, CountsOpenConnections) {
  for (const int change : {1, 1, 1, -1}) metrics_.OnConnections(change);
  EXPECT_THAT(Values("berth_client_connections"), ElementsAre(Pair("", 2)));
}

TEST_F(ClientMetricsTest, AddsWhatClientHasCountedSinceLastUpdate) {
  ClientMetrics::Counts counts;
  counts.pods = {.conflicts = 2, .foreign = 1, .unknown = 5, .recovered = 3};
  counts.events = {.full = 7, .ended = 2, .refused = 1, .failed = 3};
  counts.fence_refusals = 4;
  metrics_.Update(counts);
  metrics_.Update(counts);
  counts.pods.conflicts = 6;
  counts.pods.foreign = 4;
  counts.events.full = 8;
  metrics_.Update(counts);
  EXPECT_THAT(Values("berth_bind_conflicts_total"), ElementsAre(Pair("", 6)));
  EXPECT_THAT(Values("berth_foreign_binds_total"), ElementsAre(Pair("", 4)));
  EXPECT_THAT(Values("berth_bind_lost_answers_total"), ElementsAre(Pair("", 5)));
  EXPECT_THAT(Values("berth_bind_recovered_total"), ElementsAre(Pair("", 3)));
  EXPECT_THAT(Values("berth_fence_refusals_total"), ElementsAre(Pair("", 4)));
  EXPECT_THAT(Values("berth_event_drops_total"),
              UnorderedElementsAre(Pair("full", 8), Pair("refused", 1), Pair("failed", 3),
                                   Pair("ended", 2)));
}

TEST_F(ClientMetricsTest, AddsUpTheWatchesOfAKind) {
  ClientMetrics::Counts counts;
  counts.watches = {
      Watch("v1/Node", {.lists = 1, .relists_expired = 2, .relists_error = 1}, 3 * kSecond),
      Watch("v1/Node", {.lists = 2, .relists_expired = 1, .undecodable = 4}, 9 * kSecond),
      Watch("v1/Pod", {.lists = 5}, kSecond - 1)};
  counts.watches[0].unreadable = {2, {"n1: /: bad"}};
  counts.watches[1].unreadable = {1, {}};
  metrics_.Update(counts);
  EXPECT_THAT(Values("berth_lists_total"), ElementsAre(Pair("v1/Node", 3), Pair("v1/Pod", 5)));
  EXPECT_THAT(Values("berth_relists_total"),
              ElementsAre(Pair("v1/Node,error", 1), Pair("v1/Node,expired", 3),
                          Pair("v1/Pod,error", 0), Pair("v1/Pod,expired", 0)));
  EXPECT_THAT(Values("berth_watch_silence_seconds"),
              ElementsAre(Pair("v1/Node", 9), Pair("v1/Pod", 0)));
  EXPECT_THAT(Values("berth_undecodable_objects_total"),
              ElementsAre(Pair("v1/Node", 4), Pair("v1/Pod", 0)));
  EXPECT_THAT(Values("berth_unreadable_objects"),
              ElementsAre(Pair("v1/Node", 3), Pair("v1/Pod", 0)));
}

TEST_F(ClientMetricsTest, RestartedWatchDoesNotReduceACounter) {
  ClientMetrics::Counts counts;
  counts.watches = {Watch("v1/Node", {.lists = 3}, 9 * kSecond)};
  metrics_.Update(counts);
  counts.watches.clear();
  metrics_.Update(counts);
  EXPECT_THAT(Values("berth_lists_total"), ElementsAre(Pair("v1/Node", 3)));
  EXPECT_THAT(Values("berth_watch_silence_seconds"), ElementsAre(Pair("v1/Node", 0)));
  counts.watches = {Watch("v1/Node", {.lists = 1})};
  metrics_.Update(counts);
  EXPECT_THAT(Values("berth_lists_total"), ElementsAre(Pair("v1/Node", 4)));
}

}  // namespace
}  // namespace berth::host
