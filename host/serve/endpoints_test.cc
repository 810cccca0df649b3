#include "host/serve/endpoints.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
      {"GET", "/configz", 404, ""},
  };
  for (const Case& c : cases) {
    const ServedResponse response = Ask(c.method, c.path);
    EXPECT_EQ(response.status, c.status) << c.method << " " << c.path;
    EXPECT_EQ(response.allow, c.allow) << c.method << " " << c.path;
  }
}

TEST_F(EndpointsTest, ListsThePaths) {
  EXPECT_EQ(Ask("GET", "/").body, "/debug/flags/v\n/healthz\n/livez\n/metrics\n/readyz\n");
  sources_.set_log_level = nullptr;
  EXPECT_EQ(Ask("GET", "/").body, "/healthz\n/livez\n/metrics\n/readyz\n");
  EXPECT_EQ(Ask("PUT", "/debug/flags/v", "4").status, 404u);
}

TEST_F(EndpointsTest, WritesMetricsOfHostProcessAndThePlugins) {
  table_.AddGauge("a", "As.", {}).With({}).Set(7);
  const ServedResponse response = Ask("GET", "/metrics");
  EXPECT_EQ(response.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(response.body, HasSubstr("# HELP a As.\n# TYPE a gauge\na 7\n"));
  EXPECT_THAT(response.body, HasSubstr("# TYPE process_resident_memory_bytes gauge\n"));
  EXPECT_THAT(response.body, EndsWith("# of plugins\n"));
  sources_.plugin_metrics = nullptr;
  EXPECT_THAT(Ask("GET", "/metrics").body, HasSubstr("\na 7\n"));
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

}  // namespace
}  // namespace berth::host
