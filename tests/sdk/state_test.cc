// Tests the cycle state of the C++ layer: Emplace, State and TryState.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <berth/plugin.h>

#include "tests/sdk/small_host.h"

namespace berth {
namespace {

struct WantedState {
  int64_t cpu = 0;
  int64_t memory = 0;
};
struct LargestState {
  std::vector<int64_t> values;
};

class Stateful : public Plugin {
 public:
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Uses its state.";
};

// Has a state of each kind.
class TwoStates : public Stateful {
 public:
  static constexpr std::string_view kName = "acme.TwoStates";
  using State = WantedState;
  using ScoreState = LargestState;

  Status PreFilter(Cycle& cycle, const Nodes& /*all*/, PreFilterOut& /*out*/) {
    if (cycle.id() == 2) return Status::Pending(std::to_string(cycle.State<State>().cpu));
    if (cycle.id() == 3) return Status::Skip();
    cycle.Emplace<State>(int64_t{7}, int64_t{8});
    return Status::Success();
  }
  Verdict Filter(const Cycle& cycle, const NodeRow<Columns>& /*node*/) const {
    return UnschedulableIf(cycle.State<State>().cpu != 7, 0);
  }
  Status PreScore(Cycle& cycle, const Nodes& /*feasible*/, const Nodes& /*all*/) {
    cycle.Emplace<ScoreState>().values = {9};
    return Status::Success();
  }
  int64_t Score(const Cycle& cycle, const NodeRow<Columns>& /*node*/) const {
    return cycle.State<ScoreState>().values.front();
  }
  Status NormalizeScore(Cycle& cycle, Scores& scores) {
    for (int64_t& score : scores.values()) score = cycle.State<State>().memory;
    return Status::Success();
  }
  Status Reserve(Cycle& cycle, const Target& /*target*/) {
    // Replaces the state.
    cycle.Emplace<State>().cpu = cycle.TryState<State>() == nullptr ? 1 : 2;
    return Status::Success();
  }
  void Unreserve(const Binding& binding) {
    if (State* const state = binding.TryState<State>()) state->memory = 0;
  }
  Status PreBindPreFlight(const Binding& binding) {
    return Status::Error(std::to_string(binding.State<State>().cpu));
  }
  Status PreBind(const Binding& /*binding*/) { return Status::Success(); }
};

// Has only PreScore, which emplaces the State.
class OnlyPreScore : public Stateful {
 public:
  static constexpr std::string_view kName = "acme.OnlyPreScore";
  struct State {
    int64_t score = 5;
  };

  Status PreScore(Cycle& cycle, const Nodes& /*feasible*/, const Nodes& /*all*/) {
    cycle.Emplace<State>();
    return Status::Success();
  }
  int64_t Score(const Cycle& cycle, const NodeRow<Columns>& /*node*/) const {
    return cycle.State<State>().score;
  }
};

// Has a state that no point prepares.
class OnlyReserve : public Stateful {
 public:
  static constexpr std::string_view kName = "acme.OnlyReserve";
  struct State {};

  Status Reserve(Cycle& cycle, const Target& /*target*/) {
    static_cast<void>(cycle.State<State>());
    return Status::Success();
  }
  void Unreserve(const Binding& /*binding*/) {}
};

// How Borrower uses the state of another plugin.
enum class Use { kOwn, kEmplace, kState, kTryState, kSlotThatIsMissing };
Use g_use = Use::kOwn;

// Uses a state of another plugin. It has one slot, and OnlyPreScore has one too.
class Borrower : public Stateful {
 public:
  static constexpr std::string_view kName = "acme.Borrower";
  struct State {
    int64_t cpu = 3;
  };

  Status PreFilter(Cycle& cycle, const Nodes& /*all*/, PreFilterOut& /*out*/) {
    cycle.Emplace<State>();
    if (g_use == Use::kEmplace) cycle.Emplace<OnlyPreScore::State>();
    return Status::Success();
  }
  Verdict Filter(const Cycle& cycle, const NodeRow<Columns>& /*node*/) const {
    if (g_use == Use::kSlotThatIsMissing)
      return Rejected(cycle.State<LargestState>().values.size());
    if (g_use == Use::kState) return Rejected(cycle.State<OnlyPreScore::State>().score);
    return Rejected(cycle.State<State>().cpu);
  }
  Status PreBindPreFlight(const Binding& binding) {
    const auto* const state = binding.TryState<State>();
    if (g_use != Use::kTryState) return Status::Error(state == nullptr ? "none" : "own");
    return Status::Error(binding.TryState<OnlyPreScore::State>() == nullptr ? "none" : "other");
  }
  Status PreBind(const Binding& /*binding*/) { return Status::Success(); }

 private:
  template <class T>
  static Verdict Rejected(T value) {
    return UnschedulableIf(value != 0, 0);
  }
};

std::string NotPrepared(const std::string& method, const std::string& state,
                        const std::string& at) {
  return method + " requires the " + state +
         " of the plugin, which no method has emplaced in this cycle: " + at +
         " was not called (the profile must run the plugin at " + at +
         (at == "PreScore" ? ", and two or more nodes must be feasible" : "") +
         "), or it did not call Emplace";
}

// A cycle with the slots of a plugin.
template <class P>
class StateTest : public ::testing::Test {
 protected:
  StateTest() {
    block_ = {sizeof(block_), 1, 1, 0, nullptr, rows_, nullptr, nullptr, nullptr, nullptr};
    nodes_ = {sizeof(nodes_), 1, 1, &block_, [](const berth_nodes* self, uint32_t) noexcept {
                return static_cast<const berth_block*>(self->impl);
              }};
    const berth_array& slots = plugin_.abi().slots;
    memory_.resize(slots.count);
    for (uint32_t i = 0; i < slots.count; ++i) {
      memory_[i].resize(BERTH_AT(berth_slot, slots, i)->size / sizeof(int64_t) + 1);
      BERTH_AT(berth_slot, slots, i)->construct(memory_[i].data());
      pointers_.push_back(memory_[i].data());
    }
    cycle_.cycle.slots = pointers_.data();
    cycle_.binding.slots = pointers_.data();
  }
  ~StateTest() override {
    const berth_array& slots = plugin_.abi().slots;
    for (uint32_t i = 0; i < slots.count; ++i) {
      const auto* slot = BERTH_AT(berth_slot, slots, i);
      if (slot->destroy != nullptr) slot->destroy(memory_[i].data());
    }
  }

  berth_code PreFilter() {
    berth_pre_filter_out out = {};
    const auto* point = plugin_.template Point<berth_pre_filter>(BERTH_POINT_PRE_FILTER);
    return point->pre_filter(plugin_.self(), &cycle_.cycle, &nodes_, &out, recorded_.abi());
  }
  berth_code Filter() {
    berth_filter_out out = {sizeof(out), 0, &code_, &reasons_};
    const auto* point = plugin_.template Point<berth_filter>(BERTH_POINT_FILTER);
    return point->filter(plugin_.self(), &cycle_.cycle, &block_, &out, recorded_.abi());
  }
  berth_code PreScore() {
    const auto* point = plugin_.template Point<berth_pre_score>(BERTH_POINT_PRE_SCORE);
    return point->pre_score(plugin_.self(), &cycle_.cycle, &nodes_, &nodes_, &pre_score_out_,
                            recorded_.abi());
  }
  berth_code Score() {
    const auto* point = plugin_.template Point<berth_score>(BERTH_POINT_SCORE);
    return point->score(plugin_.self(), &cycle_.cycle, &block_, &score_out_, recorded_.abi());
  }
  berth_code Reserve() {
    berth_target target = {};
    const auto* point = plugin_.template Point<berth_reserve>(BERTH_POINT_RESERVE);
    return point->reserve(plugin_.self(), &cycle_.cycle, &target, recorded_.abi());
  }
  std::string Text() { return recorded_.texts.empty() ? "" : recorded_.texts.back(); }

  testing::SmallHost host_;
  testing::SmallInstance plugin_{kEntryOf<P>, host_};
  testing::SmallCycle<WantedState> cycle_;
  testing::RecordedStatus recorded_;
  uint8_t code_ = 99;
  uint64_t reasons_ = 0;
  int64_t score_ = -1;
  berth_score_out score_out_ = {sizeof(berth_score_out), 0, &score_};

 private:
  uint32_t rows_[1] = {0};
  berth_block block_ = {};
  berth_nodes nodes_ = {};
  berth_pre_score_out pre_score_out_ = {sizeof(berth_pre_score_out), 0, nullptr};
  std::vector<std::vector<int64_t>> memory_;
  std::vector<void*> pointers_;
};

using TwoStatesTest = StateTest<TwoStates>;

TEST_F(TwoStatesTest, EachStateHasASlotOfItsOwn) {
  const berth_array& slots = plugin_.abi().slots;
  ASSERT_EQ(slots.count, 2U);
  EXPECT_EQ(BERTH_AT(berth_slot, slots, 0)->clone, nullptr) << "its bytes can be copied";
  EXPECT_EQ(BERTH_AT(berth_slot, slots, 0)->destroy, nullptr);
  EXPECT_NE(BERTH_AT(berth_slot, slots, 1)->clone, nullptr);
  EXPECT_EQ(PreFilter(), BERTH_SUCCESS);
  EXPECT_EQ(Filter(), BERTH_SUCCESS);
  EXPECT_EQ(code_, BERTH_SUCCESS);
  EXPECT_EQ(Score(), BERTH_ERROR) << "PreFilter emplaces only the State";
  EXPECT_EQ(Text(), NotPrepared("Score", "ScoreState", "PreScore"));
  EXPECT_EQ(PreScore(), BERTH_SUCCESS);
  EXPECT_EQ(Score(), BERTH_SUCCESS);
  EXPECT_EQ(score_, 9);
}

TEST_F(TwoStatesTest, ErrorNamesThePointThatPreparesTheState) {
  EXPECT_EQ(Filter(), BERTH_ERROR);
  EXPECT_EQ(Text(), NotPrepared("Filter", "State", "PreFilter"));
  EXPECT_EQ(PreScore(), BERTH_SUCCESS);
  EXPECT_EQ(Filter(), BERTH_ERROR) << "PreScore emplaces only the ScoreState";
  berth_scores scores = {};
  const auto* score = plugin_.Point<berth_score>(BERTH_POINT_SCORE);
  EXPECT_EQ(score->normalize(plugin_.self(), &cycle_.cycle, &scores, recorded_.abi()),
            BERTH_SUCCESS)
      << "there is no score";
  int64_t value = 0;
  scores = {sizeof(scores), 1, nullptr, &value};
  EXPECT_EQ(score->normalize(plugin_.self(), &cycle_.cycle, &scores, recorded_.abi()), BERTH_ERROR);
  EXPECT_EQ(Text(), NotPrepared("NormalizeScore", "State", "PreFilter"));
}

TEST_F(TwoStatesTest, MethodThatShouldHaveEmplacedStateIsNamed) {
  cycle_.cycle.id = 2;
  EXPECT_EQ(PreFilter(), BERTH_ERROR);
  EXPECT_EQ(
      Text(),
      "PreFilter requires the State of the plugin, which no method has emplaced in this cycle: "
      "call Emplace first");
}

TEST_F(TwoStatesTest, ErrorIsTrueWhenPreFilterEmplacedNothing) {
  cycle_.cycle.id = 3;
  EXPECT_EQ(PreFilter(), BERTH_SKIP);
  const auto* pre_bind = plugin_.Point<berth_pre_bind>(BERTH_POINT_PRE_BIND);
  EXPECT_EQ(pre_bind->pre_flight(plugin_.self(), &cycle_.binding, recorded_.abi()), BERTH_ERROR);
  EXPECT_EQ(Text(), NotPrepared("PreBindPreFlight", "State", "PreFilter"));
}

TEST_F(TwoStatesTest, EmplaceReplacesTheState) {
  EXPECT_EQ(PreFilter(), BERTH_SUCCESS);
  EXPECT_EQ(Reserve(), BERTH_SUCCESS);
  EXPECT_EQ(Filter(), BERTH_SUCCESS);
  EXPECT_EQ(code_, BERTH_UNSCHEDULABLE) << "cpu is 2 now";
}

TEST_F(TwoStatesTest, ABindingHasTheStateOfTheCycle) {
  const auto* reserve = plugin_.Point<berth_reserve>(BERTH_POINT_RESERVE);
  reserve->unreserve(plugin_.self(), &cycle_.binding);
  EXPECT_TRUE(host_.faults.empty()) << "TryState returns null without a state";
  const auto* pre_bind = plugin_.Point<berth_pre_bind>(BERTH_POINT_PRE_BIND);
  EXPECT_EQ(pre_bind->pre_flight(plugin_.self(), &cycle_.binding, recorded_.abi()), BERTH_ERROR);
  EXPECT_EQ(Text(), NotPrepared("PreBindPreFlight", "State", "PreFilter"));
  EXPECT_EQ(PreFilter(), BERTH_SUCCESS);
  EXPECT_EQ(pre_bind->pre_flight(plugin_.self(), &cycle_.binding, recorded_.abi()), BERTH_ERROR);
  EXPECT_EQ(Text(), "7");
}

using OnlyPreScoreTest = StateTest<OnlyPreScore>;

TEST_F(OnlyPreScoreTest, PreScorePreparesTheState) {
  EXPECT_EQ(plugin_.abi().slots.count, 1U);
  EXPECT_EQ(Score(), BERTH_ERROR);
  EXPECT_EQ(Text(), NotPrepared("Score", "State", "PreScore"));
  EXPECT_EQ(PreScore(), BERTH_SUCCESS);
  EXPECT_EQ(Score(), BERTH_SUCCESS);
  EXPECT_EQ(score_, 5);
}

using OnlyReserveTest = StateTest<OnlyReserve>;

TEST_F(OnlyReserveTest, AnEmptyStateHasASlotToo) {
  EXPECT_EQ(plugin_.abi().slots.count, 1U);
  EXPECT_EQ(Reserve(), BERTH_ERROR);
  EXPECT_EQ(Text(),
            "Reserve requires the State of the plugin, which no method has emplaced in this cycle: "
            "call Emplace first");
}

using BorrowerTest = StateTest<Borrower>;

TEST_F(BorrowerTest, TheStateOfAnotherPluginIsAFault) {
  // The name of a type in an anonymous namespace depends on the compiler.
  const auto is_fault = [this](const std::string& method, std::string_view state) {
    const std::string text = Text();
    EXPECT_TRUE(text.starts_with(method + " uses the state berth::")) << text;
    EXPECT_NE(text.find(state), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with(", which is neither the State nor the ScoreState of this plugin"))
        << text;
  };
  const auto pre_flight = [this] {
    return plugin_.Point<berth_pre_bind>(BERTH_POINT_PRE_BIND)
        ->pre_flight(plugin_.self(), &cycle_.binding, recorded_.abi());
  };
  g_use = Use::kTryState;
  EXPECT_EQ(pre_flight(), BERTH_BUG) << "before the plugin's own state is emplaced";
  g_use = Use::kOwn;
  EXPECT_EQ(PreFilter(), BERTH_SUCCESS);
  EXPECT_EQ(Filter(), BERTH_SUCCESS);
  EXPECT_EQ(code_, BERTH_UNSCHEDULABLE);
  EXPECT_EQ(pre_flight(), BERTH_ERROR);
  EXPECT_EQ(Text(), "own");
  g_use = Use::kState;
  EXPECT_EQ(Filter(), BERTH_BUG);
  is_fault("Filter", "OnlyPreScore::State");
  g_use = Use::kSlotThatIsMissing;
  EXPECT_EQ(Filter(), BERTH_BUG) << "the second state of TwoStates";
  is_fault("Filter", "LargestState");
  g_use = Use::kTryState;
  EXPECT_EQ(pre_flight(), BERTH_BUG);
  is_fault("PreBindPreFlight", "OnlyPreScore::State");
  g_use = Use::kEmplace;
  EXPECT_EQ(PreFilter(), BERTH_BUG);
  is_fault("PreFilter", "OnlyPreScore::State");
  g_use = Use::kOwn;
  EXPECT_EQ(Filter(), BERTH_SUCCESS) << "the plugin's own state is unchanged";
  EXPECT_EQ(code_, BERTH_UNSCHEDULABLE);
}

}  // namespace
}  // namespace berth
