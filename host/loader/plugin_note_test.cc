#include "host/loader/plugin_note.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParsePluginNote, ReadsACompleteNote) {
  const LoadResult<PluginNote> note = ParsePluginNote(
      R"({"abi":[1,2],"minHostMinor":3,"plugins":[
          {"name":"A","version":"1.0.0","points":["berth.filter/1","berth.score/1"]},
          {"name":"B","version":"2","points":[]}]})");
  ASSERT_TRUE(note.ok()) << note.error().ToString();
  EXPECT_EQ(note->abi_major, 1);
  EXPECT_EQ(note->abi_minor, 2);
  EXPECT_EQ(note->min_host_minor, 3);
  ASSERT_EQ(note->plugins.size(), 2u);
  EXPECT_EQ(note->plugins[0].name, "A");
  EXPECT_EQ(note->plugins[0].version, "1.0.0");
  EXPECT_THAT(note->plugins[0].points, ElementsAre("berth.filter/1", "berth.score/1"));
  EXPECT_TRUE(note->plugins[1].points.empty());
}

TEST(ParsePluginNote, IgnoresUnknownMembers) {
  EXPECT_TRUE(ParsePluginNote(R"({"new":{"a":[]},"abi":[1,0],"minHostMinor":0,"plugins":[
      {"name":"A","version":"1","points":[],"more":true}]})")
                  .ok());
}

TEST(ParsePluginNote, ReadsOnlyTheVersionsOfAnotherMajorVersion) {
  const LoadResult<PluginNote> note =
      ParsePluginNote(R"({"abi":[2,0],"minHostMinor":0,"extensions":"another form"})");
  ASSERT_TRUE(note.ok()) << note.error().ToString();
  EXPECT_EQ(note->abi_major, 2);
  EXPECT_TRUE(note->plugins.empty());
}

struct BadNote {
  const char* json;
  const char* message;
};

class BadNoteTest : public ::testing::TestWithParam<BadNote> {};

TEST_P(BadNoteTest, IsAnErrorWithTheJsonPointer) {
  const LoadResult<PluginNote> note = ParsePluginNote(GetParam().json);
  ASSERT_FALSE(note.ok());
  EXPECT_EQ(note.error().code, LoadErrorCode::kBadNote);
  EXPECT_THAT(note.error().ToString(), HasSubstr(GetParam().message));
}

#define NOTE(abi, minor, plugins) \
  "{\"abi\":" abi ",\"minHostMinor\":" minor ",\"plugins\":" plugins "}"

INSTANTIATE_TEST_SUITE_P(
    PluginNote, BadNoteTest,
    ::testing::Values(
        BadNote{"", "JSON text at \"\" in the note"}, BadNote{"{", "JSON text at \"\" in the note"},
        BadNote{"[]", "an object at \"\" in the note, found an array"},
        BadNote{"{}", "a value at \"/abi\" in the note, found nothing"},
        BadNote{NOTE("1", "0", "[]"), "an array at \"/abi\" in the note, found a number"},
        BadNote{NOTE("[1]", "0", "[]"), "[major, minor] at \"/abi\" in the note, found 1 elements"},
        BadNote{NOTE("[1,0,0]", "0", "[]"), "found 3 elements"},
        BadNote{NOTE("[-1,0]", "0", "[]"), "an integer from 0 to 65535 at \"/abi/0\" in the note"},
        BadNote{NOTE("[1,65536]", "0", "[]"),
                "an integer from 0 to 65535 at \"/abi/1\" in the note, found 65536"},
        BadNote{NOTE("[1,0]", "1.5", "[]"),
                "an integer from 0 to 65535 at \"/minHostMinor\" in the note"},
        BadNote{NOTE("[1,0]", "null", "[]"),
                "an integer from 0 to 65535 at \"/minHostMinor\" in the note, found null"},
        BadNote{NOTE("[1,0]", "0", "{}"), "an array at \"/plugins\" in the note, found an object"},
        BadNote{NOTE("[1,0]", "0", "[]"),
                "at least one plugin at \"/plugins\" in the note, found none"},
        BadNote{NOTE("[1,0]", "0", "[true]"),
                "an object at \"/plugins/0\" in the note, found a boolean"},
        BadNote{NOTE("[1,0]", "0", "[{}]"),
                "a value at \"/plugins/0/name\" in the note, found nothing"},
        BadNote{NOTE("[1,0]", "0", "[{\"name\":\"\"}]"),
                "a string that is not empty at \"/plugins/0/name\" in the note"},
        BadNote{NOTE("[1,0]", "0", "[{\"name\":\"A\",\"version\":1}]"),
                "a string at \"/plugins/0/version\" in the note, found a number"},
        BadNote{NOTE("[1,0]", "0", "[{\"name\":\"A\",\"version\":\"1\",\"points\":\"x\"}]"),
                "an array at \"/plugins/0/points\" in the note, found a string"},
        BadNote{NOTE("[1,0]", "0", "[{\"name\":\"A\",\"version\":\"1\",\"points\":[\"x\",\"x\"]}]"),
                "unique points at \"/plugins/0/points/1\" in the note, found \"x\" twice"},
        BadNote{NOTE("[1,0]", "0",
                     "[{\"name\":\"A\",\"version\":\"1\",\"points\":[]},"
                     "{\"name\":\"A\",\"version\":\"1\",\"points\":[]}]"),
                "unique plugin names at \"/plugins/1/name\" in the note, found \"A\" twice"}));

TEST(ParsePluginNote, RejectsTextThatIsTooLong) {
  std::string json = NOTE("[1,0]", "0", "[{\"name\":\"A\",\"version\":\"1\",\"points\":[]}]");
  json.append(kMaxNoteBytes - json.size(), ' ');
  EXPECT_TRUE(ParsePluginNote(json).ok());
  json.push_back(' ');
  ASSERT_FALSE(ParsePluginNote(json).ok());
}

}  // namespace
}  // namespace berth::host
