// The service berth.objects/1.
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/plan/instance_host.h"
#include "host/runtime/services/test_services.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kNamespace = "v1/Namespace";

class ObjectsServiceTest : public ServicesTest {
 protected:
  ObjectRef Namespace(const std::string& name) {
    return test_objects_.ObjectFrom(
        R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":")" + name +
        R"(","uid":"uid-)" + name + "\"}}");
  }
  const berth_objects& service() { return Service<berth_objects>(BERTH_SERVICE_OBJECTS); }
  const berth_refs& refs() { return Service<berth_refs>(BERTH_SERVICE_REFS); }
  static berth_tagged Tagged(const berth_object* object) { return {BERTH_KIND_OBJECT, 0, object}; }

  std::vector<std::string> List(const berth_host* host) {
    std::vector<std::string> names;
    const auto each = [](void* to, const berth_object* object) noexcept -> int32_t {
      static_cast<std::vector<std::string>*>(to)->emplace_back(Text(object->meta->name));
      return 1;
    };
    EXPECT_EQ(service().list(host, AsStr(kNamespace), AsStr(""), each, &names), BERTH_SUCCESS);
    return names;
  }

  // A watcher that records changes as "+red", "~red", "-red", and "=red" for an object that
  // existed.
  static void RecordChange(void* to, const berth_object_change* change) noexcept {
    auto& test = *static_cast<ObjectsServiceTest*>(to);
    const berth_object* const old = change->old;
    const berth_object* const now = change->now;
    const bool existed = (change->flags & BERTH_OBJECT_FLAG_REPLAY) != 0;
    const char* what = existed ? "=" : old == nullptr ? "+" : now == nullptr ? "-" : "~";
    const berth_object& one = now != nullptr ? *now : *old;
    test.changes_.push_back(what + std::string(Text(one.meta->name)));
    EXPECT_EQ(change->struct_size, sizeof(berth_object_change));
    EXPECT_EQ(change->kind, one.kind);
    test.at_ = test.host_->point();
    if (!test.retains_) return;
    for (const berth_object* object : {old, now}) {
      if (object == nullptr) continue;
      EXPECT_EQ(test.refs().retain(test.abi(), Tagged(object)), BERTH_SUCCESS);
      test.retained_.push_back(object);
    }
  }
  berth_code Watch(const char* kind = kNamespace) {
    return service().watch(abi(), AsStr(kind), RecordChange, this);
  }

  // Looks an object up, and sets `got_`.
  berth_code Get(const char* name, const char* kind = kNamespace) {
    static constexpr berth_object kNone{};
    got_ = &kNone;
    return service().get(abi(), AsStr(kind), AsStr(""), AsStr(name), &got_);
  }

  const berth_object* got_ = nullptr;
  std::vector<std::string> changes_;
  Point at_ = kNoCall;
  bool retains_ = false;
  std::vector<const berth_object*> retained_;
};

TEST_F(ObjectsServiceTest, GetsAndListsDeclaredKinds) {
  host_->Begin();
  const PluginCall call(*host_, kCallback);
  objects_.Set(Namespace("red"));
  objects_.Set(Namespace("blue"));
  EXPECT_THAT(List(abi()), ElementsAre("blue", "red"));
  EXPECT_EQ(Get("red"), BERTH_SUCCESS);
  ASSERT_NE(got_, nullptr);
  EXPECT_EQ(Text(got_->meta->uid), "uid-red");
  EXPECT_EQ(Get("green"), BERTH_NOT_FOUND);
  EXPECT_EQ(got_, nullptr);
  EXPECT_EQ(Get("red", "v1/Secret"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(got_, nullptr);
  EXPECT_EQ(service().list(abi(), AsStr("v1/Secret"), AsStr(""), nullptr, nullptr),
            BERTH_BAD_ARGUMENT);
}

TEST_F(ObjectsServiceTest, LookUpsShowWhatIsNeeded) {
  ObjectNeeds needs;
  services_.needs = &needs;
  const auto use = [&needs] { return needs.uses().at(kNamespace).at("test.Plugin"); };
  Watch();
  EXPECT_TRUE(use().watches);
  EXPECT_FALSE(use().looks_up);
  host_->Begin();
  EXPECT_FALSE(host_->has_decided());
  {
    const PluginCall call(*host_, kCallback);
    EXPECT_EQ(Get(""), BERTH_NOT_FOUND);
    EXPECT_TRUE(use().looks_up);
    EXPECT_FALSE(use().needs) << "no object has an empty name";
    EXPECT_EQ(Get("red"), BERTH_NOT_FOUND);
    EXPECT_TRUE(use().needs);
    EXPECT_EQ(use().pod, "") << "there is no cycle";
    EXPECT_EQ(Get("red", "v1/Secret"), BERTH_BAD_ARGUMENT);
  }
  EXPECT_EQ(needs.uses().size(), 1U);
  auto other = Host("test.Other");
  other->Begin();
  const PodRef web = test_objects_.PodFrom(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"n"}})");
  berth_cycle cycle{};
  cycle.pod = &web->view();
  const PluginCall call(*other, {.point = Point::kPreFilter, .cycle = &cycle});
  EXPECT_TRUE(other->has_decided());
  EXPECT_THAT(List(other->abi()), IsEmpty());
  const ObjectNeeds::Use listed = needs.uses().at(kNamespace).at("test.Other");
  EXPECT_FALSE(listed.watches);
  EXPECT_TRUE(listed.needs);
  EXPECT_EQ(listed.pod, "n/web");
}

TEST_F(ObjectsServiceTest, AWatcherFirstGetsAReplay) {
  objects_.Set(Namespace("red"));
  objects_.Set(Namespace("blue"));
  EXPECT_EQ(Watch(), BERTH_SUCCESS);
  EXPECT_THAT(changes_, IsEmpty());
  host_->Begin();
  EXPECT_THAT(changes_, ElementsAre("=blue", "=red"));
  EXPECT_EQ(at_, kCallback);
  changes_.clear();
  objects_.Set(Namespace("red"));
  objects_.Remove(kNamespace, "", "blue");
  EXPECT_THAT(changes_, ElementsAre("~red", "-blue"));
}

TEST_F(ObjectsServiceTest, AWatchEndsWithTheInstance) {
  Watch();
  host_->Begin();
  host_->Close();
  {
    const PluginCall call(*host_, kLoad);
    EXPECT_EQ(Watch(), BERTH_CANCELLED);
  }
  objects_.Set(Namespace("red"));
  EXPECT_THAT(changes_, IsEmpty());
  auto other = Host("test.Other");
  service().watch(other->abi(), AsStr(kNamespace), RecordChange, this);
  other->Begin();
  EXPECT_THAT(changes_, ElementsAre("=red"));
  other.reset();
  objects_.Set(Namespace("red"));
  EXPECT_THAT(changes_, ElementsAre("=red"));
}

TEST_F(ObjectsServiceTest, WatchesAreOnlyAddedInCreate) {
  EXPECT_EQ(Watch("v1/Secret"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(service().watch(abi(), AsStr(kNamespace), nullptr, nullptr), BERTH_BAD_ARGUMENT);
  host_->Begin();
  const PluginCall call(*host_, Point::kPreFilter);
  EXPECT_EQ(Watch(), BERTH_CONFLICT);
}

TEST_F(ObjectsServiceTest, KindThatIsNotServedHasNoObjects) {
  const auto served = [this](const char* kind) { return service().served(abi(), AsStr(kind)); };
  EXPECT_EQ(Watch(), BERTH_SUCCESS);
  objects_.SetServed(kNamespace, false);
  host_->Begin();
  const PluginCall call(*host_, Point::kPreFilter);
  EXPECT_EQ(served(kNamespace), BERTH_UNSUPPORTED);
  EXPECT_EQ(served("v1/Secret"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(Get("red"), BERTH_UNSUPPORTED);
  EXPECT_EQ(got_, nullptr);
  EXPECT_EQ(service().list(abi(), AsStr(kNamespace), AsStr(""), nullptr, nullptr),
            BERTH_UNSUPPORTED);
  EXPECT_THAT(changes_, IsEmpty());
  objects_.Set(Namespace("red"), true);
  EXPECT_EQ(served(kNamespace), BERTH_SUCCESS) << "before it is recorded";
  EXPECT_THAT(List(abi()), ElementsAre("red"));
  EXPECT_EQ(Get("red"), BERTH_SUCCESS);
  EXPECT_NE(got_, nullptr);
  EXPECT_THAT(changes_, ElementsAre("=red"));
  objects_.SetServed(kNamespace, true);
  EXPECT_EQ(served(kNamespace), BERTH_SUCCESS);
  EXPECT_THAT(List(abi()), ElementsAre("red"));
  EXPECT_THAT(changes_, ElementsAre("=red"));
}

TEST_F(ObjectsServiceTest, ServedIsNotAskedInOtherPlaces) {
  EXPECT_EQ(service().served(abi(), AsStr(kNamespace)), BERTH_CONFLICT) << "in create()";
  host_->Begin();
  EXPECT_EQ(service().served(abi(), AsStr(kNamespace)), BERTH_CONFLICT) << "outside of a call";
}

TEST_F(ObjectsServiceTest, WatchOfPodsOrNodesRefusesThePlugin) {
  EXPECT_EQ(Watch("v1/Secret"), BERTH_BAD_ARGUMENT);
  EXPECT_FALSE(host_->rejection() != nullptr) << "a kind that the plugin may declare";
  EXPECT_EQ(Watch("v1/Pod"), BERTH_BAD_ARGUMENT);
  ASSERT_TRUE(host_->rejection() != nullptr);
  EXPECT_THAT(host_->rejection()->expected, ::testing::HasSubstr("berth.changes/1"));
  EXPECT_EQ(host_->rejection()->found, "\"v1/Pod\"");
  EXPECT_EQ(Watch("v1/Node"), BERTH_BAD_ARGUMENT);
  EXPECT_EQ(host_->rejection()->found, "\"v1/Pod\"") << "the first one is kept";
}

// A watcher may retain every object that it gets, including one that was deleted.
TEST_F(ObjectsServiceTest, AWatcherMayRetainObjects) {
  retains_ = true;
  Watch();
  host_->Begin();
  objects_.Set(Namespace("red"));
  objects_.Set(Namespace("red"));
  objects_.Remove(kNamespace, "", "red");
  ASSERT_EQ(retained_.size(), 4U);
  for (const berth_object* object : retained_) {
    EXPECT_EQ(Text(object->meta->name), "red");
    refs().release(abi(), Tagged(object));
  }
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(ObjectsServiceTest, ALookedUpObjectMayBeRetained) {
  host_->Begin();
  const PluginCall call(*host_, kCallback);
  objects_.Set(Namespace("red"));
  ASSERT_EQ(Get("red"), BERTH_SUCCESS);
  const berth_object* red = got_;
  EXPECT_EQ(refs().retain(abi(), Tagged(red)), BERTH_SUCCESS);
  objects_.Remove(kNamespace, "", "red");
  EXPECT_EQ(Text(red->meta->name), "red");
  refs().release(abi(), Tagged(red));
}

TEST_F(ObjectsServiceTest, OtherThreadsMayNotLookUpObjects) {
  host_->Begin();
  objects_.Set(Namespace("red"));
  std::thread([&] {
    EXPECT_EQ(Get("red"), BERTH_CONFLICT);
    EXPECT_EQ(got_, nullptr);
    EXPECT_EQ(service().list(abi(), AsStr(kNamespace), AsStr(""), nullptr, nullptr),
              BERTH_CONFLICT);
  }).join();
}

}  // namespace
}  // namespace berth::host
