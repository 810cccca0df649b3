#include "host/queue/nominator.h"

#include <set>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/api/test_objects.h"

namespace berth::host {
namespace {

class NominatorTest : public ::testing::Test {
 protected:
  PodRef MakePod(const std::string& name, const std::string& node = "") {
    const std::string status = node.empty() ? "" : R"("nominatedNodeName":")" + node + '"';
    return objects_.Pod({.name = name, .status = status});
  }
  // "a b", in order.
  std::string PodsFor(std::string_view node) const {
    std::string names;
    for (const PodRef& pod : nominator_.PodsFor(node)) {
      names.append(names.empty() ? "" : " ").append(pod->name());
    }
    return names;
  }

  TestObjects objects_;
  Nominator nominator_;
};

TEST_F(NominatorTest, IsEmptyAtFirst) {
  EXPECT_TRUE(nominator_.empty());
  EXPECT_EQ(nominator_.NodeOf("uid-a"), "");
  EXPECT_TRUE(nominator_.PodsFor("n").empty());
  EXPECT_FALSE(nominator_.Remove("uid-a"));
}

TEST_F(NominatorTest, ListsPodsAsTheyCame) {
  for (const char* name : {"b", "a", "c"}) nominator_.Add(MakePod(name), "n");
  nominator_.Add(MakePod("d"), "m");
  EXPECT_EQ(PodsFor("n"), "b a c");
  EXPECT_EQ(nominator_.NodeOf("uid-d"), "m");
  EXPECT_EQ(nominator_.size(), 4U);
  EXPECT_TRUE(nominator_.Remove("uid-a"));
  EXPECT_EQ(PodsFor("n"), "b c");
  EXPECT_EQ(nominator_.NodeOf("uid-a"), "");
}

TEST_F(NominatorTest, APodIsNominatedToOneNode) {
  nominator_.Add(MakePod("a"), "n");
  nominator_.Add(MakePod("a"), "m");
  EXPECT_EQ(PodsFor("n"), "");
  EXPECT_EQ(PodsFor("m"), "a");
  EXPECT_EQ(nominator_.size(), 1U);
}

TEST_F(NominatorTest, TheSameNodeAgainKeepsItsPlaceAndTakesThePod) {
  for (const char* name : {"a", "b"}) nominator_.Add(MakePod(name), "n");
  const PodRef now = MakePod("a");
  nominator_.Add(now, "n");
  EXPECT_EQ(PodsFor("n"), "a b");
  EXPECT_EQ(nominator_.PodsFor("n").front(), now);
}

TEST_F(NominatorTest, NoNodeTakesTheNominationBack) {
  nominator_.Add(MakePod("a"), "n");
  nominator_.Add(MakePod("a"), "");
  EXPECT_TRUE(nominator_.empty());
  EXPECT_TRUE(nominator_.PodsFor("").empty());
}

// The node in memory, the status before, the status now; what is in memory then. Empty: none.
struct UpdateCase {
  const char* sentence;
  const char* memory;
  const char* before;
  const char* now;
  const char* then;
};

constexpr UpdateCase kUpdates[] = {
    {"nobody ever named a node", "", "", "", ""},
    {"the status is not written yet", "n", "", "", "n"},
    {"the status is written", "n", "", "n", "n"},
    {"somebody names a node", "", "", "n", "n"},
    {"somebody names another node than we did", "n", "", "m", "m"},
    {"the status changes", "n", "n", "m", "m"},
    {"the status is cleared", "n", "n", "", ""},
    {"another change of a nominated pod", "n", "n", "n", "n"},
    {"nominated elsewhere, and the status still says the former", "m", "n", "n", "m"},
    {"taken back, and the status still says it", "", "n", "n", ""},
    {"cleared, as we did", "", "n", "", ""},
    {"an old nomination is cleared while we have a new one", "m", "n", "", ""},
};

TEST_F(NominatorTest, AChangedStatusWins) {
  for (const UpdateCase& c : kUpdates) {
    Nominator nominator;
    const PodRef before = MakePod("a", c.before);
    const PodRef now = MakePod("a", c.now);
    if (*c.memory != '\0') nominator.Add(before, c.memory);
    nominator.Update(before, now);
    EXPECT_EQ(nominator.NodeOf("uid-a"), c.then) << c.sentence;
    if (*c.then != '\0') {
      EXPECT_EQ(nominator.PodsFor(c.then).front(), now) << c.sentence;
    }
    EXPECT_EQ(nominator.size(), *c.then != '\0' ? 1U : 0U) << c.sentence;
  }
}

TEST_F(NominatorTest, EveryNodeWithPodsIsWalked) {
  const auto walk = [this] {
    std::set<std::string> found;
    nominator_.ForEachNode([&found](std::string_view node, std::span<const PodRef> pods) {
      std::string line(node);
      for (const PodRef& pod : pods) line.append(" ").append(pod->name());
      found.insert(line);
    });
    return found;
  };
  using Lines = std::set<std::string>;
  EXPECT_EQ(walk(), Lines{});
  nominator_.Add(MakePod("a"), "n");
  nominator_.Add(MakePod("b"), "m");
  nominator_.Add(MakePod("c"), "n");
  EXPECT_EQ(walk(), (Lines{"m b", "n a c"}));
  nominator_.Remove("uid-b");
  EXPECT_EQ(walk(), Lines{"n a c"});
}

TEST_F(NominatorTest, EveryChangeIsANewGeneration) {
  const uint64_t at_first = nominator_.generation();
  nominator_.Add(MakePod("a"), "n");
  const uint64_t added = nominator_.generation();
  EXPECT_LT(at_first, added);
  nominator_.Update(MakePod("a"), MakePod("a"));
  const uint64_t updated = nominator_.generation();
  EXPECT_LT(added, updated) << "its pod is another";
  nominator_.Remove("uid-b");
  nominator_.Update(MakePod("b"), MakePod("b"));
  EXPECT_EQ(updated, nominator_.generation()) << "nothing has changed";
  nominator_.Remove("uid-a");
  EXPECT_LT(updated, nominator_.generation());
}

}  // namespace
}  // namespace berth::host
