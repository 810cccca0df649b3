#include "host/cluster/kubernetes/watch/object_index.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/test_objects.h"
#include "host/base/split_mix.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns "+ns/name:uid@version", "~...(uid@version of the previous object)" or "-...(...)"; with
// "?" at its end if the final state is unknown.
std::string ShowEvent(const WatchEvent& event) {
  const auto show = [](const AnyObject& object) {
    return std::string(Base(object).uid()) + "@" + std::string(Base(object).resource_version());
  };
  std::string text(1, event.type == WatchType::kAdded      ? '+'
                      : event.type == WatchType::kModified ? '~'
                                                           : '-');
  text += Base(event.object).Key() + ":" + show(event.object);
  if (event.type != WatchType::kAdded) text += "(" + show(event.previous) + ")";
  return text + (event.final_state_unknown ? "?" : "");
}

class ObjectIndexTest : public ::testing::Test {
 protected:
  AnyObject MakePod(const std::string& name, const std::string& uid, const std::string& version,
                    const std::string& ns = "n", const std::string& phase = "Running") {
    return objects_.PodFrom(R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns +
                            R"(","uid":")" + uid + R"(","resourceVersion":")" + version +
                            R"("},"spec":{"containers":[]},"status":{"phase":")" + phase +
                            R"("}})");
  }
  std::string Put(AnyObject object) { return Show(index_.Put(std::move(object))); }
  std::string Delete(AnyObject object) { return Show(index_.Delete(std::move(object))); }
  static std::string Show(const std::optional<WatchEvent>& event) {
    return event ? ShowEvent(*event) : "none";
  }
  static std::vector<std::string> Show(const std::vector<WatchEvent>& events) {
    std::vector<std::string> texts;
    for (const WatchEvent& event : events) texts.push_back(ShowEvent(event));
    return texts;
  }
  std::vector<std::string> Replace(std::vector<AnyObject> objects, const std::string& version,
                                   bool may_be_older = false) {
    const auto events = index_.Replace(std::move(objects), version, may_be_older);
    return events.ok() ? Show(*events) : std::vector<std::string>{events.status().ToString()};
  }

  TestObjects objects_;
  ObjectIndex index_;
};

TEST_F(ObjectIndexTest, FindsWhatALineOfAWatchChanges) {
  EXPECT_EQ(Put(MakePod("a", "u", "5")), "+n/a:u@5");
  EXPECT_EQ(Put(MakePod("a", "u", "5")), "none");
  EXPECT_EQ(Put(MakePod("a", "u", "6")), "~n/a:u@6(u@5)");
  EXPECT_EQ(Put(MakePod("a", "v", "8")), "~n/a:v@8(u@6)");
  EXPECT_EQ(Delete(MakePod("b", "w", "9")), "none");
  EXPECT_EQ(Delete(MakePod("a", "v", "9")), "-n/a:v@9(v@8)");
  EXPECT_EQ(Delete(MakePod("a", "v", "9")), "none");
  EXPECT_EQ(index_.size(), 0u);
  EXPECT_EQ(index_.lagged(), 0u);
}

TEST_F(ObjectIndexTest, RefusesStateThatIsOlderThanDeliveredOne) {
  Put(MakePod("a", "u", "10"));
  EXPECT_EQ(Put(MakePod("a", "u", "9")), "none");
  EXPECT_EQ(index_.lagged(), 1u);
  EXPECT_EQ(Put(MakePod("a", "before", "9")), "none");
  EXPECT_EQ(Delete(MakePod("a", "u", "9")), "none");
  EXPECT_EQ(index_.lagged(), 3u);
  EXPECT_EQ(index_.size(), 1u);
  // An equal version is the version of the last state, which old servers send with a deletion.
  EXPECT_EQ(Delete(MakePod("a", "u", "10")), "-n/a:u@10(u@10)");
}

TEST_F(ObjectIndexTest, DeletesKnownObjectIfAnotherUidIsDeleted) {
  Put(MakePod("a", "u", "5"));
  EXPECT_EQ(Delete(MakePod("a", "later", "9")), "-n/a:u@5(u@5)?");
}

TEST_F(ObjectIndexTest, DeletesAnObjectByItsName) {
  Put(MakePod("a", "u", "5"));
  EXPECT_EQ(Show(index_.DeleteNamed("n", "b", "6")), "none");
  EXPECT_EQ(Show(index_.DeleteNamed("n", "a", "4")), "none");
  EXPECT_EQ(Show(index_.DeleteNamed("n", "a", "6")), "-n/a:u@5(u@5)?");
}

TEST_F(ObjectIndexTest, TreatsPodInAFinalPhaseAsDeleted) {
  for (const char* phase : {"Succeeded", "Failed"}) {
    Put(MakePod("a", "u", "5"));
    EXPECT_EQ(Put(MakePod("a", "u", "6", "n", phase)), "-n/a:u@6(u@5)");
    EXPECT_EQ(Put(MakePod("a", "u", "7", "n", phase)), "none");
    Put(MakePod("a", "u", "8"));
    EXPECT_THAT(Replace({MakePod("a", "u", "9", "n", phase)}, "9"), ElementsAre("-n/a:u@8(u@8)?"));
  }
}

TEST_F(ObjectIndexTest, ReplacesEverythingWithDeletionsFirst) {
  Put(MakePod("same", "u", "1", "b"));
  Put(MakePod("gone", "u", "2", "b"));
  Put(MakePod("gone", "u", "3", "a-b"));
  Put(MakePod("changed", "u", "4", "a"));
  Put(MakePod("recreated", "u", "5", "a"));
  EXPECT_THAT(Replace({MakePod("same", "u", "1", "b"), MakePod("new", "u", "7", "a-b"),
                       MakePod("recreated", "v", "8", "a"), MakePod("changed", "u", "6", "a")},
                      "9"),
              ElementsAre("-a-b/gone:u@3(u@3)?", "-b/gone:u@2(u@2)?", "~a/changed:u@6(u@4)",
                          "~a/recreated:v@8(u@5)", "+a-b/new:u@7"));
  EXPECT_EQ(index_.size(), 4u);
  EXPECT_THAT(Show(index_.Clear()), ElementsAre("-a/changed:u@6(u@6)?", "-a/recreated:v@8(v@8)?",
                                                "-a-b/new:u@7(u@7)?", "-b/same:u@1(u@1)?"));
  EXPECT_EQ(index_.size(), 0u);
}

TEST_F(ObjectIndexTest, KeepsLaterOfTwoItemsWithSameName) {
  EXPECT_THAT(
      Replace({MakePod("a", "u", "3"), MakePod("a", "u", "2"), MakePod("a", "v", "4")}, "5"),
      ElementsAre("+n/a:v@4"));
}

TEST_F(ObjectIndexTest, RefusesListThatIsOlderThanTheIndex) {
  Put(MakePod("a", "u", "10"));
  EXPECT_THAT(Replace({}, "9"),
              ElementsAre("Unavailable: the list has the resourceVersion 9, but n/a was seen with "
                          "10"));
  EXPECT_EQ(index_.size(), 1u);
  EXPECT_THAT(Replace({MakePod("a", "u", "7")}, "9", /*may_be_older=*/true),
              ElementsAre("~n/a:u@7(u@10)"));
  EXPECT_THAT(Replace({MakePod("a", "u", "7")}, "7"), IsEmpty());
}

TEST_F(ObjectIndexTest, ReusesTheDeliveredObjectIfItIsUnchanged) {
  const AnyObject known = MakePod("a", "u", "5");
  Put(known);
  EXPECT_EQ(index_.Reuse(MakePod("a", "u", "5")), known);
  for (const AnyObject& other :
       {MakePod("a", "u", "6"), MakePod("a", "v", "5"), MakePod("b", "u", "5")}) {
    EXPECT_EQ(index_.Reuse(other), other);
  }
  EXPECT_EQ(index_.Take(), std::vector<AnyObject>{known});
  EXPECT_EQ(index_.size(), 0u);
}

// Applies random lines and lists, and compares every event with a map of what a receiver has seen.
TEST_F(ObjectIndexTest, ReceiverOfEventsHasStateOfTheServer) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ObjectIndex index;
    SplitMix64 random(seed);
    std::map<std::string, AnyObject> server;
    std::map<std::string, AnyObject> receiver;
    const auto receive = [&](const WatchEvent& event) {
      const std::string key = Base(event.object).Key();
      if (event.type == WatchType::kAdded) {
        EXPECT_TRUE(receiver.emplace(key, event.object).second) << key;
        return;
      }
      ASSERT_TRUE(receiver.contains(key)) << key;
      EXPECT_EQ(receiver[key], event.previous);
      if (event.type == WatchType::kDeleted) {
        receiver.erase(key);
      } else {
        receiver[key] = event.object;
      }
    };
    for (int version = 1; version < 300; ++version) {
      const std::string name(1, static_cast<char>('a' + random.Next() % 8));
      const bool is_seen = random.Next() % 4 != 0;  // Otherwise the watch has a gap.
      std::optional<WatchEvent> event;
      const auto at = server.find("n/" + name);
      if (at != server.end() && random.Next() % 3 == 0) {
        const AnyObject last =
            MakePod(name, std::string(Base(at->second).uid()), std::to_string(version));
        server.erase(at);
        if (is_seen) event = index.Delete(last);
      } else {
        const std::string uid =
            at == server.end() ? std::to_string(version) : std::string(Base(at->second).uid());
        const AnyObject pod = MakePod(name, uid, std::to_string(version));
        server["n/" + name] = pod;
        if (is_seen) event = index.Put(pod);
      }
      if (event) receive(*event);
      if (random.Next() % 16 != 0) continue;
      std::vector<AnyObject> all;
      for (const auto& [key, object] : server) all.push_back(object);
      const auto events = index.Replace(std::move(all), std::to_string(version));
      ASSERT_TRUE(events.ok());
      for (const WatchEvent& difference : *events) receive(difference);
      EXPECT_EQ(receiver, server) << "seed " << seed << ", version " << version;
    }
    EXPECT_EQ(index.lagged(), 0u);
  }
}

struct VersionCase {
  const char* version;
  const char* than;
  std::optional<bool> is_older;
};

TEST(IsOlder, ComparesResourceVersionsAsNumbers) {
  const std::vector<VersionCase> cases = {
      {"9", "10", true},        {"10", "9", false},
      {"10", "10", false},      {"0", "1", true},
      {"007", "7", false},      {"99999999999999999999", "100000000000000000000", true},
      {"", "1", std::nullopt},  {"1", "", std::nullopt},
      {"a", "1", std::nullopt}, {"-1", "1", std::nullopt},
  };
  for (const VersionCase& c : cases) {
    EXPECT_EQ(IsOlder(c.version, c.than), c.is_older) << c.version << " than " << c.than;
  }
}

}  // namespace
}  // namespace berth::host
