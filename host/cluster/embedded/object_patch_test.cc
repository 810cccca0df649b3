#include "host/cluster/embedded/object_patch.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/split_mix.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::StartsWith;

// Returns the patched object as JSON text, or the HTTP status and the message of the error.
std::string Patch(PatchType type, const std::string& object, const std::string& patch) {
  const Result<Json> patched = ApplyPatch(type, kPodKind, Json::parse(object), patch);
  if (patched.ok()) return patched->dump();
  return std::to_string(HttpStatusOf(patched.status())) + " " +
         std::string(patched.status().message());
}

// ---- Merge patches ------------------------------------------------------------------------------

// The cases of RFC 7396, appendix A, whose document and patch are objects.
TEST(MergePatch, FollowsTheExamplesOfTheRfc) {
  constexpr const char* kTable[][3] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [object, patch, want] : kTable) {
    EXPECT_EQ(Patch(PatchType::kMerge, object, patch), want) << patch;
  }
}

TEST(MergePatch, RefusesABodyThatIsNoObject) {
  for (const PatchType type : {PatchType::kMerge, PatchType::kStrategicMerge}) {
    for (const char* body : {"", "[]", "1", "null", "{", "{}{}", "{\"a\":\"\xff\"}"}) {
      EXPECT_EQ(Patch(type, "{}", body), "400 the body is not a JSON object") << body;
    }
  }
}

// ---- JSON patches -------------------------------------------------------------------------------

TEST(JsonPatch, AppliesAllOperations) {
  constexpr const char* kObject = R"({"a":1,"l":[1,2],"m":{"x/y":1,"~":2}})";
  constexpr std::pair<const char*, const char*> kTable[] = {
      {"[]", kObject},
      {R"([{"op":"add","path":"/b","value":{"c":null}}])",
       R"({"a":1,"l":[1,2],"m":{"x/y":1,"~":2},"b":{"c":null}})"},
      {R"([{"op":"add","path":"/l/0","value":0},{"op":"add","path":"/l/-","value":3}])",
       R"({"a":1,"l":[0,1,2,3],"m":{"x/y":1,"~":2}})"},
      {R"([{"op":"remove","path":"/l/0"},{"op":"remove","path":"/m/x~1y"}])",
       R"({"a":1,"l":[2],"m":{"~":2}})"},
      {R"([{"op":"replace","path":"/m/~0","value":"x"}])",
       R"({"a":1,"l":[1,2],"m":{"x/y":1,"~":"x"}})"},
      {R"([{"op":"move","from":"/l/1","path":"/n"}])",
       R"({"a":1,"l":[1],"m":{"x/y":1,"~":2},"n":2})"},
      {R"([{"op":"copy","from":"/m","path":"/l/1"}])",
       R"({"a":1,"l":[1,{"x/y":1,"~":2},2],"m":{"x/y":1,"~":2}})"},
      {R"([{"op":"test","path":"/m","value":{"~":2,"x/y":1}},{"op":"remove","path":"/m"}])",
       R"({"a":1,"l":[1,2]})"},
      {R"([{"op":"replace","path":"","value":{"b":1}}])", R"({"b":1})"},
  };
  for (const auto& [patch, want] : kTable) {
    EXPECT_EQ(Patch(PatchType::kJson, kObject, patch), want) << patch;
  }
}

TEST(JsonPatch, RefusesWhatDoesNotApply) {
  constexpr const char* kObject = R"({"a":1,"l":[1,2],"m":{"n":null}})";
  constexpr std::pair<const char*, const char*> kTable[] = {
      {R"([{"op":"test","path":"/a","value":2}])",
       R"(the test of "/a" failed: expected 2, found 1)"},
      {R"([{"op":"test","path":"/b","value":2}])", R"(the object has no "/b")"},
      {R"([{"op":"test","path":"/a"}])", "a test has no value"},
      {R"([{"op":"remove","path":"/b"}])", R"(the object has no "/b")"},
      {R"([{"op":"remove","path":""}])", "the whole object is removed"},
      {R"([{"op":"remove","path":"/a/b"}])", R"(the object has no "/a/b")"},
      {R"([{"op":"replace","path":"/b","value":1}])", R"(the object has no "/b")"},
      {R"([{"op":"replace","path":"/l/2","value":1}])", R"(the object has no "/l/2")"},
      {R"([{"op":"replace","path":"/l/-","value":1}])", R"(the object has no "/l/-")"},
      {R"([{"op":"add","path":"/b/c","value":1}])", R"(the object has no "/b/c")"},
      {R"([{"op":"add","path":"/a/b","value":1}])", R"(the object has no "/a/b")"},
      {R"([{"op":"add","path":"/m/n/o","value":1}])", R"(the object has no "/m/n/o")"},
      {R"([{"op":"add","path":"/l/3","value":1}])", ""},
      {R"([{"op":"add","path":"/l/x","value":1}])", ""},
      {R"([{"op":"add","path":"/l/-1","value":1}])", ""},
      {R"([{"op":"add","path":"/l/01","value":1}])", ""},
      {R"([{"op":"add","path":"b","value":1}])", ""},
      {R"([{"op":"add","path":"/b~2","value":1}])", ""},
      {R"([{"op":"add","path":"/b"}])", ""},
      {R"([{"op":"add","value":1}])", ""},
      {R"([{"op":"move","from":"/b","path":"/c"}])", R"(the object has no "/b")"},
      {R"([{"op":"move","from":"/m","path":"/m/x"}])", R"("/m" is moved into itself)"},
      {R"([{"op":"add","path":"/l/1","value":{}},{"op":"move","from":"/l/0","path":"/l/1/z"}])",
       R"(the object has no "/l/1/z")"},
      {R"([{"op":"copy","from":"/a"}])", ""},
      {R"([{"op":"copy","path":"/b"}])", ""},
      {R"([{"op":"merge","path":"/a","value":1}])", ""},
      {R"([{"path":"/a","value":1}])", ""},
      {R"([{"op":"replace","path":"","value":[]}])", "the result is not an object"},
  };
  const std::string begin = "422 the server rejected our request due to an error in our request: ";
  for (const auto& [patch, why] : kTable) {
    EXPECT_THAT(Patch(PatchType::kJson, kObject, patch), StartsWith(begin + why)) << patch;
  }
}

TEST(JsonPatch, RefusesABodyThatIsNoPatch) {
  for (const char* body : {"", "{}", "1", "null", "[", "[]]"}) {
    EXPECT_EQ(Patch(PatchType::kJson, "{}", body), "400 the body is not a JSON array") << body;
  }
  for (const char* body :
       {"[1]", "[[]]", "[null]", R"([{"op":"test","path":"","value":{}},"x"])", R"([{"op":1}])",
        R"([{"op":"add","path":[]}])", R"([{"op":"move","path":"/a","from":{}}])"}) {
    EXPECT_THAT(Patch(PatchType::kJson, "{}", body), StartsWith("400 /")) << body;
  }
}

TEST(JsonPatch, LimitsTheNumberOfOperations) {
  const auto tests = [](size_t count) {
    Json patch = Json::array();
    for (size_t i = 0; i < count; ++i) {
      patch.push_back({{"op", "test"}, {"path", ""}, {"value", Json::object()}});
    }
    return patch.dump();
  };
  EXPECT_EQ(Patch(PatchType::kJson, "{}", tests(kMaxPatchOperations)), "{}");
  EXPECT_EQ(Patch(PatchType::kJson, "{}", tests(kMaxPatchOperations + 1)),
            "413 The allowed maximum operations in a JSON patch is 10000, got 10001");
}

// Each copy of /a into itself doubles the object, so that forty of them would fill any memory.
TEST(JsonPatch, LimitsWhatCopiesAdd) {
  Json patch = Json::array();
  for (int i = 0; i < 40; ++i) {
    const std::string name = "/a/" + std::to_string(i);
    patch.push_back({{"op", "copy"}, {"from", "/a"}, {"path", name}});
  }
  EXPECT_THAT(Patch(PatchType::kJson, R"({"a":{"text":"0123456789"}})", patch.dump()),
              StartsWith("413 the patch copies more than "));
}

// Three short operations add a level, which 10'000 operations could do 3'333 times.
TEST(JsonPatch, LimitsTheDepthOfTheResult) {
  Json patch = Json::array();
  for (int i = 0; i < 200; ++i) {
    patch.push_back({{"op", "add"}, {"path", "/b"}, {"value", Json::object()}});
    patch.push_back({{"op", "move"}, {"from", "/a"}, {"path", "/b/a"}});
    patch.push_back({{"op", "move"}, {"from", "/b"}, {"path", "/a"}});
  }
  EXPECT_THAT(Patch(PatchType::kJson, R"({"a":{}})", patch.dump()),
              StartsWith("422 the server rejected our request due to an error in our request: the "
                         "result has more than 100 levels"));
}

// ---- Properties ---------------------------------------------------------------------------------

// Makes random values of few keys, so that two of them have much in common.
class RandomJson {
 public:
  explicit RandomJson(uint64_t seed) : random_(seed) {}

  Json Object(int depth) {
    Json object = Json::object();
    for (const char* key : {"a", "b", "c/d", "~"}) {
      if (random_.Next() % 3 != 0) object[key] = Value(depth);
    }
    return object;
  }

 private:
  Json Value(int depth) {
    switch (random_.Next() % (depth > 0 ? 5 : 3)) {
      case 0: return random_.Next() % 3;
      case 1: return "text";
      case 2: return random_.Next() % 2 == 0;
      case 3: return Object(depth - 1);
      default: {
        Json list = Json::array();
        for (uint64_t i = random_.Next() % 4; i > 0; --i) list.push_back(Value(depth - 1));
        return list;
      }
    }
  }

  SplitMix64 random_;
};

// Returns the merge patch that turns `from` into `to`, neither of which has a null.
Json MergeDiff(const Json& from, const Json& to) {
  Json patch = Json::object();
  for (const auto& [key, value] : from.items()) {
    if (!to.contains(key)) patch[key] = nullptr;
  }
  for (const auto& [key, value] : to.items()) {
    const auto old = from.find(key);
    if (old != from.end() && old->is_object() && value.is_object()) {
      patch[key] = MergeDiff(*old, value);
    } else if (old == from.end() || *old != value) {
      patch[key] = value;
    }
  }
  return patch;
}

TEST(ObjectPatch, APatchOfTheDifferenceGivesTheTarget) {
  RandomJson random(7);
  for (int i = 0; i < 2000; ++i) {
    const Json from = random.Object(3);
    const Json to = random.Object(3);
    const Json merge = MergeDiff(from, to);
    const Json operations = Json::diff(from, to);
    const std::pair<PatchType, const Json*> kTable[] = {{PatchType::kMerge, &merge},
                                                        {PatchType::kStrategicMerge, &merge},
                                                        {PatchType::kJson, &operations}};
    for (const auto& [type, patch] : kTable) {
      const Result<Json> patched = ApplyPatch(type, kPodKind, from, patch->dump());
      ASSERT_TRUE(patched.ok()) << patched.status().ToString() << *patch;
      ASSERT_TRUE(AreEqual(*patched, to)) << from << *patch << *patched << to;
    }
  }
}

}  // namespace
}  // namespace berth::host
