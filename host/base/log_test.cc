#include "host/base/log.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Records what reaches Write() as "level logger message key=value err=error".
class RecordingSink final : public LogSink {
 public:
  explicit RecordingSink(uint32_t level) : level_(level) {}

  bool IsOn(uint32_t level) const override { return level >= level_; }
  void Write(const LogRecord& record) override {
    std::string line = std::to_string(record.level);
    line.append(" ").append(record.logger).append(" ").append(record.message);
    for (const LogField& field : record.fields) {
      line.append(" ").append(field.key).append("=").append(field.value);
    }
    if (!record.error.empty()) line.append(" err=").append(record.error);
    lines_.push_back(line);
  }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  const uint32_t level_;
  std::vector<std::string> lines_;
};

TEST(LogTest, PassesTheLevelTheNameTheFieldsAndTheError) {
  RecordingSink sink(BERTH_LOG_TRACE);
  const Log log(sink, "part");
  log.Debug("d");
  log.Info("i", {{.key = "pod", .value = "a/b"}, {.key = "node", .value = "n"}});
  log.Warning("w", {{.key = "k", .value = ""}});
  log.Error("e", "broken", {{.key = "k", .value = "v"}});
  EXPECT_THAT(sink.lines(), ElementsAre("1 part d", "2 part i pod=a/b node=n",
                                        "3 part w k=", "4 part e k=v err=broken"));
}

TEST(LogTest, WritesNothingBelowTheLevelOfTheSink) {
  RecordingSink sink(BERTH_LOG_WARN);
  const Log log(sink, "part");
  EXPECT_FALSE(log.IsOn(BERTH_LOG_INFO));
  EXPECT_TRUE(log.IsOn(BERTH_LOG_WARN));
  log.Debug("d");
  log.Info("i");
  log.Warning("w");
  EXPECT_THAT(sink.lines(), ElementsAre("3 part w"));
}

TEST(LogTest, WritesNothingWithoutASink) {
  const Log log;
  EXPECT_FALSE(log.IsOn(BERTH_LOG_ERROR));
  log.Error("e", "broken");
  const RecordingSink sink(BERTH_LOG_TRACE);
  EXPECT_THAT(sink.lines(), IsEmpty());
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
