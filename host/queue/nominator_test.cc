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
  // Returns the names of the nominated pods in order, such as "a b".
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

// kube-scheduler: pkg/scheduler/framework/runtime/framework.go, addGENominatedPods.
TEST_F(NominatorTest, CountsAgainstPodsOfNoHigherPriority) {
  const auto pod = [this](const char* name, int priority) {
    return objects_.Pod({.name = name, .spec = R"("priority":)" + std::to_string(priority)});
  };
  const PodRef nominated = pod("a", 5);
  const auto counts = [&nominated](const PodRef& tried) {
    return Nominator::CountsAgainst(nominated->view(), tried->view());
  };
  EXPECT_FALSE(counts(pod("b", 6)));
  EXPECT_TRUE(counts(pod("b", 5)));
  EXPECT_TRUE(counts(pod("b", 4)));
  EXPECT_FALSE(counts(nominated)) << "the pod itself";
}

TEST_F(NominatorTest, IsEmptyAtFirst) {
  EXPECT_TRUE(nominator_.empty());
  EXPECT_EQ(nominator_.NodeOf("uid-a"), "");
  EXPECT_TRUE(nominator_.PodsFor("n").empty());
  EXPECT_FALSE(nominator_.Remove("uid-a"));
}

TEST_F(NominatorTest, ListsPodsInTheOrderOfAddition) {
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

TEST_F(NominatorTest, AddingAgainReplacesThePodInItsPosition) {
  for (const char* name : {"a", "b"}) nominator_.Add(MakePod(name), "n");
  const PodRef now = MakePod("a");
  nominator_.Add(now, "n");
  EXPECT_EQ(PodsFor("n"), "a b");
  EXPECT_EQ(nominator_.PodsFor("n").front(), now);
}

TEST_F(NominatorTest, AnEmptyNodeRemovesTheNomination) {
  nominator_.Add(MakePod("a"), "n");
  nominator_.Add(MakePod("a"), "");
  EXPECT_TRUE(nominator_.empty());
  EXPECT_TRUE(nominator_.PodsFor("").empty());
}

// The recorded node, the node in the pod's status before and after the update, and the node
// recorded afterwards. Empty strings stand for no node.
struct UpdateCase {
  const char* description;
  const char* recorded;
  const char* before;
  const char* now;
  const char* expected;
};

constexpr UpdateCase kUpdateCases[] = {
    {"no nomination", "", "", "", ""},
    {"the status is not patched yet", "n", "", "", "n"},
    {"the status is patched", "n", "", "n", "n"},
    {"the status names a node", "", "", "n", "n"},
    {"the status names another node than the recorded one", "n", "", "m", "m"},
    {"the status changes", "n", "n", "m", "m"},
    {"the status is cleared", "n", "n", "", ""},
    {"another field of a nominated pod changes", "n", "n", "n", "n"},
    {"nominated to another node, the status still names the old one", "m", "n", "n", "m"},
    {"removed, the status still names the node", "", "n", "n", ""},
    {"removed, then the status is cleared", "", "n", "", ""},
    {"the status is cleared while another node is recorded", "m", "n", "", ""},
};

TEST_F(NominatorTest, AChangedStatusReplacesTheNomination) {
  for (const UpdateCase& c : kUpdateCases) {
    Nominator nominator;
    const PodRef before = MakePod("a", c.before);
    const PodRef now = MakePod("a", c.now);
    if (*c.recorded != '\0') nominator.Add(before, c.recorded);
    nominator.Update(before, now);
    EXPECT_EQ(nominator.NodeOf("uid-a"), c.expected) << c.description;
    if (*c.expected != '\0') {
      EXPECT_EQ(nominator.PodsFor(c.expected).front(), now) << c.description;
    }
    EXPECT_EQ(nominator.size(), *c.expected != '\0' ? 1U : 0U) << c.description;
  }
}

TEST_F(NominatorTest, ForEachNodeVisitsEveryNodeWithPods) {
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

}  // namespace
}  // namespace berth::host
