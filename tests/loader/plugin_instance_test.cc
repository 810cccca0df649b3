// PluginInstance: what the host copies from a plugin, and the contract violations of a plugin that
// it detects on creation.
#include "host/loader/plugin_instance.h"

#include <cctype>
#include <set>
#include <string>

#include <gmock/gmock.h>

#include "host/loader/plugin_library.h"
#include "tests/loader/test_host.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PluginInstanceTest : public LoaderTest {
 protected:
  LoadResult<std::unique_ptr<PluginInstance>> Create(const std::string& variant,
                                                     const std::string& profile,
                                                     const std::string& plugin = "test.Variant") {
    auto library = store().Load(Variant(variant), {});
    EXPECT_TRUE(library.ok()) << library.error().ToString();
    if (!library.ok()) return library.error();
    InstanceOptions options;
    options.library = *library;
    options.plugin = plugin;
    options.profile = profile;
    options.host = &TestHost();
    options.column_type_of = TestColumnType;
    return PluginInstance::Create(options);
  }
};

TEST_F(PluginInstanceTest, CopiesColumnsSlotsAndReasons) {
  const auto created = Create("good", "default");
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  const PluginInstance& instance = **created;
  EXPECT_EQ(instance.name(), "test.Variant");
  EXPECT_EQ(instance.profile(), "default");
  EXPECT_NE(instance.self(), nullptr);
  ASSERT_EQ(instance.columns().size(), 2u);
  EXPECT_EQ(instance.columns()[0].name, "alloc.cpu");
  EXPECT_EQ(instance.columns()[0].type, static_cast<uint32_t>(BERTH_TYPE_I64));
  EXPECT_FALSE(instance.columns()[0].optional);
  EXPECT_TRUE(instance.columns()[1].optional);
  ASSERT_EQ(instance.slots().size(), 1u);
  EXPECT_EQ(instance.slots()[0].size, 24u);
  EXPECT_EQ(instance.slots()[0].align, 16u);
  EXPECT_STREQ(instance.slots()[0].type_id, "test.state/1");
  EXPECT_THAT(instance.reasons(), ElementsAre("node(s) were unlucky"));
}

TEST_F(PluginInstanceTest, HasOnlyTheDeclaredPoints) {
  const auto created = Create("good", "default");
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  const PluginInstance& instance = **created;
  ASSERT_NE(instance.filter(), nullptr);
  EXPECT_EQ(instance.filter()->struct_size, sizeof(berth_filter));
  ASSERT_NE(instance.filter()->dependence, nullptr);
  EXPECT_EQ(instance.filter()->dependence->cluster, static_cast<uint32_t>(BERTH_DEPENDS_NODE));
  ASSERT_NE(instance.score(), nullptr);
  ASSERT_NE(instance.score()->dependence, nullptr);
  EXPECT_EQ(instance.score()->dependence->cluster,
            static_cast<uint32_t>(BERTH_DEPENDS_NODE | BERTH_DEPENDS_NODE_PODS))
      << "NODE_PODS implies NODE";
  EXPECT_EQ(instance.pre_enqueue(), nullptr);
  EXPECT_EQ(instance.enqueue_extensions(), nullptr);
  EXPECT_EQ(instance.queue_sort(), nullptr);
  EXPECT_EQ(instance.pre_filter(), nullptr);
  EXPECT_EQ(instance.post_filter(), nullptr);
  EXPECT_EQ(instance.pre_score(), nullptr);
  EXPECT_EQ(instance.reserve(), nullptr);
  EXPECT_EQ(instance.permit(), nullptr);
  EXPECT_EQ(instance.pre_bind(), nullptr);
  EXPECT_EQ(instance.bind(), nullptr);
  EXPECT_EQ(instance.post_bind(), nullptr);
  EXPECT_EQ(instance.changes(), nullptr);
}

TEST_F(PluginInstanceTest, AWholeFilterNeedsNoFilter) {
  const auto created = Create("good", "whole-kept");
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  EXPECT_EQ((*created)->filter()->filter, nullptr);
  EXPECT_NE((*created)->filter()->filter_whole, nullptr);
}

// The answers of a plugin that depend on something unknown are never reused.
TEST_F(PluginInstanceTest, LeavesOutDependenceThatItDoesNotHave) {
  const struct {
    const char* profile;
    bool is_kept;
    const char* note;
  } kTable[] = {
      {"default", true, ""},
      {"filter-serial", true, ""},
      {"unknown-cluster", false,
       "the answers of Filter are never reused, because they depend on something that this host "
       "does not have"},
      {"unknown-part", false,
       "the answers of Filter are never reused, because they depend on parts of the pod that this "
       "host does not have"},
  };
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.profile);
    const auto created = Create("good", row.profile);
    ASSERT_TRUE(created.ok()) << created.error().ToString();
    const PluginInstance& instance = **created;
    EXPECT_EQ(instance.filter()->dependence != nullptr, row.is_kept);
    EXPECT_NE(instance.score()->dependence, nullptr) << "the points are independent";
    if (row.is_kept) {
      EXPECT_THAT(instance.notes(), IsEmpty());
      continue;
    }
    ASSERT_EQ(instance.notes().size(), 1U);
    EXPECT_EQ(instance.notes()[0].level, uint32_t{BERTH_LOG_DEBUG});
    EXPECT_EQ(instance.notes()[0].text, row.note);
  }
}

TEST_F(PluginInstanceTest, CallsThePlugin) {
  const auto created = Create("good", "default");
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  const PluginInstance& instance = **created;
  berth_cycle cycle{};
  berth_block block{};
  block.count = 3;
  int64_t scores[3] = {};
  berth_score_out out{sizeof out, 0, scores};
  StatusSink sink;
  ASSERT_EQ(instance.score()->score(instance.self(), &cycle, &block, &out, sink.raw()),
            BERTH_SUCCESS);
  EXPECT_THAT(scores, ElementsAre(7, 7, 7));
}

TEST_F(PluginInstanceTest, InitialisesTheLibraryOnceAndDestroysInOrder) {
  {
    const auto first = Create("good", "one");
    const auto second = Create("good", "two");
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_THAT(TakeTrace(), ElementsAre("constructor", "init", "create", "create"));
    (*second)->Quiesce();
    EXPECT_THAT(TakeTrace(), ElementsAre("quiesce"));
    (*second)->Quiesce();
  }
  EXPECT_THAT(TakeTrace(), ElementsAre("destroy", "quiesce", "destroy"));
  ASSERT_TRUE(Create("good", "three").ok());
  EXPECT_THAT(TakeTrace(), ElementsAre("create", "quiesce", "destroy"));
  EndStore();
  EXPECT_THAT(TakeTrace(), ElementsAre("deinit"));
}

TEST_F(PluginInstanceTest, OutlivesTheStore) {
  auto created = Create("good", "default");
  ASSERT_TRUE(created.ok());
  EndStore();
  TakeTrace();
  created->reset();
  EXPECT_THAT(TakeTrace(), ElementsAre("quiesce", "destroy", "deinit"));
}

TEST_F(PluginInstanceTest, QuiesceIsOptional) {
  auto created = Create("good", "no-quiesce");
  ASSERT_TRUE(created.ok());
  TakeTrace();
  created->reset();
  EXPECT_THAT(TakeTrace(), ElementsAre("destroy"));
}

TEST_F(PluginInstanceTest, AcceptsSixtyFourReasons) {
  const auto created = Create("good", "reasons-64");
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  EXPECT_EQ((*created)->reasons().size(), 64u);
}

TEST_F(PluginInstanceTest, IgnoresPointsOfALaterVersion) {
  const auto created = Create("newer_minor", "default");
  ASSERT_TRUE(created.ok()) << created.error().ToString();
  EXPECT_NE((*created)->filter(), nullptr);
  EXPECT_EQ((*created)->score(), nullptr);
}

TEST_F(PluginInstanceTest, RefusesPluginThatTheLibraryDoesNotHave) {
  const auto created = Create("good", "default", "test.Other");
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().code, LoadErrorCode::kUnknownPlugin);
}

TEST_F(PluginInstanceTest, RefusesAPluginWhoseServiceIsMissing) {
  const auto created = Create("missing_service", "default");
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().code, LoadErrorCode::kMissingService);
  EXPECT_THAT(created.error().ToString(),
              HasSubstr("expected a host with the service berth.oracle/1, found NotFound"));
  EXPECT_THAT(TakeTrace(), ElementsAre("constructor"));
}

TEST_F(PluginInstanceTest, RefusesALibraryWhoseInitFails) {
  const auto created = Create("init_fails", "default");
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().code, LoadErrorCode::kInitFailed);
  EXPECT_EQ(created.error().plugin, "test.Variant");
  EXPECT_THAT(created.error().ToString(), HasSubstr("found Error: no rack map"));
  EXPECT_THAT(TakeTrace(), ElementsAre("constructor", "init"));
  EndStore();
  EXPECT_THAT(TakeTrace(), IsEmpty()) << "deinit must not run after a failed init";
}

struct Broken {
  const char* promise;
  LoadErrorCode code;
  const char* message;  // A part of the error.
  bool destroyed;       // The instance was created, then quiesced and destroyed.
};

class BrokenPromiseTest : public PluginInstanceTest,
                          public ::testing::WithParamInterface<Broken> {};

TEST_P(BrokenPromiseTest, IsRefused) {
  const Broken& broken = GetParam();
  const auto created = Create("good", broken.promise);
  ASSERT_FALSE(created.ok());
  const std::string text = created.error().ToString();
  EXPECT_EQ(LoadErrorName(created.error().code), LoadErrorName(broken.code)) << text;
  EXPECT_EQ(created.error().path, At("libgood.so"));
  EXPECT_EQ(created.error().plugin, "test.Variant");
  EXPECT_THAT(text, HasSubstr(broken.message));
  if (broken.destroyed) {
    EXPECT_THAT(TakeTrace(), ElementsAre("constructor", "init", "create", "quiesce", "destroy"));
  } else {
    EXPECT_THAT(TakeTrace(), ElementsAre("constructor", "init", "create"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Create, BrokenPromiseTest,
    ::testing::Values(
        Broken{"create-fails", LoadErrorCode::kCreateFailed, "found Error: the rack map is empty",
               false},
        Broken{"no-instance", LoadErrorCode::kCreateFailed, "found Success without an instance",
               false},
        Broken{"bad-arguments", LoadErrorCode::kBadArguments,
               "/weight: expected 1 to 100, found 0; /colour: unknown, expected weight", false},
        Broken{"bad-arguments-and-success", LoadErrorCode::kBadArguments,
               "/weight: expected 1 to 100, found 0", true},
        Broken{"bad-arguments-unnamed", LoadErrorCode::kBadArguments, "found BadArgument", false},
        Broken{"instance-size", LoadErrorCode::kBadInstance, "a berth_plugin of at least", false},
        Broken{"plugin-flag", LoadErrorCode::kBadInstance,
               "expected a berth_plugin with no flags, found 0x1", true},
        Broken{"column-flag", LoadErrorCode::kBadInstance,
               "expected column 1 with flags within 0x1, found 0x3", true},
        Broken{"filter-flag", LoadErrorCode::kBadPoint,
               "expected in berth.filter/1 flags within 0x3, found 0x5", true},
        Broken{"score-flag", LoadErrorCode::kBadPoint,
               "expected in berth.score/1 flags within 0x1, found 0x80000000", true},
        Broken{"slot-flag", LoadErrorCode::kBadSlot,
               "expected slot 0 with 0 in `reserved`, found 1", true},
        Broken{"no-get-point", LoadErrorCode::kBadInstance, "get_point and destroy", true},
        Broken{"column-stride", LoadErrorCode::kBadInstance, "columns, found stride 8", true},
        Broken{"column-data", LoadErrorCode::kBadInstance, "columns, found NULL with count 2",
               true},
        Broken{"column-count", LoadErrorCode::kBadInstance, "found 4294967295 elements", true},
        Broken{"column-name", LoadErrorCode::kBadInstance, "column 0 with a name", true},
        Broken{"missing-point", LoadErrorCode::kMissingPoint,
               "expected the declared point berth.filter/1, found NULL", true},
        Broken{"point-size", LoadErrorCode::kBadPoint,
               "in berth.filter/1 a struct of at least 32 bytes, found 8", true},
        Broken{"point-function", LoadErrorCode::kBadPoint,
               "in berth.filter/1 filter to be set, found NULL", true},
        Broken{"whole-function", LoadErrorCode::kBadPoint,
               "in berth.filter/1 filter_whole to be set", true},
        Broken{"whole-dependence", LoadErrorCode::kBadPoint,
               "in berth.filter/1 dependence to be NULL", true},
        Broken{"normalize-missing", LoadErrorCode::kBadPoint, "normalize to be set", true},
        Broken{"normalize-unknown", LoadErrorCode::kBadPoint, "found 99", true},
        Broken{"unknown-column", LoadErrorCode::kUnknownColumn, "found alloc.luck", true},
        Broken{"column-type", LoadErrorCode::kColumnType, "expected alloc.cpu as I64, found U8",
               true},
        Broken{"slot-align-3", LoadErrorCode::kBadSlot, "power of two and at most 64, found 3",
               true},
        Broken{"slot-align-0", LoadErrorCode::kBadSlot, "found 0", true},
        Broken{"slot-align-128", LoadErrorCode::kBadSlot, "found 128", true},
        Broken{"slot-size-0", LoadErrorCode::kBadSlot, "slot 0 with a size from 1", true},
        Broken{"slot-size-huge", LoadErrorCode::kBadSlot, "found 4294967295", true},
        Broken{"reasons-65", LoadErrorCode::kTooManyReasons, "at most 64 reasons, found 65", true},
        Broken{"reason-null", LoadErrorCode::kBadInstance,
               "reason 0 with a text, found NULL with length 20", true}),
    [](const auto& param) {
      std::string name;
      bool upper = true;
      for (const char c : std::string(param.param.promise)) {
        if (c != '-') name.push_back(upper ? static_cast<char>(std::toupper(c)) : c);
        upper = c == '-';
      }
      return name;
    });

}  // namespace
}  // namespace berth::host
