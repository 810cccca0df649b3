#include "host/serve/endpoints.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/serve/metrics_page.h"

namespace berth::host {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class EndpointsTest : public ::testing::Test {
 protected:
  EndpointsTest() {
    sources_.health = &health_;
    sources_.metrics = &table_;
    sources_.plugin_metrics = [] { return std::string("# of plugins\n"); };
    sources_.config = [] { return std::string("{\"berth\":{}}\n"); };
    sources_.set_log_level = [this](std::string_view level) {
      level_ = level;
      return level == "bad" ? Status::InvalidArgument("expected a level") : Status::Ok();
    };
  }

  ServedResponse Ask(const std::string& method, const std::string& path,
                     const std::string& body = "") const {
    return Endpoints(sources_).Answer({.method = method, .path = path, .query = "", .body = body});
  }

  MetricTable table_;
  Health health_{table_};
  Endpoints::Sources sources_;
  std::string level_;
};

TEST_F(EndpointsTest, AnswersEveryPath) {
  struct Case {
    const char* method;
    const char* path;
    uint32_t status;
    const char* allow;
  };
  const Case cases[] = {
      {"GET", "/livez", 200, ""},           {"GET", "/readyz", 200, ""},
      {"GET", "/healthz/ping", 200, ""},    {"HEAD", "/healthz", 200, ""},
      {"POST", "/livez", 405, "GET, HEAD"}, {"GET", "/livezz", 404, ""},
      {"GET", "/livez/x", 404, ""},         {"GET", "/metrics", 200, ""},
      {"HEAD", "/metrics", 200, ""},        {"DELETE", "/metrics", 405, "GET, HEAD"},
      {"GET", "/metrics/", 404, ""},        {"GET", "/", 200, ""},
      {"PUT", "/", 405, "GET, HEAD"},       {"GET", "/debug/flags/v", 405, "PUT"},
      {"PUT", "/debug/flags/v", 200, ""},   {"PUT", "/debug/flags", 404, ""},
      {"GET", "/configz", 200, ""},         {"POST", "/configz", 405, "GET, HEAD"},
      {"GET", "/configs", 404, ""},
  };
  for (const Case& c : cases) {
    const ServedResponse response = Ask(c.method, c.path);
    EXPECT_EQ(response.status, c.status) << c.method << " " << c.path;
    EXPECT_EQ(response.allow, c.allow) << c.method << " " << c.path;
  }
}

TEST_F(EndpointsTest, ListsThePaths) {
  EXPECT_EQ(Ask("GET", "/").body,
            "/configz\n/debug/flags/v\n/healthz\n/livez\n/metrics\n/readyz\n");
}

TEST_F(EndpointsTest, ShowsTheConfigurationAsJson) {
  const ServedResponse response = Ask("GET", "/configz");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, "{\"berth\":{}}\n");
}

TEST_F(EndpointsTest, WritesMetricsOfHostProcessAndThePlugins) {
  table_.AddGauge("a", "As.", {}).With({}).Set(7);
  const ServedResponse response = Ask("GET", "/metrics");
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(response.body, HasSubstr("# HELP a As.\n# TYPE a gauge\na 7\n"));
  EXPECT_THAT(response.body, HasSubstr("# TYPE process_resident_memory_bytes gauge\n"));
  EXPECT_THAT(response.body, EndsWith("# of plugins\n"));
}

TEST_F(EndpointsTest, SetsTheLogLevel) {
  const ServedResponse set = Ask("PUT", "/debug/flags/v", "4\r\n");
  EXPECT_EQ(set.status, 200u);
  EXPECT_EQ(set.body, "the log level is 4\n");
  EXPECT_EQ(level_, "4");
  const ServedResponse bad = Ask("PUT", "/debug/flags/v", "bad");
  EXPECT_EQ(bad.status, 400u);
  EXPECT_EQ(bad.body, "expected a level\n");
}

class HealthTest : public ::testing::Test {
 protected:
  HealthTest() {
    health_.Add("leaderElection", {.healthz = true}, [this] {
      return Health::Finding{leader_, {}};
    });
    health_.Add("sched-handler-sync", {.readyz = true}, [this] {
      return Health::Finding{sync_, sync_notes_};
    });
  }

  // Returns the status and the body of the answer: "200 ok".
  std::string Get(const std::string& path, const std::string& query = "") {
    const ServedResponse response =
        health_.Answer({.method = "GET", .path = path, .query = query, .body = ""});
    return std::to_string(response.status) + " " + response.body;
  }

  MetricTable table_;
  Health health_{table_};
  Status leader_;
  Status sync_;
  std::vector<std::string> sync_notes_;
};

TEST_F(HealthTest, IsOkWhileEveryCheckOfPathSucceeds) {
  EXPECT_EQ(Get("/livez"), "200 ok");
  EXPECT_EQ(Get("/readyz"), "200 ok");
  EXPECT_EQ(Get("/readyz/"), "200 ok");
  EXPECT_EQ(Get("/readyz", "verbose"),
            "200 [+]ping ok\n[+]sched-handler-sync ok\nreadyz check passed\n");
  EXPECT_EQ(Get("/healthz", "verbose=true&x=y"),
            "200 [+]ping ok\n[+]leaderElection ok\nhealthz check passed\n");
}

TEST_F(HealthTest, FailsOnlyOnPathsOfCheckThatFails) {
  sync_ = Status::Unavailable("v1/Pod: the first list is under way");
  EXPECT_EQ(Get("/livez"), "200 ok");
  EXPECT_EQ(Get("/healthz"), "200 ok");
  EXPECT_EQ(Get("/readyz"),
            "500 [+]ping ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n");
  EXPECT_EQ(Get("/readyz", "verbose"),
            "500 [+]ping ok\n[-]sched-handler-sync failed: v1/Pod: the first list is under way\n"
            "readyz check failed\n");
}

TEST_F(HealthTest, NotesFollowTheirCheckWithoutAFailure) {
  sync_notes_ = {"one", "two\n[-]ping failed"};
  EXPECT_EQ(Get("/readyz"), "200 ok");
  EXPECT_EQ(Get("/readyz", "verbose"),
            "200 [+]ping ok\n[+]sched-handler-sync ok\n   note: one\n   note: two; [-]ping failed\n"
            "readyz check passed\n");
  sync_ = Status::Unavailable("gone");
  EXPECT_EQ(Get("/readyz"),
            "500 [+]ping ok\n[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n");
}

TEST_F(HealthTest, AnswerHasTheHighestStatusOfItsFailures) {
  Status bindings = Status::Unavailable("forbidden");
  health_.Add(
      "bindings", {.readyz = true},
      [&] {
        return Health::Finding{bindings, {}};
      },
      503);
  EXPECT_EQ(Get("/readyz/bindings"), "503 internal server error: forbidden\n");
  EXPECT_TRUE(Get("/readyz").starts_with("503 ")) << Get("/readyz");
  sync_ = Status::Unavailable("gone");
  EXPECT_TRUE(Get("/readyz").starts_with("503 ")) << Get("/readyz");
  bindings = {};
  EXPECT_TRUE(Get("/readyz").starts_with("500 ")) << Get("/readyz");
}

// A server's message with a line end and an escape cannot fake a line of the page.
TEST_F(HealthTest, ReasonIsOneLine) {
  sync_ = Status::Unavailable("refused\n[+]sched-handler-sync ok\n\x1b[2J");
  EXPECT_EQ(Get("/readyz", "verbose"),
            "500 [+]ping ok\n"
            "[-]sched-handler-sync failed: refused; [+]sched-handler-sync ok; \\x1b[2J\n"
            "readyz check failed\n");
  EXPECT_EQ(Get("/readyz/sched-handler-sync"),
            "500 internal server error: refused; [+]sched-handler-sync ok; \\x1b[2J\n");
}

TEST_F(HealthTest, ExcludesChecks) {
  sync_ = Status::Unavailable("x");
  struct Case {
    const char* query;
    const char* answer;
  };
  const Case cases[] = {
      {"exclude=sched-handler-sync", "200 ok"},
      {"exclude=sched%2Dhandler%2Dsync", "200 ok"},
      {"exclude=sched-handler-sync&verbose",
       "200 [+]ping ok\n[+]sched-handler-sync excluded: ok\nreadyz check passed\n"},
      {"exclude=ping&exclude=sched-handler-sync&verbose",
       "200 [+]ping excluded: ok\n[+]sched-handler-sync excluded: ok\nreadyz check passed\n"},
      {"exclude=b&exclude=a",
       "500 [+]ping ok\n[-]sched-handler-sync failed: reason withheld\n"
       "warn: some health checks cannot be excluded: no matches for \"a\",\"b\"\n"
       "readyz check failed\n"},
      {"exclude=leaderElection&exclude=sched-handler-sync&verbose",
       "200 [+]ping ok\n[+]sched-handler-sync excluded: ok\n"
       "warn: some health checks cannot be excluded: no matches for \"leaderElection\"\n"
       "readyz check passed\n"},
      {"exclude=%zz",
       "500 [+]ping ok\n[-]sched-handler-sync failed: reason withheld\n"
       "readyz check failed\n"},
      {"&&=&",
       "500 [+]ping ok\n[-]sched-handler-sync failed: reason withheld\n"
       "readyz check failed\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(Get("/readyz", c.query), c.answer) << c.query;
}

TEST_F(HealthTest, AnswersForOneCheck) {
  EXPECT_EQ(Get("/healthz/leaderElection"), "200 ok");
  leader_ = Status::Unavailable("the lease was not renewed for 35s");
  EXPECT_EQ(Get("/healthz/leaderElection"),
            "500 internal server error: the lease was not renewed for 35s\n");
  EXPECT_EQ(Get("/livez/ping"), "200 ok");
  EXPECT_EQ(Get("/livez/leaderElection"), "404 there is no check \"leaderElection\" in /livez\n");
  EXPECT_EQ(Get("/readyz/x/y"), "404 there is no check \"x/y\" in /readyz\n");
}

TEST_F(HealthTest, CountsTheResults) {
  Get("/livez");
  Get("/livez/ping");
  sync_ = Status::Unavailable("x");
  Get("/readyz", "exclude=ping");
  EXPECT_EQ(ToMetricsText(table_.Read()),
            "# HELP kubernetes_healthcheck The last result of a health check: 1 for success, 0 "
            "for a failure.\n"
            "# TYPE kubernetes_healthcheck gauge\n"
            "kubernetes_healthcheck{name=\"ping\",type=\"livez\"} 1\n"
            "kubernetes_healthcheck{name=\"sched-handler-sync\",type=\"readyz\"} 0\n"
            "# HELP kubernetes_healthchecks_total The number of results of a health check.\n"
            "# TYPE kubernetes_healthchecks_total counter\n"
            "kubernetes_healthchecks_total{name=\"ping\",status=\"success\",type=\"livez\"} 2\n"
            "kubernetes_healthchecks_total{name=\"sched-handler-sync\",status=\"error\","
            "type=\"readyz\"} 1\n");
}

TEST(HealthDeathTest, AbortsOnInvalidOrDuplicateNames) {
  MetricTable table;
  Health health(table);
  const auto ok = [] { return Health::Finding(); };
  EXPECT_DEATH(health.Add("ping", {}, ok), "ping");
  EXPECT_DEATH(health.Add("", {}, ok), "assertion failed");
  EXPECT_DEATH(health.Add("a/b", {}, ok), "a/b");
}

}  // namespace
}  // namespace berth::host
