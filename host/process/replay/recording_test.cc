#include "host/process/replay/recording.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

const DecisionLine kBound{0, DecisionType::kBound, "default/web-0", "node-a", ""};

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(RecordingTest, WritesEventsAndDecisionsAsLines) {
  const std::string path = ::testing::TempDir() + "berth_recording.jsonl";
  auto recording = Recording::Create(path);
  ASSERT_TRUE(recording.ok());
  (*recording)->AddEvent(StreamType::kAdded, 0, "{\n  \"kind\": \"a b\"\n}");
  (*recording)->AddEvent(StreamType::kDeleted, 1'500'000'000, "{}");
  (*recording)->AddDecision(kBound);
  (*recording)->AddAttempt(2'000'000);
  ASSERT_TRUE((*recording)->Flush().ok());
  EXPECT_EQ(ReadAll(path),
            R"({"type":"ADDED","object":{"kind":"a b"}}
{"type":"DELETED","after":"1.5s","object":{}}
{"type":"DECISION","object":{"time":0.0,"type":"Bound","pod":"default/web-0","node":"node-a"}}
{"type":"ATTEMPT","after":"2ms","object":{}}
)");
  std::remove(path.c_str());
}

TEST(RecordingTest, ReportsErrorsWithThePath) {
  EXPECT_EQ(Recording::Create(::testing::TempDir() + "none/x").status().ToString(),
            "NotFound: " + ::testing::TempDir() + "none/x: No such file or directory");
  auto full = Recording::Create("/dev/full");
  ASSERT_TRUE(full.ok());
  (*full)->AddDecision(kBound);
  EXPECT_EQ((*full)->Flush().ToString(),
            "Unavailable: /dev/full: the recording could not be written");
}

}  // namespace
}  // namespace berth::host
