#include "host/cluster/kubernetes/watch/object_reader.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/interner.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kNodeText =
    R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1","uid":"u","resourceVersion":"7"}})";

// A text and the padding that the reader requires, in memory of exactly this size.
class PaddedText {
 public:
  explicit PaddedText(std::string_view text) : bytes_(text.begin(), text.end()) {
    bytes_.resize(text.size() + ListSplitter::kPadding);
  }
  std::string_view view() const { return {bytes_.data(), bytes_.size() - ListSplitter::kPadding}; }

 private:
  std::vector<char> bytes_;
};

class ObjectReaderTest : public ::testing::Test {
 protected:
  // Returns "Added Node n1@7", "Bookmark @9 end", "Error 410 Expired", "Added ns/name@7 !<error>"
  // for an object that cannot be decoded, or the error of the line. "Added Node n1@7 ?<problems>":
  // values of the object cannot be read.
  std::string Line(std::string_view text, std::string_view kind = "v1/Node") {
    static constexpr const char* kNames[] = {"Added",    "Modified", "Deleted",
                                             "Bookmark", "Error",    "Unknown"};
    const PaddedText padded(text);
    const Result<WatchLine> line = reader_.ReadLine(padded.view(), kind);
    if (!line.ok()) return line.status().ToString();
    std::string found = kNames[static_cast<size_t>(line->type)];
    if (line->type == WatchLine::Type::kError) {
      return found + " " + std::to_string(line->error.code) + " " + line->error.reason;
    }
    const std::string version = "@" + line->resource_version;
    if (!line->decode_error.ok()) {
      return found + " " + line->mark.Key() + version + " !" + line->decode_error.ToString();
    }
    if (line->type == WatchLine::Type::kBookmark) {
      return found + " " + version + (line->ends_initial_events ? " end" : "");
    }
    found += " " + std::string(KindOf(line->object)) + " " + Base(line->object).Key() + version;
    return line->problems.ok() ? found : found + " ?" + std::string(line->problems.message());
  }
  static std::string Event(std::string_view type, std::string_view object) {
    return std::string(R"({"type":")").append(type).append(R"(","object":)").append(object) + "}";
  }

  Interner interner_;
  ObjectReader reader_{interner_, {}};
};

struct LineCase {
  const char* name;
  std::string text;
  const char* found;
};

TEST_F(ObjectReaderTest, ReadsEachTypeOfLine) {
  const std::string node(kNodeText);
  const std::vector<LineCase> cases = {
      {"added", Event("ADDED", node), "Added v1/Node n1@7"},
      {"modified", Event("MODIFIED", node), "Modified v1/Node n1@7"},
      {"deleted", Event("DELETED", node), "Deleted v1/Node n1@7"},
      {"the object before the type", R"({"object":)" + node + R"(,"type":"ADDED"})",
       "Added v1/Node n1@7"},
      {"a second type after the object",
       R"({"type":"ADDED","object":)" + node + R"(,"type":"DELETED"})", "Deleted v1/Node n1@7"},
      {"a space after the object", R"({"type":"ADDED","object":)" + node + " }",
       "Added v1/Node n1@7"},
      {"unknown members and spaces",
       R"( { "x" : [1] , "type" : "ADDED" , "object" : )" + node + R"( , "y" : {} } )",
       "Added v1/Node n1@7"},
      {"a bookmark",
       Event("BOOKMARK", R"({"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"9",
       "creationTimestamp":null},"spec":{},"status":{}})"),
       "Bookmark @9"},
      {"the end of the initial events",
       Event("BOOKMARK", R"({"kind":"Node","metadata":{"resourceVersion":"9","annotations":
       {"k8s.io/initial-events-end":"true"}}})"),
       "Bookmark @9 end"},
      {"another annotation",
       Event("BOOKMARK", R"({"metadata":{"resourceVersion":"9","annotations":{"a":"true",
       "k8s.io/initial-events-end":"false"}}})"),
       "Bookmark @9"},
      {"an error",
       Event("ERROR", R"x({"kind":"Status","apiVersion":"v1","status":"Failure","message":
       "too old resource version: 1 (5)","reason":"Expired","code":410})x"),
       "Error 410 Expired"},
  };
  for (const LineCase& c : cases) EXPECT_EQ(Line(c.text), c.found) << c.name;
}

TEST_F(ObjectReaderTest, ReportsALineThatIsNoEvent) {
  const std::string event = Event("ADDED", kNodeText);
  const std::vector<LineCase> cases = {
      {"no JSON", "x", ""},
      {"an array", "[]", ""},
      {"a number", "1", ""},
      {"no members", "{}", "it has no type"},
      {"no type", R"({"object":{}})", "it has no type"},
      {"a type that is no text", R"({"type":1,"object":{}})", "it has no type"},
      {"no object", R"({"type":"ADDED"})", "it has no object"},
      {"an object that is a text", R"({"type":"ADDED","object":"a"})", "it is malformed"},
      {"text after the event", event + event, "text follows the object"},
      {"a brace after the event", event + "}", ""},
      {"a second object", R"({"type":"ADDED","object":)" + std::string(kNodeText) + "{}}", ""},
      {"a cut line", event.substr(0, event.size() - 1), ""},
      {"a cut string", event.substr(0, 20), ""},
  };
  for (const LineCase& c : cases) {
    EXPECT_THAT(Line(c.text), StartsWith("InvalidArgument: the line of the watch is no event: "))
        << c.name;
    EXPECT_THAT(Line(c.text), HasSubstr(c.found)) << c.name;
  }
}

TEST_F(ObjectReaderTest, NamesAnObjectThatCannotBeDecoded) {
  const std::string pod = R"({"metadata":{"namespace":"ns","name":"p","resourceVersion":"8"},)"
                          R"("spec":{"priority":"high"}})";
  EXPECT_THAT(Line(Event("MODIFIED", pod), kPodKind),
              StartsWith("Modified ns/p@8 !InvalidArgument: /spec/priority: "));
  EXPECT_THAT(Line(Event("DELETED", pod), kPodKind), StartsWith("Deleted ns/p@8 !"));
  EXPECT_THAT(Line(Event("ADDED", kNodeText), kPodKind), StartsWith("Added n1@7 !"));
  EXPECT_THAT(Line(Event("ADDED", R"({"metadata":7})")), StartsWith("Added @ !"));
  EXPECT_EQ(Line(Event("MOVED", kNodeText)),
            "Unknown n1@7 !Unsupported: expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, "
            "found MOVED");
  // The reader is usable after errors.
  EXPECT_EQ(Line(Event("ADDED", kNodeText)), "Added v1/Node n1@7");
}

TEST_F(ObjectReaderTest, ReadsWhatCanBeReadOfBoundPods) {
  const std::string meta =
      R"({"metadata":{"namespace":"ns","name":"p","resourceVersion":"8"},"spec":{)";
  const std::string bound = meta + R"("priority":"high","nodeName":"n1"}})";
  const std::string found =
      "Modified v1/Pod ns/p@8 ?/spec/priority: expected an integer, found \"high\"";
  EXPECT_EQ(Line(Event("MODIFIED", bound), kPodKind), found);
  EXPECT_EQ(Line(R"({"object":)" + bound + R"(,"type":"MODIFIED"})", kPodKind), found);
  // The next object has no problems.
  EXPECT_EQ(Line(Event("MODIFIED", meta + R"("nodeName":"n1"}})"), kPodKind),
            "Modified v1/Pod ns/p@8");
  EXPECT_EQ(Line(Event("MODIFIED", meta + R"("priority":"high"}})"), kPodKind),
            "Modified ns/p@8 !InvalidArgument: /spec/priority: expected an integer, found "
            "\"high\"");
}

TEST_F(ObjectReaderTest, BadUtf8ConcernsOneObject) {
  const std::string bad =
      "{\"metadata\":{\"name\":\"n1\",\"resourceVersion\":\"8\",\"labels\":{\"a\":\"\xFF\xC3\"}}}";
  const std::string found = "n1@8 !InvalidArgument: /: The input is not valid UTF-8";
  EXPECT_EQ(Line(Event("MODIFIED", bad)), "Modified " + found);
  EXPECT_EQ(Line(Event("DELETED", bad)), "Deleted " + found);
  EXPECT_EQ(Line(R"({"object":)" + bad + R"(,"type":"ADDED"})"), "Added " + found);
  EXPECT_EQ(Line(Event("BOOKMARK", bad)), "Bookmark @8");
  EXPECT_EQ(
      Line(Event("ERROR",
                 "{\"kind\":\"Status\",\"message\":\"\xFF\",\"reason\":\"Expired\",\"code\":410}")),
      "Error 410 Expired");
  EXPECT_THAT(Line("\xFF"), StartsWith("InvalidArgument: the line of the watch is no event: "));
  EXPECT_EQ(reader_.ReadMark(PaddedText(bad).view()).Key(), "n1");
  // Text outside of ASCII that is UTF-8 is an ordinary one.
  EXPECT_EQ(Line(Event("ADDED", R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n1",)"
                                "\"resourceVersion\":\"9\",\"labels\":{\"a\":\"\xC3\xA4\"}}}")),
            "Added v1/Node n1@9");
}

TEST_F(ObjectReaderTest, AddsKindToAnItemOfAList) {
  const std::string item = R"({"metadata":{"name":"x","resourceVersion":"1"}})";
  for (const std::string_view kind : {kPodKind, kNodeKind, std::string_view("v1/Namespace"),
                                      std::string_view("storage.k8s.io/v1/CSINode")}) {
    const PaddedText padded(item);
    const Result<AnyObject> object = reader_.ReadItem(padded.view(), kind);
    ASSERT_TRUE(object.ok()) << kind << ": " << object.status().ToString();
    EXPECT_EQ(KindOf(*object), kind);
    EXPECT_EQ(Base(*object).name(), "x");
  }
}

TEST_F(ObjectReaderTest, ReadsEscapesInTheFirstText) {
  const PaddedText item(R"({"metadata":{"name":"x","annotations":{"a":"\u0041\n"}}})");
  const Result<AnyObject> object = reader_.ReadItem(item.view(), kNodeKind);
  ASSERT_TRUE(object.ok()) << object.status().ToString();
  const auto annotations = Elements<berth_str_pair>(Base(*object).meta().annotations);
  ASSERT_EQ(annotations.size(), 1u);
  EXPECT_EQ(Text(annotations[0].value), "A\n");
  EXPECT_EQ(ObjectReader(interner_, {})
                .ReadMark(PaddedText(R"({"metadata":{"name":"\u0041"}})").view())
                .Key(),
            "A");
}

TEST_F(ObjectReaderTest, ReportsAnItemThatCannotBeDecoded) {
  const std::vector<LineCase> cases = {
      {"no name", "{}", "InvalidArgument: /metadata/name: "},
      {"another kind", R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"x"}})",
       "InvalidArgument: /"},
      {"malformed", R"({"metadata":{"name":"x"})", "InvalidArgument: "},
      {"text after it", R"({"metadata":{"name":"x"}}{})", "InvalidArgument: /: "},
      {"no object", "[]", "InvalidArgument: /: "},
  };
  for (const LineCase& c : cases) {
    const PaddedText padded(c.text);
    const Result<AnyObject> object = reader_.ReadItem(padded.view(), "v1/Node");
    ASSERT_FALSE(object.ok()) << c.name;
    EXPECT_THAT(object.status().ToString(), StartsWith(c.found)) << c.name;
  }
}

TEST_F(ObjectReaderTest, EnforcesTheSizeOfAnObject) {
  DecodeOptions options;
  options.max_object_bytes = kNodeText.size();
  ObjectReader reader(interner_, options);
  EXPECT_TRUE(reader.ReadItem(PaddedText(kNodeText).view(), "v1/Node").ok());
  const PaddedText longer(std::string(kNodeText) + " ");
  const Result<AnyObject> object = reader.ReadItem(longer.view(), "v1/Node");
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.status().code(), ErrorCode::kOutOfRange);
  EXPECT_EQ(reader.ReadMark(longer.view()).Key(), "n1");
  EXPECT_EQ(reader.ReadMark(PaddedText("[]").view()).Key(), "");
}

TEST_F(ObjectReaderTest, DecodesByTheEmulatedVersion) {
  // Only 1.37 counts the status of an ordinary init container.
  const PaddedText pod(
      R"({"metadata":{"name":"p"},"spec":{"nodeName":"n","initContainers":[{"name":"i"}]},)"
      R"("status":{"initContainerStatuses":[{"name":"i","allocatedResources":{"cpu":"2"}}]}})");
  for (const uint32_t minor : {36u, 37u}) {
    DecodeOptions options;
    options.emulated_version = {1, minor};
    ObjectReader reader(interner_, options);
    const Result<AnyObject> object = reader.ReadItem(pod.view(), "v1/Pod");
    ASSERT_TRUE(object.ok()) << object.status().ToString();
    EXPECT_EQ(std::get<PodRef>(*object)->view().accounted->milli_cpu, minor == 36 ? 0 : 2000);
  }
}

TEST_F(ObjectReaderTest, ReadsPartOfAListBesideItsItems) {
  const auto meta = ObjectReader::ReadListMeta(
      R"({"kind":"PodList","metadata":{"resourceVersion":"12","continue":"abc",
      "remainingItemCount":3},"items":[]})");
  ASSERT_TRUE(meta.ok());
  EXPECT_EQ(meta->resource_version, "12");
  EXPECT_EQ(meta->continue_token, "abc");
  EXPECT_EQ(meta->remaining, 3);
  const auto last =
      ObjectReader::ReadListMeta(R"({"kind":"PodList","metadata":{"resourceVersion":"12"}})");
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->continue_token, "");
  for (const char* text :
       {"", "[]", R"({"kind":"Status","metadata":{"resourceVersion":"1"}})",
        R"({"kind":"PodList"})", R"({"kind":"PodList","metadata":{"resourceVersion":1}})"}) {
    const auto none = ObjectReader::ReadListMeta(text);
    ASSERT_FALSE(none.ok()) << text;
    EXPECT_EQ(none.status().code(), ErrorCode::kInvalidArgument) << text;
  }
  // The text of an error is written with recursion.
  const std::string brackets(30'000, '[');
  const auto deep =
      ObjectReader::ReadListMeta("{\"a\":" + brackets + std::string(brackets.size(), ']') + "}");
  EXPECT_EQ(deep.status(),
            Status::InvalidArgument("expected a list of the API: the body has more than 100 levels "
                                    "of nested arrays and objects"));
}

// Returns the lines, appended in pieces of `piece` bytes, then the rest as "..." and the error.
std::vector<std::string> Lines(std::string_view text, size_t piece, size_t limit = 100) {
  LineSplitter splitter(limit);
  std::vector<std::string> lines;
  const auto note = [&lines](std::string_view line) {
    lines.emplace_back(line);
    return line != "stop";
  };
  for (size_t at = 0; at < text.size(); at += piece) {
    const std::string_view part = text.substr(at, piece);
    const std::vector<char> copy(part.begin(), part.end());
    const Status status = splitter.Append({copy.data(), copy.size()}, note);
    if (!status.ok()) {
      lines.push_back(status.ToString());
      return lines;
    }
    if (!lines.empty() && lines.back() == "stop") return lines;
  }
  if (splitter.has_rest()) lines.emplace_back("...");
  return lines;
}

TEST(LineSplitter, SplitsPiecesOfAnySizeAtLineEnds) {
  const std::string line(90, 'x');
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{64}, size_t{1000}}) {
    EXPECT_THAT(Lines("", piece), ElementsAre());
    EXPECT_THAT(Lines("\n\n", piece), ElementsAre());
    EXPECT_THAT(Lines("a\nbc\n", piece), ElementsAre("a", "bc"));
    EXPECT_THAT(Lines("a\n\nbc", piece), ElementsAre("a", "..."));
    EXPECT_THAT(Lines("a\nstop\nb\n", piece), ElementsAre("a", "stop"));
    EXPECT_THAT(Lines(line + "\n" + line + "\nend\n", piece), ElementsAre(line, line, "end"));
  }
}

TEST(LineSplitter, EnforcesTheLengthOfALine) {
  for (const size_t piece : {size_t{1}, size_t{7}, size_t{1000}}) {
    const std::string longest(100, 'x');
    EXPECT_THAT(Lines(longest + "\n" + longest, piece), ElementsAre(longest, "..."));
    EXPECT_THAT(Lines("a\n" + longest + "x\n", piece),
                ElementsAre("a", "OutOfRange: expected a line of at most 100 bytes, found more"));
    EXPECT_THAT(Lines(longest + "x", piece),
                ElementsAre("OutOfRange: expected a line of at most 100 bytes, found more"));
  }
}

}  // namespace
}  // namespace berth::host
