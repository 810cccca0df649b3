#include "host/process/replay/stream_event.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/decode.h"
#include "host/base/assert.h"
#include "host/base/test_clock.h"

namespace berth::host {
namespace {

class StreamEventTest : public ::testing::Test {
 protected:
  Result<StreamEvent> Event(const std::string& text, int64_t line = 1) {
    text_ = {text, line};
    return ReadStreamEvent(text_, decoder_);
  }
  // Returns "ADDED default/a after 5", the rejection, or the error. Both texts use ' instead of ".
  std::string Read(std::string text, int64_t line = 1) {
    for (char& c : text) c = c == '\'' ? '"' : c;
    const Result<StreamEvent> event = Event(text, line);
    if (!event.ok() || !event->rejection.ok()) {
      std::string message =
          event.ok() ? "rejected: " + event->rejection.ToString() : event.status().ToString();
      for (char& c : message) c = c == '"' ? '\'' : c;
      return message;
    }
    std::string read(StreamTypeName(event->type));
    if (!event->object_json.empty()) read += " " + Base(event->object).Key();
    if (event->after_ns != 0) read += " after " + std::to_string(event->after_ns);
    return read;
  }

  Interner interner_;
  Decoder decoder_{interner_};
  JsonText text_;
};

constexpr const char* kPod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})";

TEST_F(StreamEventTest, ReadsEvents) {
  const std::string object = std::string("'object':") + kPod;
  struct Case {
    std::string text;
    const char* read;
  };
  const std::vector<Case> cases = {
      {"{'type':'ADDED'," + object + "}", "ADDED default/a"},
      {"{'type':'MODIFIED'," + object + "}", "MODIFIED default/a"},
      {"{'type':'DELETED'," + object + "}", "DELETED default/a"},
      {"{" + object + ",'after':'1.5s','type':'ADDED'}", "ADDED default/a after 1500000000"},
      {"{'after':'1ns','type':'ADDED'," + object + "}", "ADDED default/a after 1"},
      {"{'type':'ADDED','after':'0s'," + object + "}", "ADDED default/a"},
      {"{'type':'ADDED','after':null," + object + "}", "ADDED default/a"},
      {"{\n  'type': 'ADDED',\n  'object': {'kind': 'Node', 'apiVersion': 'v1',\n"
       "    'metadata': {'name': 'n'}\n  }\n}",
       "ADDED n"},
      {"{'type':'ADDED','object':{'kind':'CSINode','apiVersion':'storage.k8s.io/v1',"
       "'metadata':{'name':'n'}}}",
       "ADDED n"},
      {"{'type':'BOOKMARK','object':{'kind':'Pod','metadata':{'resourceVersion':'7'}}}",
       "BOOKMARK"},
      {"{'type':'BOOKMARK','after':'2s'}", "BOOKMARK after 2000000000"},
      {"{'kind':'WatchEvent','type':'BOOKMARK','object':7,'more':{'after':'1s'}}", "BOOKMARK"},
      {"{'type':'DECISION','object':{'type':'Bound'},'seed':1}", "DECISION"},
      {"{'type':'DEC\\u0049SION'}", "DECISION"},
      {"{'type':'ATTEMPT','after':'2ms','object':{}}", "ATTEMPT after 2000000"},
  };
  for (const Case& c : cases) EXPECT_EQ(Read(c.text), c.read) << c.text;
}

TEST_F(StreamEventTest, RejectsAnEventWithLineObjectAndPath) {
  const std::string object = std::string("'object':") + kPod;
  struct Case {
    std::string text;
    const char* error;
  };
  const std::vector<Case> cases = {
      {"{'type':'Added'," + object + "}",
       "7: Pod default/a: /type: expected ADDED, MODIFIED, DELETED, BOOKMARK, DECISION or ATTEMPT, "
       "found "
       "'Added'"},
      {"{'type':7," + object + "}", "7: Pod default/a: /type: expected a string, found 7"},
      {"{'type':'ADDED','object':null}", "7: /object: expected an object, found null"},
      {"{'type':'ADDED','object':[]}", "7: /object: expected an object, found an array"},
      {"{'type':'ADDED','object':{}}",
       "7: /object/kind: expected the object's type, found nothing"},
      {"{'type':'ADDED','object':{'kind':'Pod','apiVersion':'v1','metadata':{'name':'a'},"
       "'spec':{'priority':'high'}}}",
       "7: Pod default/a: /object/spec/priority: expected an integer, found 'high'"},
      {"{\n'type':'ADDED','object':{'kind':'Pod',\n'apiVersion':'v1','metadata':{'namespace':'web',"
       "'name':'a'},\n'spec':{\n'priority':'high'}}}",
       "11: Pod web/a: /object/spec/priority: expected an integer, found 'high'"},
      {"{'type':'ADDED','object':\n{'kind':'Node','apiVersion':'v1',\n'metadata':{}}}",
       "9: Node: /object/metadata/name: expected a name, found nothing"},
      {"{'type':'ADDED','afetr':'1s'," + object + "}",
       "7: Pod default/a: /: expected the keys type, object and after, found 'afetr'"},
      {"{'type':'ADDED',\n'after':'-1s'," + object + "}",
       "8: Pod default/a: /after: expected a time that is not negative, found '-1s'"},
      {"{'type':'ADDED','after':1," + object + "}",
       "7: Pod default/a: /after: expected a string, found 1"},
      {"{'type':'ADDED',\n'after':tru," + object + "}",
       "8: Pod default/a: expected a JSON value, found 't'"},
      {"{'type':'ADDED',\n'object':{'kind':01}}", "8: expected ',' or '}', found '1'"},
      {"{'type':'ADDED',\n\n'object':{'kind':'\xff'}}", "9: expected UTF-8 text"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Read(c.text, 7), std::string("rejected: InvalidArgument: ") + c.error) << c.text;
  }
  for (const char* after : {"", "1", "s", "1x", " 1s"}) {
    EXPECT_THAT(Read("{'type':'ADDED','after':'" + std::string(after) + "'," + object + "}"),
                ::testing::StartsWith("rejected: InvalidArgument: 1: Pod default/a: /after: "))
        << after;
  }
}

TEST_F(StreamEventTest, ReportsATextThatIsNoWatchEvent) {
  struct Case {
    std::string text;
    const char* error;
  };
  const std::vector<Case> cases = {
      {std::string("{'object':") + kPod + "}",
       "7: Pod default/a: /type: expected ADDED, MODIFIED, DELETED, BOOKMARK, DECISION or ATTEMPT, "
       "found "
       "nothing"},
      {kPod,
       "7: Pod default/a: /: expected a watch event, found an object; use kubectl with "
       "--output-watch-events to print events, and pass existing objects with --cluster"},
      {"{'apiVersion':'v1','kind':'Secret','metadata':{'name':'a'},'type':'Opaque'}",
       "7: Secret a: /type: expected ADDED, MODIFIED, DELETED, BOOKMARK, DECISION or ATTEMPT, "
       "found "
       "'Opaque'"},
      {"{'type':'ADDED'}", "7: /object: expected the object, found nothing"},
      {"{}",
       "7: /type: expected ADDED, MODIFIED, DELETED, BOOKMARK, DECISION or ATTEMPT, found nothing"},
      {"{'a':\n01}", "8: expected ',' or '}', found '1'"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Read(c.text, 7), std::string("Unsupported: ") + c.error) << c.text;
  }
}

TEST_F(StreamEventTest, KeepsTheTimeOfARejectedEvent) {
  const auto after = [this](const std::string& text) {
    const Result<StreamEvent> event = Event(text);
    EXPECT_TRUE(event.ok() && !event->rejection.ok()) << text;
    return event->after_ns;
  };
  EXPECT_EQ(after(R"({"type":"ADDED","after":"5ns","object":{}})"), 5);
  EXPECT_EQ(after(R"({"type":"ADDED","after":"x","object":{}})"), 0);
}

TEST_F(StreamEventTest, ReportsWhyTheServerEndedTheWatch) {
  EXPECT_EQ(Read("{'type':'ERROR','object':{'kind':'Status','apiVersion':'v1','code':410,"
                 "'message':'too old resource version: 1 (2)'}}"),
            "Unavailable: 1: /type: the server ended the watch with an error: "
            "too old resource version: 1 (2)");
  for (const char* text : {"{'type':'ERROR'}", "{'type':'ERROR','object':[]}",
                           "{'type':'ERROR','object':{'message':7}}"}) {
    EXPECT_EQ(Read(text), "Unavailable: 1: /type: the server ended the watch with an error")
        << text;
  }
}

TEST_F(StreamEventTest, KeepsTheTextOfTheObject) {
  const std::string object =
      "{ \"kind\":\"Pod\",\n\"apiVersion\":\"v1\", \"metadata\":{\"name\":\"}\"} }";
  for (const std::string& text : {"{\"type\":\"ADDED\",\"object\":" + object + "}",
                                  "{\"object\": " + object + " , \"type\":\"ADDED\"}"}) {
    const Result<StreamEvent> event = Event(text);
    ASSERT_TRUE(event.ok()) << event.status().ToString();
    EXPECT_EQ(event->object_json, object);
  }
}

TEST_F(StreamEventTest, ReadsAnObjectOfOneMebibyte) {
  const std::string big(size_t{1} << 20, 'x');
  const std::string text = R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":)"
                           R"({"name":"a","annotations":{"big":")" +
                           big + R"("}}}})";
  const Result<StreamEvent> event = Event(text);
  ASSERT_TRUE(event.ok()) << event.status().ToString();
  EXPECT_EQ(Base(event->object).Key(), "default/a");
}

TEST_F(StreamEventTest, RefusesAnObjectThatIsTooLarge) {
  DecodeOptions small;
  small.max_object_bytes = 100;
  Decoder decoder(interner_, small);
  const JsonText text{R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod","metadata":)"
                      R"({"name":"a","annotations":{"k":")" +
                          std::string(100, 'x') + R"("}}}})",
                      3};
  const Result<StreamEvent> event = ReadStreamEvent(text, decoder);
  ASSERT_TRUE(event.ok()) << event.status().ToString();
  EXPECT_THAT(event->rejection.ToString(),
              ::testing::HasSubstr("OutOfRange: 3: Pod default/a: /object: "));
}

TEST_F(StreamEventTest, RefusesDeeplyNestedFieldsOnlyInKeptText) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string pod = R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"Pod",)"
                          R"("metadata":{"name":"a"},"spec":{"unknown":)" +
                          deep + "}}}";
  EXPECT_EQ(Read(pod), "ADDED default/a");
  const std::string other = R"({"type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap",)"
                            R"("metadata":{"name":"a"},"data":)" +
                            deep + "}}";
  EXPECT_THAT(Read(other),
              ::testing::StartsWith("rejected: OutOfRange: 1: ConfigMap a: /object/data/"));
}

// A pod with the metadata that the tests need. The tests give each version another priority, to
// recognize the version.
struct PodText {
  const char* version = "";
  const char* uid = "";
  int priority = 0;
  const char* name = "a";
};

class StreamClusterTest : public ::testing::Test {
 protected:
  AnyObject Decode(const std::string& json) {
    Result<AnyObject> object = decoder_.Decode(json);
    BERTH_ASSERT_MSG(object.ok(), "%s", object.status().ToString().c_str());
    return *object;
  }
  AnyObject PodOf(const PodText& pod) {
    std::string meta = R"("name":")" + std::string(pod.name) + '"';
    if (*pod.version != '\0') meta += R"(,"resourceVersion":")" + std::string(pod.version) + '"';
    if (*pod.uid != '\0') meta += R"(,"uid":")" + std::string(pod.uid) + '"';
    return Decode(R"({"apiVersion":"v1","kind":"Pod","metadata":{)" + meta +
                  R"(},"spec":{"priority":)" + std::to_string(pod.priority) + "}}");
  }
  bool Apply(StreamType type, const PodText& pod) {
    const Result<bool> changed = cluster_stream_->Apply({type, 0, PodOf(pod), ""});
    BERTH_ASSERT_MSG(changed.ok(), "%s", changed.status().ToString().c_str());
    return *changed;
  }
  bool Add(const PodText& pod) { return Apply(StreamType::kAdded, pod); }
  bool Modify(const PodText& pod) { return Apply(StreamType::kModified, pod); }
  bool Delete(const PodText& pod) { return Apply(StreamType::kDeleted, pod); }
  // Returns the priority of pod "a", or -1 if it does not exist.
  int Priority() const {
    const PodRef pod = cluster_.FindPod("default", "a");
    return pod != nullptr ? pod->view().priority : -1;
  }
  void UseNewStream(size_t max_deleted) {
    cluster_stream_ = std::make_unique<StreamCluster>(cluster_, max_deleted);
  }

  Interner interner_;
  Decoder decoder_{interner_};
  TestClock clock_;
  EmbeddedCluster cluster_{{.clock = clock_, .max_events = 0, .serve = nullptr}};
  std::unique_ptr<StreamCluster> cluster_stream_ = std::make_unique<StreamCluster>(cluster_);
};

TEST_F(StreamClusterTest, AppliesTheEventsOfAWatch) {
  EXPECT_TRUE(Add({"1", "u1", 1}));
  EXPECT_TRUE(Modify({"2", "u1", 2}));
  EXPECT_EQ(Priority(), 2);
  EXPECT_TRUE(Delete({"3", "u1", 2}));
  EXPECT_EQ(Priority(), -1);
}

TEST_F(StreamClusterTest, ModifiedMayAddAndAddedMayReplace) {
  EXPECT_TRUE(Modify({.priority = 1}));
  EXPECT_EQ(Priority(), 1);
  EXPECT_TRUE(Add({.priority = 2}));
  EXPECT_EQ(Priority(), 2);
  EXPECT_TRUE(Delete({}));
  EXPECT_FALSE(Delete({}));
  EXPECT_TRUE(Add({.priority = 3}));
  EXPECT_EQ(Priority(), 3);
}

TEST_F(StreamClusterTest, ARepetitionChangesNothing) {
  EXPECT_TRUE(Add({"10", "u1", 1}));
  const std::string before(cluster_.FindPod("default", "a")->resource_version());
  EXPECT_FALSE(Add({"10", "u1", 7}));
  EXPECT_FALSE(Modify({"10", "u1", 7}));
  EXPECT_FALSE(Modify({"9", "u1", 7})) << "older";
  EXPECT_FALSE(Modify({"010", "u1", 7}));
  EXPECT_EQ(cluster_.FindPod("default", "a")->resource_version(), before);
  EXPECT_TRUE(Modify({"11", "u1", 2}));
  EXPECT_TRUE(Modify({"", "u1", 3})) << "an object without a version is new";
  EXPECT_FALSE(Modify({"11", "u1", 4}));
  EXPECT_EQ(Priority(), 3);
}

TEST_F(StreamClusterTest, ComparesNonNumericVersionsForEqualityOnly) {
  EXPECT_TRUE(Add({"v10", "u1", 1}));
  EXPECT_FALSE(Add({"v10", "u1", 2}));
  EXPECT_TRUE(Modify({"v9", "u1", 3}));
  EXPECT_TRUE(Modify({"8", "u1", 4}));
  EXPECT_EQ(Priority(), 4);
}

TEST_F(StreamClusterTest, RepetitionDoesNotCreateADeletedObjectAgain) {
  EXPECT_TRUE(Add({"5", "u1", 1}));
  EXPECT_TRUE(Delete({"7", "u1"}));
  EXPECT_FALSE(Add({"5", "u1", 1}));
  EXPECT_FALSE(Modify({"6", "u1", 1}));
  EXPECT_FALSE(Delete({"7", "u1"}));
  EXPECT_EQ(Priority(), -1);
  EXPECT_TRUE(Add({"8", "u2", 2})) << "another object of the same name";
  EXPECT_EQ(Priority(), 2);
}

TEST_F(StreamClusterTest, ADeletionMayHaveTheLastVersionSeen) {
  EXPECT_TRUE(Add({"5", "u1", 1}));
  EXPECT_TRUE(Delete({"5", "u1"}));
  EXPECT_EQ(Priority(), -1);
}

TEST_F(StreamClusterTest, LateDeletionDoesNotDeleteALaterObject) {
  EXPECT_TRUE(Add({"8", "u2", 2}));
  EXPECT_FALSE(Delete({"7", "u1"}));
  EXPECT_FALSE(Delete({"", "u1"}));
  EXPECT_EQ(Priority(), 2);
  EXPECT_TRUE(Delete({"9", "u3"})) << "the events in between were missed";
  EXPECT_EQ(Priority(), -1);
}

TEST_F(StreamClusterTest, AnObjectWithAnotherUidReplacesTheFirst) {
  EXPECT_TRUE(Add({"1", "u1", 1}));
  EXPECT_TRUE(Add({"4", "u2", 2}));
  EXPECT_EQ(cluster_.FindPod("default", "a")->uid(), "u2");
  EXPECT_FALSE(Modify({"2", "u1", 1}));
  EXPECT_FALSE(Delete({"3", "u1"}));
  EXPECT_EQ(Priority(), 2);
}

TEST_F(StreamClusterTest, ComparesWithTheVersionsOfLoadedObjects) {
  const AnyObject pod = PodOf({"5", "u1", 1});
  ASSERT_TRUE(cluster_.Load(pod).ok());
  cluster_stream_->NoteLoaded(pod);
  EXPECT_FALSE(Add({"5", "u1", 2}));
  EXPECT_TRUE(Modify({"6", "u1", 3}));
  EXPECT_EQ(Priority(), 3);
}

TEST_F(StreamClusterTest, ForgetsTheOldestDeletionFirst) {
  UseNewStream(2);
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_TRUE(Add({"1", "", 1, name}));
    EXPECT_TRUE(Delete({"2", "", 1, name}));
  }
  EXPECT_TRUE(Add({"1", "", 1, "a"})) << "forgotten";
  EXPECT_FALSE(Add({"1", "", 1, "b"}));
  EXPECT_FALSE(Add({"1", "", 1, "c"}));
}

TEST_F(StreamClusterTest, ObjectsOfDifferentKindsMayHaveSameName) {
  const AnyObject node =
      Decode(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"x","resourceVersion":"5"}})");
  const AnyObject volume = Decode(R"({"apiVersion":"v1","kind":"PersistentVolume",)"
                                  R"("metadata":{"name":"x","resourceVersion":"4"}})");
  EXPECT_TRUE(*cluster_stream_->Apply({StreamType::kAdded, 0, node, ""}));
  EXPECT_TRUE(*cluster_stream_->Apply({StreamType::kAdded, 0, volume, ""}));
  EXPECT_TRUE(*cluster_stream_->Apply({StreamType::kDeleted, 0, node, ""}));
  EXPECT_EQ(cluster_.FindNode("x"), nullptr);
  EXPECT_TRUE(cluster_.Find("v1/PersistentVolume", "", "x").has_value());
}

TEST_F(StreamClusterTest, ReturnsErrorIfTheClusterRefusesAnObject) {
  EXPECT_TRUE(Add({"1", "u1", 1, "b"}));
  const Result<bool> refused =
      cluster_stream_->Apply({StreamType::kAdded, 0, PodOf({"2", "u1", 1}), ""});
  EXPECT_EQ(refused.status().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Priority(), -1);
  EXPECT_TRUE(Add({"2", "u2", 1})) << "the refused version does not count as seen";
}

TEST_F(StreamClusterTest, BookmarksAndDecisionsChangeNothing) {
  EXPECT_FALSE(*cluster_stream_->Apply({StreamType::kBookmark, 0, {}, ""}));
  EXPECT_FALSE(*cluster_stream_->Apply({StreamType::kDecision, 0, {}, ""}));
}

TEST_F(StreamClusterTest, APodDeletedHereIsNotCreatedAgain) {
  struct Case {
    StreamType type;
    const char* uid_before;
    const char* uid;
    bool is_created;
  };
  const std::vector<Case> cases = {
      {StreamType::kModified, "u1", "u1", false}, {StreamType::kAdded, "u1", "u1", false},
      {StreamType::kModified, "u1", "u2", true},  {StreamType::kAdded, "u1", "u2", true},
      {StreamType::kModified, "", "", false},     {StreamType::kAdded, "", "", true},
      {StreamType::kModified, "u1", "", false},   {StreamType::kAdded, "u1", "", true},
  };
  for (const Case& c : cases) {
    UseNewStream(StreamCluster::kMaxDeleted);
    EXPECT_TRUE(Add({"1", c.uid_before, 1}));
    ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok()) << "deleted in this cluster";
    EXPECT_EQ(Apply(c.type, {"2", c.uid, 2}), c.is_created);
    EXPECT_EQ(Priority(), c.is_created ? 2 : -1) << c.uid_before << ' ' << c.uid;
    if (!c.is_created) {
      EXPECT_FALSE(Apply(c.type, {"3", c.uid, 3})) << "later events do not create it either";
      EXPECT_FALSE(Delete({"4", c.uid, 3}));
      EXPECT_TRUE(Add({"5", "u9", 5})) << "another pod of the same name";
    }
    ASSERT_TRUE(cluster_.Delete(kPodKind, "default", "a").ok());
  }
}

}  // namespace
}  // namespace berth::host
