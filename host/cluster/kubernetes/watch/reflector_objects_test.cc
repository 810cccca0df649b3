// Tests a reflector with objects of a watch that cannot be read, as a whole or in part.
#include <string>
#include <vector>

#include "host/cluster/kubernetes/watch/unreadable_objects.h"
#include "tests/harness/reflector_fixture.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ReflectorTest, KeepsTheLastStateOfAnUndecodableObject) {
  StartWatching();
  transport_.Bytes(0, Line("MODIFIED", BrokenNodeText("n1", 11)) + Line("MODIFIED", "n2", 12));
  EXPECT_THAT(Seen(), ElementsAre("~n2@12(6)", "|"));
  EXPECT_EQ(reflector_->objects(), 2u);
  EXPECT_EQ(reflector_->counts().undecodable, 1u);
  // The next good state replaces the last good one.
  transport_.Bytes(0, Line("MODIFIED", "n1", 13));
  EXPECT_THAT(Seen(), ElementsAre("~n1@13(5)", "|"));
}

TEST_F(ReflectorTest, DeliversANodeWithoutTheUnreadableValue) {
  StartWatching();
  transport_.Bytes(0, Line("MODIFIED", PartialNodeText("n1", 11)));
  EXPECT_THAT(Seen(), ElementsAre("~n1@11(5)", "|"));
  transport_.Bytes(0, Line("ADDED", PartialNodeText("n3", 12)));
  EXPECT_THAT(Seen(), ElementsAre("+n3@12", "|"));
  transport_.Bytes(0, Line("MODIFIED", PartialNodeText("n1", 13)));
  EXPECT_THAT(Seen(), ElementsAre("~n1@13(11)", "|"));
  EXPECT_EQ(reflector_->counts().undecodable, 3u);
  // Each object is named once.
  const std::string report =
      "test: Cannot read values of an object; they count as absent: /status/allocatable/cpu: "
      "quantity \"much\": expected a number with an optional suffix, such as 2, 100m, 1.5Gi or "
      "12e6 "
      "kind=v1/Node object=";
  EXPECT_THAT(log_.lines(), ElementsAre(report + "n1", report + "n3"));
  // An object that is deleted holds no room.
  transport_.Bytes(0, Line("DELETED", PartialNodeText("n1", 14)));
  EXPECT_THAT(Seen(), ElementsAre("-n1@14(13)", "|"));
  EXPECT_EQ(reflector_->counts().undecodable, 3u);
}

TEST_F(ReflectorTest, NamesUnreadableObjectsUntilTheyAreReadable) {
  StartWatching();
  const auto names = [this] {
    std::vector<std::string> names;
    for (const std::string& example : reflector_->unreadable().Read(9).examples) {
      names.push_back(example.substr(0, example.find(": /")));
    }
    return names;
  };
  transport_.Bytes(0, Line("MODIFIED", PartialNodeText("n1", 11)) +
                          Line("MODIFIED", BrokenNodeText("n2", 12)) +
                          Line("ADDED", BrokenNodeText("n3", 13)));
  EXPECT_THAT(names(), ElementsAre("n1", "n2", "n3"));
  transport_.Bytes(0, Line("MODIFIED", "n1", 14) + Line("DELETED", BrokenNodeText("n3", 15)));
  EXPECT_THAT(names(), ElementsAre("n2"));
  // A list names what it has, and nothing else.
  transport_.Bytes(0, Line("ERROR", StatusText(410, "Expired")));
  transport_.Head(0);
  EXPECT_THAT(names(), ElementsAre("n2")) << "the list has not ended";
  transport_.Bytes(0, Line("ADDED", BrokenNodeText("n1", 16)) + Bookmark(20, true));
  EXPECT_THAT(names(), ElementsAre("n1"));
}

// An API server writes some characters with six bytes, so that an object is larger than in etcd.
TEST_F(ReflectorTest, ReadsTheLargestObjectOfAnApiServer) {
  StartWatching();
  const std::string large(size_t{10} << 20, 'x');
  std::string node = NodeText("n1", 11);
  node.insert(node.find("\"metadata\":{") + 12, R"("annotations":{"a":")" + large + R"("},)");
  transport_.Bytes(0, Line("MODIFIED", node));
  EXPECT_THAT(Seen(), ElementsAre("~n1@11(5)", "|"));
  EXPECT_EQ(reflector_->unreadable().Read(1).count, 0U);
}

TEST_F(ReflectorTest, BadUtf8ConcernsOneObject) {
  StartWatching();
  transport_.Bytes(0, Line("MODIFIED", NotUtf8NodeText("n1", 11)) + Line("MODIFIED", "n2", 12));
  EXPECT_THAT(Seen(), ElementsAre("~n2@12(6)", "|"));
  EXPECT_EQ(reflector_->objects(), 2u);
  EXPECT_EQ(reflector_->counts().undecodable, 1u);
  EXPECT_EQ(reflector_->counts().relists_error, 0u);
  transport_.Bytes(0, Line("DELETED", NotUtf8NodeText("n1", 13)));
  EXPECT_THAT(Seen(), ElementsAre("-n1@5(5)?", "|"));
}

TEST_F(ReflectorTest, DeletesObjectWhoseLastStateCannotBeDecoded) {
  StartWatching();
  transport_.Bytes(0, Line("DELETED", BrokenNodeText("n1", 11)));
  EXPECT_THAT(Seen(), ElementsAre("-n1@5(5)?", "|"));
  transport_.Bytes(0, Line("DELETED", BrokenNodeText("n9", 12)));
  EXPECT_THAT(Seen(), IsEmpty());
}

}  // namespace
}  // namespace berth::host
