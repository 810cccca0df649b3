// Save and Restore in the test kit, and the sample of the section "Reload" of sdk/README.md. The
// lint `readme` checks that this file contains it.
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/gtest.h>

namespace {

// clang-format off
class TeamBudget : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "acme.TeamBudget";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Counts the pods that each team has started.";
  static constexpr uint32_t kStateVersion = 1;

  explicit TeamBudget(const berth::Host& host) : host_(host) {}

  void PostBind(const berth::Binding& binding) {
    ++started_[std::string(host_.Text(binding.pod().ns()))];
  }

  void Save(berth::HandOver& out) const {
    out.SetVersion(kStateVersion);
    for (const auto& [team, count] : started_) {
      out.Write(team + ' ' + std::to_string(count) + '\n');
    }
  }

  berth::Status Restore(uint32_t version, std::string_view bytes) {
    if (version != kStateVersion) return berth::Status::Error("expected a state of version 1");
    std::istringstream lines{std::string(bytes)};
    for (std::string team; lines >> team;) lines >> started_[team];
    return berth::Status::Success();
  }

 private:
  berth::Host host_;
  std::map<std::string, int64_t> started_;
};
// clang-format on

}  // namespace

BERTH_PLUGIN(TeamBudget)

namespace berth::testing {
namespace {

using ::testing::IsSupersetOf;

TEST(ReloadGuide, SuccessorContinuesFromTheState) {
  PluginUnderTest before(Scenario{.nodes = {MakeNode("a")}});
  for (const char* pod : {"p", "q"}) before.Place(MakePod(pod)).PostBind("a");
  const SavedState saved = before.Save();
  EXPECT_EQ(saved.answer, Success());
  EXPECT_EQ(saved.version, 1U);
  EXPECT_EQ(saved.bytes, "default 2\n");

  PluginUnderTest after(Scenario{.nodes = {MakeNode("a")}, .handed_over = saved});
  EXPECT_EQ(after.restored(), Success());
  after.Place(MakePod("r")).PostBind("a");
  EXPECT_EQ(after.Save().bytes, "default 3\n");
}

TEST(ReloadGuide, InstanceThatRefusesStateBeginsWithoutIt) {
  SavedState other;
  other.version = 2;
  other.bytes = "default 7\n";
  PluginUnderTest plugin(Scenario{.nodes = {MakeNode("a")}, .handed_over = other});
  EXPECT_EQ(plugin.restored(), Error("expected a state of version 1"));
  EXPECT_EQ(plugin.Save().answer, Skip()) << "nothing to hand over";
}

TEST(ReloadGuide, StateOfAFailedSaveIsNotRestored) {
  SavedState failed;
  failed.answer = Error("no memory");
  failed.version = 2;
  PluginUnderTest plugin(Scenario{.nodes = {MakeNode("a")}, .handed_over = failed});
  EXPECT_EQ(plugin.restored(), Success());
}

// Notes the calls of one instance.
class NoteCalls : public CallObserver {
 public:
  void OnBegin(const char* function) override { calls.emplace_back(function); }
  void OnEnd(const char* /*function*/) override {}

  std::vector<std::string> calls;
};

TEST(ReloadGuide, RestoreIsTheFirstCallAfterCreate) {
  NoteCalls order;
  const SavedState empty;
  PluginUnderTest plugin(
      Scenario{.nodes = {MakeNode("a")}, .handed_over = empty, .observer = &order});
  EXPECT_THAT(order.calls, IsSupersetOf({"create", "restore"}));
  std::erase(order.calls, "get_point");
  ASSERT_GE(order.calls.size(), 2U);
  EXPECT_EQ(order.calls[0], "create");
  EXPECT_EQ(order.calls[1], "restore");
  EXPECT_EQ(plugin.restored(), Error("expected a state of version 1")) << "0 is a version too";
}

}  // namespace
}  // namespace berth::testing
