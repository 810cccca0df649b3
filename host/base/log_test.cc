#include "host/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/test_log.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;

TEST(LogTest, PassesLevelNameTheFieldsAndTheError) {
  TestLog sink(BERTH_LOG_TRACE, true);
  const Log log(sink, "part");
  log.Debug("d");
  log.Info("i", {{.key = "pod", .value = "a/b"}, {.key = "node", .value = "n"}});
  log.Warning("w", {{.key = "k", .value = ""}});
  log.Error("e", "broken", {{.key = "k", .value = "v"}});
  EXPECT_THAT(sink.lines(), ElementsAre("1 part: d", "2 part: i pod=a/b node=n",
                                        "3 part: w k=", "4 part: e: broken k=v"));
}

TEST(LogTest, WritesNothingBelowTheLevelOfTheSink) {
  TestLog sink(BERTH_LOG_WARN, true);
  const Log log(sink, "part");
  EXPECT_FALSE(log.IsOn(BERTH_LOG_INFO));
  EXPECT_TRUE(log.IsOn(BERTH_LOG_WARN));
  log.Debug("d");
  log.Info("i");
  log.Warning("w");
  EXPECT_THAT(sink.lines(), ElementsAre("3 part: w"));
}

TEST(LogTest, WritesNothingWithoutASink) {
  const Log log;
  EXPECT_FALSE(log.IsOn(BERTH_LOG_ERROR));
  log.Error("e", "broken");
}

TEST(LogFilterTest, DropsRecordsBelowItsOwnOrSinksLevel) {
  struct Case {
    const char* name;
    uint32_t sink;
    uint32_t filter;
    uint32_t lowest;
  };
  const Case cases[] = {
      {"the filter decides", BERTH_LOG_TRACE, BERTH_LOG_WARN, BERTH_LOG_WARN},
      {"the sink decides", BERTH_LOG_ERROR, BERTH_LOG_INFO, BERTH_LOG_ERROR},
      {"both pass everything", BERTH_LOG_TRACE, BERTH_LOG_TRACE, BERTH_LOG_TRACE},
      {"nothing passes", BERTH_LOG_TRACE, BERTH_LOG_OFF, BERTH_LOG_OFF},
  };
  for (const Case& c : cases) {
    TestLog sink(c.sink);
    LogFilter filter(sink, BERTH_LOG_TRACE);
    filter.SetLevel(c.filter);
    EXPECT_EQ(LowestLevel(&filter), c.lowest) << c.name;
    for (uint32_t level = BERTH_LOG_TRACE; level <= BERTH_LOG_ERROR; ++level) {
      EXPECT_EQ(filter.IsOn(level), level >= c.lowest) << c.name << level;
      filter.Write({.level = level, .message = "m"});
    }
    EXPECT_EQ(sink.lines().size(), BERTH_LOG_OFF - c.lowest) << c.name;
  }
}

TEST(LogFilterTest, NoLevelIsOnWithoutASink) {
  EXPECT_EQ(LowestLevel(nullptr), uint32_t{BERTH_LOG_OFF});
}

TEST(LogLevelTest, EachNameIsThatOfOneLevel) {
  for (uint32_t level = BERTH_LOG_TRACE; level <= BERTH_LOG_ERROR; ++level) {
    EXPECT_EQ(FindLogLevel(LogLevelName(level)), level) << level;
  }
  EXPECT_EQ(LogLevelName(BERTH_LOG_TRACE), "trace");
  EXPECT_EQ(LogLevelName(BERTH_LOG_WARN), "warning");
  EXPECT_EQ(LogLevelName(BERTH_LOG_OFF), "error") << "a level above the last one";
}

TEST(LogLevelTest, FindsNoOtherName) {
  for (const char* name : {"", "warn", "Info", "2", "off"}) {
    EXPECT_EQ(FindLogLevel(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace berth::host
