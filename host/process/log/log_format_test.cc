#include "host/process/log/log_format.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "host/base/json_text.h"
#include "host/base/time.h"

namespace berth::host {
namespace {

constexpr int32_t kPid = 1234;

int64_t WallNs(const char* time) { return ParseTime(time).value(); }

std::string Format(LogFormat format, const LogRecord& record) {
  return FormatRecord(record, format, WallNs("2026-11-23T09:26:10.000123456Z"), kPid);
}

TEST(LogFormatTest, WritesKlogsTextForm) {
  const std::vector<LogField> bound = {{.key = "pod", .value = "default/web-0"},
                                       {.key = "node", .value = "node-a"}};
  const std::vector<LogField> odd = {{.key = "a b", .value = "1"},
                                     {.key = "x\n", .value = ""},
                                     {.key = "", .value = "2"},
                                     {.key = "err", .value = "3"},
                                     {.key = "kubernetes.io/name", .value = "4"}};
  struct Case {
    const char* name;
    LogRecord record;
    const char* line;
  };
  const Case cases[] = {
      {"information with pairs",
       {.logger = "scheduling", .message = "Bound", .fields = bound},
       "I1123 09:26:10.000123    1234 scheduling] \"Bound\" pod=\"default/web-0\" "
       "node=\"node-a\""},
      {"an error before the pairs",
       {.level = BERTH_LOG_ERROR,
        .logger = "leaderElection",
        .message = "Lost the lease; ending",
        .fields = bound,
        .error = "no \"answer\""},
       "E1123 09:26:10.000123    1234 leaderElection] \"Lost the lease; ending\" "
       "err=\"no \\\"answer\\\"\" pod=\"default/web-0\" node=\"node-a\""},
      {"a warning without a logger",
       {.level = BERTH_LOG_WARN, .message = "w"},
       "W1123 09:26:10.000123    1234 berth] \"w\""},
      {"debug",
       {.level = BERTH_LOG_DEBUG, .logger = "p", .message = "d"},
       "I1123 09:26:10.000123    1234 p] \"d\""},
      {"keys that are no names",
       {.logger = "a] \"b", .message = "m", .fields = odd},
       "I1123 09:26:10.000123    1234 \"a] \\\"b\"] \"m\" \"a b\"=\"1\" \"x\\n\"=\"\" \"\"=\"2\" "
       "err_=\"3\" kubernetes.io/name=\"4\""},
  };
  for (const Case& c : cases) EXPECT_EQ(Format(LogFormat::kKlog, c.record), c.line) << c.name;
}

TEST(LogFormatTest, WritesTheHeadOfKlog) {
  struct Case {
    const char* time;
    int32_t pid;
    const char* line;
  };
  const Case cases[] = {
      {"2026-01-02T03:04:05.999999999Z", 1, "I0102 03:04:05.999999       1 p] \"m\""},
      {"2024-02-29T23:59:59Z", 4194304, "I0229 23:59:59.000000 4194304 p] \"m\""},
      {"1969-12-31T23:59:59.5Z", 7, "I1231 23:59:59.500000       7 p] \"m\""},
  };
  for (const Case& c : cases) {
    const LogRecord record{.logger = "p", .message = "m"};
    EXPECT_EQ(FormatRecord(record, LogFormat::kKlog, WallNs(c.time), c.pid), c.line);
  }
}

TEST(LogFormatTest, WritesJson) {
  const std::vector<LogField> bound = {{.key = "pod", .value = "default/web-0"},
                                       {.key = "node", .value = "node-a"},
                                       {.key = "took", .value = "212ms"}};
  const std::vector<LogField> odd = {{.key = "msg", .value = "forged"},
                                     {.key = "ts", .value = "1"},
                                     {.key = "pod", .value = "web-0"},
                                     {.key = "x", .value = "\xff\n\"\x7f"}};
  struct Case {
    const char* name;
    LogRecord record;
    const char* line;
  };
  const Case cases[] = {
      {"information with pairs",
       {.logger = "scheduling", .message = "Bound", .fields = bound},
       R"({"ts":1795425970000.123,"level":"info","logger":"scheduling","msg":"Bound","v":0,)"
       R"("pod":{"name":"web-0","namespace":"default"},"node":{"name":"node-a"},"took":"212ms"})"},
      {"an error after the pairs",
       {.level = BERTH_LOG_ERROR, .message = "m", .fields = {bound.data(), 1}, .error = "e"},
       R"({"ts":1795425970000.123,"level":"error","msg":"m",)"
       R"("pod":{"name":"web-0","namespace":"default"},"err":"e"})"},
      {"debug",
       {.level = BERTH_LOG_DEBUG, .logger = "p", .message = "d"},
       R"({"ts":1795425970000.123,"level":"debug","logger":"p","msg":"d","v":4})"},
      {"a warning",
       {.level = BERTH_LOG_WARN, .logger = "p", .message = "w"},
       R"({"ts":1795425970000.123,"level":"warning","logger":"p","msg":"w"})"},
      {"keys of the form, a pod without a namespace, and invalid UTF-8",
       {.logger = "p", .message = "m", .fields = odd},
       "{\"ts\":1795425970000.123,\"level\":\"info\",\"logger\":\"p\",\"msg\":\"m\",\"v\":0,"
       "\"msg_\":\"forged\",\"ts_\":\"1\",\"pod\":\"web-0\","
       "\"x\":\"\xEF\xBF\xBD\\n\\\"\\u007f\"}"},
  };
  for (const Case& c : cases) {
    const std::string line = Format(LogFormat::kJsonLines, c.record);
    EXPECT_EQ(line, c.line) << c.name;
    EXPECT_TRUE(ParseJson(line).is_object()) << c.name;
  }
}

TEST(LogFormatTest, JsonHasTimeInMillisecondsWithoutTrailingZeros) {
  struct Case {
    int64_t wall_ns;
    const char* ts;
  };
  const Case cases[] = {{0, "0"},
                        {999, "0"},
                        {1'000, "0.001"},
                        {100'000'000, "100"},
                        {1'500'000, "1.5"},
                        {-1'500'000, "-1.5"},
                        {1'763'889'970'000'120'000, "1763889970000.12"}};
  for (const Case& c : cases) {
    const std::string line = FormatRecord({.message = "m"}, LogFormat::kJsonLines, c.wall_ns, kPid);
    EXPECT_EQ(line, std::string("{\"ts\":") + c.ts + ",\"level\":\"info\",\"msg\":\"m\",\"v\":0}");
  }
}

TEST(LogFormatTest, WritesPlainLines) {
  const std::vector<LogField> fields = {{.key = "pod", .value = "a/b"}};
  struct Case {
    LogRecord record;
    const char* line;
  };
  const Case cases[] = {
      {{.level = BERTH_LOG_WARN, .logger = "acme.RackPower", .message = "is \"late\""},
       "berth: warning: acme.RackPower: is \"late\""},
      {{.level = BERTH_LOG_ERROR, .message = "cannot list", .fields = fields, .error = "a\nb"},
       "berth: error: cannot list: a\\nb pod=\"a/b\""},
      {{.level = BERTH_LOG_TRACE, .logger = "p", .message = "\x1b[2J"},
       "berth: trace: p: \\x1b[2J"},
  };
  for (const Case& c : cases) EXPECT_EQ(Format(LogFormat::kPlain, c.record), c.line);
}

TEST(LogFormatTest, QuotesAsGoDoes) {
  struct Case {
    const char* name;
    std::string text;
    const char* quoted;
  };
  const Case cases[] = {
      {"empty", "", "\"\""},
      {"letters and symbols", "Grüße, 世界 €", "\"Grüße, 世界 €\""},
      {"quotes and backslashes", "\"\\", "\"\\\"\\\\\""},
      {"controls with letters", "\a\b\f\n\r\t\v", "\"\\a\\b\\f\\n\\r\\t\\v\""},
      {"other controls", std::string("\0\x1b\x7f", 3), "\"\\x00\\x1b\\x7f\""},
      {"the first printable character", " ~", "\" ~\""},
      {"controls above ASCII", "\xC2\x85\xC2\x9B", "\"\\u0085\\u009b\""},
      {"a space that does not break", "\xC2\xA0\xC2\xA1", "\"\\u00a0¡\""},
      {"the direction of text", "\xE2\x80\xAE", "\"\\u202e\""},
      {"a separator of lines", "\xE2\x80\xA8", "\"\\u2028\""},
      {"a byte order mark", "\xEF\xBB\xBF", "\"\\ufeff\""},
      {"above the basic plane", "\xF0\x9F\x9A\xA2", "\"🚢\""},
      {"a tag above the basic plane", "\xF3\xA0\x80\x81", "\"\\U000e0001\""},
      {"a continuation byte alone", "\x80", "\"\\x80\""},
      {"a character that is cut off", "\xE2\x82", "\"\\xe2\\x82\""},
      {"an overlong character", "\xC0\xAF", "\"\\xc0\\xaf\""},
      {"a surrogate", "\xED\xA0\x80", "\"\\xed\\xa0\\x80\""},
      {"above the last character", "\xF4\x90\x80\x80", "\"\\xf4\\x90\\x80\\x80\""},
  };
  for (const Case& c : cases) EXPECT_EQ(GoQuoted(c.text), c.quoted) << c.name;
}

TEST(LogFormatTest, EscapesLineEndsAndTerminalControls) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  bytes += "\xC2\x9B\xE2\x80\xAE\xE2\x80\xA8";
  const std::vector<LogField> fields = {{.key = bytes, .value = bytes},
                                        {.key = "pod", .value = bytes}};
  const LogRecord record{.level = BERTH_LOG_ERROR,
                         .logger = bytes,
                         .message = bytes,
                         .fields = fields,
                         .error = bytes};
  for (const auto format : {LogFormat::kKlog, LogFormat::kJsonLines, LogFormat::kPlain}) {
    const std::string line = Format(format, record);
    for (const char c : line) {
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) << static_cast<int>(c);
    }
    EXPECT_EQ(line.find("\xC2\x9B"), std::string::npos);
    EXPECT_EQ(line.find("\xE2\x80"), std::string::npos);
    if (format == LogFormat::kJsonLines) continue;
    EXPECT_EQ(DumpJson(nlohmann::json(line)).find("\xEF\xBF\xBD"), std::string::npos)
        << "the line is not UTF-8";
  }
}

TEST(LogFormatTest, LevelsAreThoseOfKlog) {
  const std::vector<KlogLevel> levels = {{'I', 6}, {'I', 4}, {'I', 0}, {'W', 0}, {'E', 0}};
  for (uint32_t level = BERTH_LOG_TRACE; level <= BERTH_LOG_ERROR; ++level) {
    EXPECT_EQ(KlogLevelOf(level), levels[level]) << level;
  }
  EXPECT_EQ(KlogLevelOf(BERTH_LOG_OFF), levels.back());
}

TEST(ReadLogLevelTest, ReadsNamesAndNumbers) {
  struct Case {
    const char* text;
    uint32_t level;
  };
  const Case cases[] = {{"trace", BERTH_LOG_TRACE}, {"debug", BERTH_LOG_DEBUG},
                        {"info", BERTH_LOG_INFO},   {"warning", BERTH_LOG_WARN},
                        {"error", BERTH_LOG_ERROR}, {"0", BERTH_LOG_INFO},
                        {"3", BERTH_LOG_INFO},      {"4", BERTH_LOG_DEBUG},
                        {"5", BERTH_LOG_DEBUG},     {"6", BERTH_LOG_TRACE},
                        {"10", BERTH_LOG_TRACE},    {"004", BERTH_LOG_DEBUG},
                        {"00", BERTH_LOG_INFO},     {"99999999999999999999", BERTH_LOG_TRACE}};
  for (const Case& c : cases) {
    const auto level = ReadLogLevel(c.text);
    ASSERT_TRUE(level.ok()) << c.text;
    EXPECT_EQ(*level, c.level) << c.text;
  }
}

TEST(ReadLogLevelTest, RefusesOtherTexts) {
  struct Case {
    const char* text;
    const char* end;
  };
  const Case cases[] = {{"", "found \"\""},
                        {"-1", "found \"-1\""},
                        {"4 ", "found \"4 \""},
                        {"inof", "found \"inof\"; did you mean info?"}};
  for (const Case& c : cases) {
    const Status status = ReadLogLevel(c.text).status();
    EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << c.text;
    EXPECT_EQ(status.message(), std::string("expected one of trace, debug, info, warning, error, "
                                            "or a number as kube-scheduler's -v, ") +
                                    c.end);
  }
}

}  // namespace
}  // namespace berth::host
