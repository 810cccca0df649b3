// HandOver: an instance passes its state to the one that replaces it.
#include "host/runtime/points/run_hand_over.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/assert.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void Write(berth_hand_over_out& out, std::string_view bytes) { out.write(&out, AsStr(bytes)); }

// One plan that is replaced by another one with the same plugins.
class HandOverTest : public ::testing::Test {
 protected:
  HandOverTest() : a_(stage_.Add("puppet.A", {Point::kFilter})) {
    a_.restore = [this](uint32_t version, std::string_view bytes, berth_status*) {
      restored_.push_back(std::to_string(version) + ":" + std::string(bytes));
      return BERTH_SUCCESS;
    };
    stage_.Build();
    next_ = BuildNext();
  }

  std::unique_ptr<Plan> BuildNext() {
    auto plan = Plan::Build(stage_.spec(), Stage::catalog(), stage_.services(), stage_.table());
    BERTH_ASSERT(plan.ok());
    return std::move(plan).value();
  }
  void Run() { RunHandOver(stage_.plan(), *next_); }
  void SaveText(uint32_t version, const std::string& bytes) {
    a_.save = [version, bytes](berth_hand_over_out& out, berth_status*) {
      out.version = version;
      Write(out, bytes);
      return BERTH_SUCCESS;
    };
  }

  Stage stage_;
  Puppet& a_;
  std::vector<std::string> restored_;
  std::unique_ptr<Plan> next_;
};

TEST_F(HandOverTest, PassesVersionAndAllPiecesInOrder) {
  a_.save = [](berth_hand_over_out& out, berth_status*) {
    EXPECT_EQ(out.struct_size, sizeof(berth_hand_over_out));
    EXPECT_EQ(out.version, 0U);
    out.version = 7;
    EXPECT_EQ(out.write(&out, AsStr("ab")), BERTH_SUCCESS);
    EXPECT_EQ(out.write(&out, {}), BERTH_SUCCESS);
    EXPECT_EQ(out.write(&out, AsStr(std::string_view("\0c", 2))), BERTH_SUCCESS);
    return BERTH_SUCCESS;
  };
  Run();
  EXPECT_THAT(restored_, ElementsAre(std::string("7:ab\0c", 6)));
  EXPECT_THAT(stage_.lines(), ElementsAre("puppet.A: handed over the state (version 7, 4 bytes) "
                                          "from version 1.0.0 to version 1.0.0"));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(HandOverTest, EmptyStateIsAState) {
  SaveText(3, "");
  Run();
  EXPECT_THAT(restored_, ElementsAre("3:"));
}

TEST_F(HandOverTest, OnlyPluginsOfBothPlansHandOver) {
  Stage other;
  other.Add("puppet.B", {Point::kFilter});
  other.Build();
  SaveText(1, "a");
  RunHandOver(stage_.plan(), other.plan());
  RunHandOver(other.plan(), stage_.plan());
  EXPECT_THAT(restored_, IsEmpty());
  EXPECT_THAT(stage_.lines(), IsEmpty());
}

TEST_F(HandOverTest, OnlySuccessOfSaveHandsOver) {
  const std::string start =
      "puppet.A: saved no state to hand over from version 1.0.0 to version 1.0.0: ";
  const struct {
    const char* description;
    ScriptedAnswer answer;
    std::string line;  // Empty: nothing is logged.
    std::vector<std::string> faults;
  } kTable[] = {
      {"nothing to hand over", {BERTH_SKIP, {}}, "", {}},
      {"an error", {BERTH_ERROR, {"disk full"}}, start + "disk full", {}},
      {"a bug", {BERTH_BUG, {"index lost"}}, start + "index lost", {"puppet.A HandOver exception"}},
      {"a code that the point does not have",
       {BERTH_UNSCHEDULABLE, {"no"}},
       start + "no",
       {"puppet.A HandOver bad code"}},
  };
  std::vector<std::string> faults;
  for (const auto& row : kTable) {
    SCOPED_TRACE(row.description);
    stage_.lines().clear();
    a_.save = [&row](berth_hand_over_out& out, berth_status* status) {
      Write(out, "half of the state");
      return Report(row.answer, status);
    };
    Run();
    EXPECT_THAT(restored_, IsEmpty());
    EXPECT_EQ(stage_.lines(),
              row.line.empty() ? std::vector<std::string>{} : std::vector<std::string>{row.line});
    faults.insert(faults.end(), row.faults.begin(), row.faults.end());
    EXPECT_THAT(stage_.Faults(), ::testing::UnorderedElementsAreArray(faults));
  }
}

TEST_F(HandOverTest, StateLargerThanTheLimitIsDropped) {
  for (const bool is_larger : {false, true}) {
    SCOPED_TRACE(is_larger ? "one byte more" : "the limit");
    stage_.lines().clear();
    uint64_t restored = 0;
    a_.restore = [&restored](uint32_t, std::string_view bytes, berth_status*) {
      restored = bytes.size();
      return BERTH_SUCCESS;
    };
    a_.save = [is_larger](berth_hand_over_out& out, berth_status*) {
      const std::string half(BERTH_HAND_OVER_MAX_BYTES / 2, 'x');
      EXPECT_EQ(out.write(&out, AsStr(half)), BERTH_SUCCESS);
      EXPECT_EQ(out.write(&out, AsStr(half)), BERTH_SUCCESS);
      if (is_larger) {
        EXPECT_EQ(out.write(&out, AsStr("y")), BERTH_BAD_ARGUMENT);
        EXPECT_EQ(out.write(&out, {}), BERTH_BAD_ARGUMENT) << "the state is lost already";
      }
      return BERTH_SUCCESS;
    };
    Run();
    EXPECT_EQ(restored, is_larger ? 0U : uint64_t{BERTH_HAND_OVER_MAX_BYTES});
    EXPECT_THAT(
        stage_.lines(),
        ElementsAre(is_larger ? "puppet.A: saved no state to hand over from version 1.0.0 to "
                                "version 1.0.0: it has more than 67108864 bytes"
                              : "puppet.A: handed over the state (version 0, 67108864 bytes) "
                                "from version 1.0.0 to version 1.0.0"));
  }
}

TEST_F(HandOverTest, RefusalIsLoggedWithAllVersions) {
  SaveText(9, "abc");
  const struct {
    ScriptedAnswer answer;
    std::vector<std::string> faults;
  } kTable[] = {
      {{BERTH_ERROR, {"no version 9", "expected 8"}}, {}},
      {{BERTH_UNSUPPORTED, {"no version 9", "expected 8"}}, {"puppet.A HandOver bad code"}},
  };
  for (const auto& row : kTable) {
    stage_.lines().clear();
    a_.restore = [&row](uint32_t, std::string_view, berth_status* status) {
      return Report(row.answer, status);
    };
    Run();
    EXPECT_THAT(stage_.lines(),
                ElementsAre("puppet.A: refused the state (version 9, 3 bytes), handed over from "
                            "version 1.0.0 to version 1.0.0: no version 9, expected 8"));
    EXPECT_EQ(stage_.Faults(), row.faults);
  }
}

TEST_F(HandOverTest, QuarantinedPluginHandsOverToo) {
  stage_.Quarantine("puppet.A");
  SaveText(1, "a");
  Run();
  EXPECT_THAT(restored_, ElementsAre("1:a"));
}

}  // namespace
}  // namespace berth::host
