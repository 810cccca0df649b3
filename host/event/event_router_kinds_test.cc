// EventRouter: kinds that are not served, and kinds with several versions.
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cluster/embedded/embedded_cluster.h"
#include "host/event/test_event_router.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KindsTest : public EventRouterTest {
 protected:
  void Start(const std::vector<std::string>& kinds) {
    router_.StartWatches(cluster_, kinds);
    cluster_.Deliver();
  }
  void AddRack(const std::string& version, const std::string& name) {
    ASSERT_TRUE(
        cluster_
            .Create(objects_.ObjectFrom(R"({"kind":"Rack","apiVersion":"example.com/)" + version +
                                        R"(","metadata":{"name":")" + name + "\"}}"))
            .ok());
    cluster_.Deliver();
  }
  void SetServed(const std::string& version, bool served) {
    cluster_.SetServed("example.com/" + version + "/Rack", served);
    cluster_.Deliver();
  }
  std::vector<std::string> Racks() const {
    std::vector<std::string> racks;
    store_.List("example.com/v2|v1/Rack", "", [&](const ObjectRef& rack) {
      racks.push_back(std::string(rack->kind()) + " " + rack->Key());
      return true;
    });
    return racks;
  }

  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 10, .serve = nullptr}};
  // Ends the watches before the cluster is destroyed.
  struct Stopper {
    EventRouter& router;
    ~Stopper() { router.StopWatches(); }
  } stopper_{router_};
};

TEST_F(KindsTest, UnservedKindDoesNotDelayTheStart) {
  SetServed("v1", false);
  router_.StartWatches(cluster_, std::vector<std::string>{"example.com/v1/Rack"});
  EXPECT_FALSE(router_.synced());
  cluster_.Deliver();
  EXPECT_TRUE(router_.synced());
  EXPECT_FALSE(store_.IsServed("example.com/v1/Rack"));
  SetServed("v1", true);
  EXPECT_TRUE(store_.IsServed("example.com/v1/Rack"));
  AddRack("v1", "a");
  EXPECT_EQ(store_.size(), 1U);
  SetServed("v1", false);
  EXPECT_FALSE(store_.IsServed("example.com/v1/Rack"));
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_TRUE(router_.synced());
}

TEST_F(KindsTest, TheFirstVersionThatIsServedIsUsed) {
  SetServed("v2", false);
  AddRack("v1", "a");
  router_.StartWatches(cluster_, std::vector<std::string>{"example.com/v2|v1/Rack"});
  cluster_.DeliverOne();
  EXPECT_FALSE(router_.synced());
  cluster_.Deliver();
  EXPECT_TRUE(router_.synced());
  EXPECT_THAT(Racks(), ElementsAre("example.com/v1/Rack a"));
}

TEST_F(KindsTest, PreferredVersionReplacesAnotherWhenItIsServed) {
  SetServed("v2", false);
  AddRack("v1", "a");
  Start({"example.com/v2|v1/Rack"});
  std::vector<std::string> changes;
  store_.Replay(store_.Watch("example.com/v2|v1/Rack", [&](const ObjectChange& change) {
    const ObjectRef& one = change.now != nullptr ? change.now : change.old;
    changes.push_back((change.now != nullptr ? "+" : "-") + std::string(one->kind()));
  }));
  changes.clear();
  SetServed("v2", true);
  EXPECT_THAT(changes, ElementsAre("-example.com/v1/Rack"));
  AddRack("v2", "a");
  EXPECT_THAT(Racks(), ElementsAre("example.com/v2/Rack a"));
  EXPECT_EQ(store_.size(), 1U) << "the other version is no longer watched";
  EXPECT_THAT(changes, ElementsAre("-example.com/v1/Rack", "+example.com/v2/Rack"));
  SetServed("v2", false);
  EXPECT_THAT(Racks(), ElementsAre("example.com/v1/Rack a"));
}

TEST_F(KindsTest, VersionThatIsAlsoDeclaredAloneStaysWatched) {
  SetServed("v2", false);
  AddRack("v1", "a");
  Start({"example.com/v2|v1/Rack", "example.com/v1/Rack"});
  SetServed("v2", true);
  AddRack("v2", "b");
  EXPECT_THAT(Racks(), ElementsAre("example.com/v2/Rack b"));
  EXPECT_NE(store_.Get("example.com/v1/Rack", "", "a"), nullptr);
}

TEST_F(KindsTest, ALessPreferredVersionIsNotWatched) {
  AddRack("v1", "a");
  AddRack("v2", "b");
  Start({"example.com/v2|v1/Rack"});
  EXPECT_THAT(Racks(), ElementsAre("example.com/v2/Rack b"));
  EXPECT_EQ(store_.size(), 1U);
}

// --- changes of the version ----------------------------------------------------------------------

// A source whose watch events the test delivers in any order that WatchSink::OnEvents allows.
class VersionsSource final : public ObjectSource {
 public:
  std::unique_ptr<Watch> StartWatch(std::string_view kind, WatchSink& sink) override {
    sinks_.insert_or_assign(std::string(kind), &sink);
    return std::make_unique<StoppedWatch>(*this, std::string(kind));
  }
  bool Watches(const std::string& version) const { return sinks_.contains(KindOf(version)); }
  // Delivers the event to the watch of this version of Rack.
  void Send(const std::string& version, WatchEvent event) {
    sinks_.at(KindOf(version))->OnEvents({&event, 1});
  }

 private:
  struct StoppedWatch final : Watch {
    StoppedWatch(VersionsSource& the_source, std::string the_kind)
        : source(the_source), kind(std::move(the_kind)) {}
    ~StoppedWatch() override { source.sinks_.erase(kind); }
    VersionsSource& source;
    const std::string kind;
  };

  static std::string KindOf(const std::string& version) {
    return "example.com/" + version + "/Rack";
  }

  std::map<std::string, WatchSink*> sinks_;
};

class VersionSwitchTest : public KindsTest {
 protected:
  // Starts the watches of v2|v1, of which the server serves `served`; empty: none of them.
  void StartWith(const std::string& served, const std::string& also = "") {
    std::vector<std::string> kinds{kBoth};
    if (!also.empty()) kinds.push_back(also);
    router_.StartWatches(source_, kinds);
    Send("v2", served == "v2" ? WatchType::kSynced : WatchType::kNotServed);
    if (source_.Watches("v1")) {
      Send("v1", served == "v1" ? WatchType::kSynced : WatchType::kNotServed);
    }
    policy_.Take();
  }
  ObjectRef Rack(const std::string& version, const std::string& name,
                 const std::string& uid = "uid") {
    return objects_.ObjectFrom(R"({"kind":"Rack","apiVersion":"example.com/)" + version +
                               R"(","metadata":{"resourceVersion":"5","name":")" + name +
                               R"(","uid":")" + uid + "\"}}");
  }
  void Send(const std::string& version, WatchType type) {
    source_.Send(version, {type, {}, {}, false});
  }
  ObjectRef Add(const std::string& version, const std::string& name,
                const std::string& uid = "uid") {
    const ObjectRef rack = Rack(version, name, uid);
    source_.Send(version, {.type = WatchType::kAdded, .object = rack, .previous = ObjectRef()});
    return rack;
  }
  void Delete(const std::string& version, const ObjectRef& rack) {
    source_.Send(version, {.type = WatchType::kDeleted, .object = rack, .previous = rack});
  }
  // Returns the events since the last call, such as "Update v1 v2 a".
  std::vector<std::string> Events() { return policy_.TakeObjects(); }

  static constexpr const char* kBoth = "example.com/v2|v1/Rack";
  VersionsSource source_;
  Stopper first_stopper_{router_};  // Ends the watches before the client is destroyed.
};

// A parked pod gets the same object in another version as an update, when plugins get it.
TEST_F(VersionSwitchTest, VersionSwitchUpdatesAnObjectOfBothVersions) {
  StartWith("v1");
  Add("v1", "both");
  Add("v1", "gone");
  Add("v1", "other", "first");
  EXPECT_THAT(Events(), ElementsAre("Add v1 both", "Add v1 gone", "Add v1 other"));
  Add("v2", "both");
  Delete("v2", Add("v2", "brief"));
  Add("v2", "new");
  Add("v2", "other", "second");
  EXPECT_THAT(Events(), IsEmpty()) << "plugins get the objects of v1";
  EXPECT_THAT(Racks(), ElementsAre("example.com/v1/Rack both", "example.com/v1/Rack gone",
                                   "example.com/v1/Rack other"));
  Send("v2", WatchType::kSynced);
  EXPECT_THAT(Events(), ElementsAre("Delete v1 gone", "Delete v1 other", "Update v1 v2 both",
                                    "Add v2 new", "Add v2 other"));
  EXPECT_THAT(Racks(), ElementsAre("example.com/v2/Rack both", "example.com/v2/Rack new",
                                   "example.com/v2/Rack other"));
  EXPECT_EQ(store_.size(), 3U);
  EXPECT_FALSE(source_.Watches("v1"));
}

TEST_F(VersionSwitchTest, FirstObjectsAreAddedWhenPluginsGetThem) {
  StartWith("");
  Add("v1", "a");
  EXPECT_THAT(Events(), IsEmpty());
  EXPECT_THAT(Racks(), IsEmpty());
  Send("v1", WatchType::kSynced);
  EXPECT_THAT(Events(), ElementsAre("Add v1 a"));
  EXPECT_THAT(Racks(), ElementsAre("example.com/v1/Rack a"));
}

TEST_F(VersionSwitchTest, LonePluginsVersionIsAnImmediateEvent) {
  StartWith("v1", "example.com/v2/Rack");
  Add("v1", "a");
  EXPECT_THAT(Events(), ElementsAre("Add v1 a"));
  Add("v2", "a");
  EXPECT_THAT(Events(), ElementsAre("Add v2 a"));
  Send("v2", WatchType::kSynced);
  EXPECT_THAT(Events(), ElementsAre("Update v1 v2 a"));
}

// Plugins find no object until those of the other version arrive.
TEST_F(VersionSwitchTest, EndOfVersionDeletesAndAddsTheObjects) {
  StartWith("v2");
  const ObjectRef rack = Add("v2", "a");
  Delete("v2", rack);
  Send("v2", WatchType::kNotServed);
  EXPECT_THAT(Racks(), IsEmpty());
  EXPECT_THAT(Events(), ElementsAre("Add v2 a", "Delete v2 a"));
  Add("v1", "a");
  Send("v1", WatchType::kSynced);
  EXPECT_THAT(Events(), ElementsAre("Add v1 a"));
  EXPECT_THAT(Racks(), ElementsAre("example.com/v1/Rack a"));
}

// v2 is served before the first objects of v1, which begins to be served, are complete.
TEST_F(VersionSwitchTest, NoObjectOfAVersionDroppedStays) {
  StartWith("");
  Add("v1", "a");
  Add("v1", "b");
  Add("v2", "a");
  Send("v2", WatchType::kSynced);
  EXPECT_FALSE(source_.Watches("v1"));
  EXPECT_EQ(store_.size(), 1U);
  EXPECT_THAT(Events(), ElementsAre("Add v2 a"));
  std::vector<std::string> changes;
  store_.Replay(store_.Watch(kBoth, [&](const ObjectChange& change) {
    const ObjectRef& one = change.now != nullptr ? change.now : change.old;
    changes.push_back((change.old == nullptr   ? "+"
                       : change.now == nullptr ? "-"
                                               : "~") +
                      std::string(one->kind()) + " " + one->Key());
  }));
  Delete("v2", Rack("v2", "a"));
  Send("v2", WatchType::kNotServed);
  // Rack b was deleted while v1 was not watched.
  Add("v1", "a");
  Send("v1", WatchType::kSynced);
  EXPECT_THAT(changes, ElementsAre("+example.com/v2/Rack a", "-example.com/v2/Rack a",
                                   "+example.com/v1/Rack a"));
  EXPECT_THAT(Racks(), ElementsAre("example.com/v1/Rack a"));
  EXPECT_EQ(store_.size(), 1U);
}

TEST_F(KindsTest, DropsAKindThatNoPluginDeclares) {
  AddRack("v1", "a");
  Start({"example.com/v1/Rack", "v1/Namespace"});
  EXPECT_EQ(store_.size(), 1U);
  Start({"v1/Namespace"});
  EXPECT_EQ(store_.size(), 0U);
  AddRack("v1", "b");
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_TRUE(router_.synced());
  Start({"example.com/v1/Rack"});
  EXPECT_EQ(store_.size(), 2U);
  EXPECT_TRUE(router_.synced());
}

TEST_F(KindsTest, KindDroppedBeforeItsObjectsCameDelaysNothing) {
  router_.StartWatches(cluster_, std::vector<std::string>{"example.com/v1/Rack"});
  router_.StartWatches(cluster_, std::vector<std::string>{});
  cluster_.Deliver();
  EXPECT_TRUE(router_.synced());
}

TEST_F(KindsTest, ObjectsThatExistedBeforeTheWatchAreMarked) {
  std::vector<std::string> changes;
  store_.Replay(store_.Watch("example.com/v1/Rack", [&](const ObjectChange& change) {
    changes.push_back(change.now->Key() + (change.existed ? " existed" : " is new"));
  }));
  AddRack("v1", "a");
  Start({"example.com/v1/Rack"});
  AddRack("v1", "b");
  EXPECT_THAT(changes, ElementsAre("a existed", "b is new"));
}

}  // namespace
}  // namespace berth::host
