#include <array>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <berth/abi.h>

#include "host/cli/progress.h"

namespace berth::host {
namespace {

TEST(ProgressLog, PrintsOneLineForEachEnabledRecord) {
  std::ostringstream out;
  Progress progress(out, false, [] { return int64_t{0}; });
  ProgressLog log(progress, BERTH_LOG_INFO, [] { return std::string("now "); });
  EXPECT_FALSE(log.IsOn(BERTH_LOG_DEBUG));
  EXPECT_TRUE(log.IsOn(BERTH_LOG_INFO));
  log.Write({.level = BERTH_LOG_DEBUG, .logger = "acme.A", .message = "dropped"});
  const std::array fields = {LogField{"free", "3 GiB"}};
  log.Write({.level = BERTH_LOG_INFO, .logger = "acme.A", .message = "kept", .fields = fields});
  log.Write({.level = BERTH_LOG_ERROR, .message = "no plugin"});
  EXPECT_EQ(out.str(),
            "now berth: info: acme.A: kept free=\"3 GiB\"\n"
            "now berth: error: no plugin\n");
}

TEST(ProgressLog, PrintsNoTimeWithoutAClock) {
  std::ostringstream out;
  Progress progress(out, false, [] { return int64_t{0}; });
  ProgressLog log(progress, BERTH_LOG_WARN);
  log.Write({.level = BERTH_LOG_WARN, .message = "a\nb"});
  EXPECT_EQ(out.str(), "berth: warning: a\\nb\n");
}

}  // namespace
}  // namespace berth::host
