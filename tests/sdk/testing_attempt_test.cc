// Tests that an attempt in the kit, and the what-if questions in it, are like those of the host.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/testing/gtest.h>

#include "testing_found.h"
#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What the plugin does in its points, which have no context of their own.
struct Attempted {
  berth_code pre_filter_code = BERTH_SUCCESS;
  std::function<void(const berth_cycle&, berth_pre_filter_out&)> pre_filter;
  std::function<void(const berth_cycle&)> add_pod;
  std::function<void(const berth_cycle&)> post_filter;
};
Attempted attempted;

// Rejects a node on which there is a pod.
berth_code RejectUsedNodes(void*, const berth_cycle*, const berth_block* block,
                           berth_filter_out* out, berth_status*) noexcept {
  EachSelected(block, [&](uint32_t i) { Reject(out, i, block->pods[i].count != 0); });
  return BERTH_SUCCESS;
}

// Accepts the survivors with the fewest pods.
berth_code AcceptFewest(void*, const berth_cycle*, const berth_nodes* survivors,
                        berth_filter_whole_out* out, berth_status*) noexcept {
  uint64_t fewest = UINT64_MAX;
  const auto each = [&](const auto& one) {
    for (uint32_t b = 0; b < survivors->n_blocks; ++b) {
      const berth_block* block = survivors->block(survivors, b);
      for (uint32_t i = 0; i < block->count; ++i) one(block->rows[i], block->pods[i].count);
    }
  };
  each([&](uint32_t, uint64_t pods) { fewest = std::min(fewest, pods); });
  each([&](uint32_t row, uint64_t pods) {
    out->codes[row] = pods > fewest ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS;
    out->reasons[row] = pods > fewest ? 1 : 0;
  });
  return BERTH_SUCCESS;
}

Parts AttemptParts() {
  attempted = {};
  Parts parts;
  parts.create = &FindServices;
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle* cycle, const berth_nodes*,
                         berth_pre_filter_out* out, berth_status*) noexcept -> berth_code {
                        if (attempted.pre_filter) attempted.pre_filter(*cycle, *out);
                        return attempted.pre_filter_code;
                      },
                      [](void*, const berth_cycle* cycle, const berth_pod*, const berth_block*,
                         uint32_t, berth_status*) noexcept -> berth_code {
                        if (attempted.add_pod) attempted.add_pod(*cycle);
                        return BERTH_SUCCESS;
                      },
                      [](void*, const berth_cycle*, const berth_pod*, const berth_block*, uint32_t,
                         berth_status*) noexcept -> berth_code { return BERTH_SUCCESS; }};
  parts.filter = {sizeof(berth_filter), 0, nullptr, &RejectUsedNodes, nullptr};
  parts.post_filter = {
      sizeof(berth_post_filter), 0,
      [](void*, const berth_cycle* cycle, const berth_nodes*, const berth_verdicts*,
         berth_post_filter_out*, berth_status* status) noexcept -> berth_code {
        attempted.post_filter(*cycle);
        status->add_reason(status, ToAbi("done"));
        return BERTH_UNSCHEDULABLE;
      }};
  return parts;
}

// Runs PostFilter of pod "p", with priority 5, in which the plugin calls `act`.
std::vector<std::string> FindingsInPostFilter(
    const Parts& parts, std::function<void(const berth_cycle&)> act,
    const std::function<void(PluginUnderTest&)>& prepare = nullptr) {
  attempted.post_filter = std::move(act);
  return Findings(parts, {.nodes = {MakeNode("a"), MakeNode("b"), MakeNode("c")}},
                  [&](PluginUnderTest& plugin) {
                    if (prepare) prepare(plugin);
                    plugin.Place(MakePod("p").Priority(5)).PostFilter();
                  });
}

// A question about rows 0, 1 and 2.
class Question {
 public:
  explicit Question(const berth_cycle& cycle, uint32_t mode = BERTH_WHATIF_APART) {
    const uint32_t rows[] = {0, 1, 2};
    EXPECT_EQ(found.whatif->begin(found.host, &cycle, rows, 3, mode, &id_), BERTH_SUCCESS);
  }
  ~Question() { found.whatif->end(found.host, id_); }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  berth_code Add(uint32_t i, const berth_pod* pod) {
    return found.whatif->add_pod(found.host, id_, i, pod, nullptr);
  }
  // Returns "2 0 0: the reasons,in their order".
  std::string Run(berth_code expected = BERTH_SUCCESS) {
    uint8_t codes[3] = {77, 77, 77};
    const berth_whatif_run run{sizeof run, 0, nullptr, 0, codes};
    std::string text;
    berth_status status{};
    status.struct_size = sizeof status;
    status.impl = &text;
    status.add_reason = [](berth_status* self, berth_str reason) noexcept {
      std::string& to = *static_cast<std::string*>(self->impl);
      to += (to.empty() ? "" : ",") + std::string(FromAbi(reason));
    };
    EXPECT_EQ(found.whatif->run_filters(found.host, id_, &run, &status), expected);
    std::string all;
    for (const uint8_t code : codes) all += (all.empty() ? "" : " ") + std::to_string(code);
    return all + ": " + text;
  }

 private:
  uint64_t id_ = 0;
};

// --- what-if questions ---------------------------------------------------------------------------

TEST(WhatIfAsInTheHost, TakesPodsThatAreNotOnNodes) {
  static const berth_pod* retained = nullptr;
  const berth_pod* pending = nullptr;
  const Parts parts = AttemptParts();
  attempted.pre_filter = [](const berth_cycle& cycle, berth_pre_filter_out&) {
    if (FromAbi(cycle.pod->meta->name) != "retained") return;
    retained = cycle.pod;
    EXPECT_EQ(found.refs->retain(found.host, {BERTH_KIND_POD, 0, retained}), BERTH_SUCCESS);
  };
  const auto act = [&](const berth_cycle& cycle) {
    Question question(cycle);
    EXPECT_EQ(question.Add(0, pending), BERTH_SUCCESS);
    EXPECT_EQ(question.Add(1, retained), BERTH_SUCCESS);
    EXPECT_EQ(question.Run(), "2 2 0: no room");
    found.refs->release(found.host, {BERTH_KIND_POD, 0, retained});
  };
  EXPECT_THAT(FindingsInPostFilter(parts, act,
                                   [&](PluginUnderTest& plugin) {
                                     plugin.AddPendingPod(MakePod("pending"));
                                     pending = plugin.table().pending.front().get();
                                     plugin.Place(MakePod("retained"));
                                   }),
              IsEmpty());
}

TEST(WhatIfAsInTheHost, DoesNotCallAPluginThatSkipped) {
  const Parts parts = AttemptParts();
  attempted.pre_filter_code = BERTH_SKIP;
  attempted.add_pod = [](const berth_cycle&) { ADD_FAILURE() << "AddPod is called"; };
  const auto nominate = [](PluginUnderTest& plugin) {
    plugin.Nominate(MakePod("n").Priority(9), "b");
  };
  const auto act = [](const berth_cycle& cycle) {
    Question question(cycle);
    EXPECT_EQ(question.Add(0, cycle.pod), BERTH_SUCCESS);
    EXPECT_EQ(question.Run(), "0 0 0: ") << "its Filter would reject two of them";
  };
  EXPECT_THAT(FindingsInPostFilter(parts, act, nominate), IsEmpty());
}

TEST(WhatIfAsInTheHost, ContinuesTheAttempt) {
  std::vector<uint64_t> numbers;
  std::vector<uint64_t> ids;
  const auto draw = [&](const berth_cycle& cycle) {
    numbers.push_back(found.random->next(found.host, &cycle));
    ids.push_back(cycle.id);
  };
  const Parts parts = AttemptParts();
  attempted.add_pod = draw;
  const auto ask = [&](const berth_cycle& cycle) {
    draw(cycle);
    Question question(cycle);
    question.Add(0, cycle.pod);
    question.Add(1, cycle.pod);
    draw(cycle);
  };
  EXPECT_THAT(FindingsInPostFilter(parts, ask), IsEmpty());
  EXPECT_THAT(ids, ElementsAre(1, 1, 1, 1));
  const std::vector<uint64_t> with_questions = std::exchange(numbers, {});
  const auto draw_four = [&](const berth_cycle& cycle) {
    for (int i = 0; i < 4; ++i) draw(cycle);
  };
  EXPECT_THAT(FindingsInPostFilter(parts, draw_four), IsEmpty());
  EXPECT_EQ(with_questions, numbers) << "one sequence";
}

TEST(WhatIfAsInTheHost, AQuestionIsNoAttempt) {
  const Parts parts = AttemptParts();
  std::vector<uint64_t> ids;
  const auto act = [&](const berth_cycle& cycle) {
    ids.push_back(cycle.id);
    const Question question(cycle);
  };
  attempted.post_filter = act;
  const auto place_twice = [](PluginUnderTest& plugin) {
    for (const char* name : {"p", "q"}) plugin.Place(MakePod(name)).PostFilter();
  };
  EXPECT_THAT(
      Findings(parts, {.nodes = {MakeNode("a"), MakeNode("b"), MakeNode("c")}}, place_twice),
      IsEmpty());
  EXPECT_THAT(ids, ElementsAre(1, 2));
}

TEST(WhatIfAsInTheHost, RefusesAQuestionAfterPreFiltersWereLeftOut) {
  const struct {
    const char* name;
    berth_code answer;
    bool names_no_node;  // PreFilter restricts the pod to an empty list of nodes.
    berth_code begun;
  } cases[] = {
      {"no rejection", BERTH_SUCCESS, false, BERTH_SUCCESS},
      {"Unschedulable", BERTH_UNSCHEDULABLE, false, BERTH_SUCCESS},
      {"Unresolvable", BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, false, BERTH_CONFLICT},
      {"no node is named", BERTH_SUCCESS, true, BERTH_CONFLICT},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Parts parts = AttemptParts();
    attempted.pre_filter_code = c.answer;
    attempted.pre_filter = [&](const berth_cycle&, berth_pre_filter_out& out) {
      if (c.names_no_node) out.only_nodes(&out, nullptr, 0);
    };
    berth_code begun = BERTH_BUG;
    const auto act = [&](const berth_cycle& cycle) {
      const uint32_t row = 0;
      uint64_t id = 0;
      begun = found.whatif->begin(found.host, &cycle, &row, 1, BERTH_WHATIF_APART, &id);
    };
    (void)FindingsInPostFilter(parts, act);
    EXPECT_EQ(begun, c.begun);
  }
}

TEST(WhatIfAsInTheHost, TellsWhetherNominatedPodsAreAdded) {
  const Parts parts = AttemptParts();
  std::vector<uint32_t> flags;
  attempted.add_pod = [&](const berth_cycle& cycle) { flags.push_back(cycle.flags); };
  const auto nominate = [](PluginUnderTest& plugin) {
    plugin.Nominate(MakePod("n").Priority(9), "b");
  };
  const auto act = [](const berth_cycle& cycle) {
    EXPECT_EQ(cycle.flags, 0U);
    Question question(cycle);
    question.Add(0, cycle.pod);
    (void)question.Run();
  };
  EXPECT_THAT(FindingsInPostFilter(parts, act, nominate), IsEmpty());
  EXPECT_THAT(flags, ElementsAre(BERTH_CYCLE_WHAT_IF, BERTH_CYCLE_WHAT_IF | BERTH_CYCLE_NOMINATED));
}

TEST(WhatIfAsInTheHost, NominatedPodsCountAmongAllRowsTogether) {
  const struct {
    const char* name;
    uint32_t mode;
    bool whole;
    PodSpec nominated;
    const char* answer;
  } cases[] = {
      {"a whole Filter compares all rows", BERTH_WHATIF_TOGETHER, true, MakePod("n").Priority(5),
       "2 0 0: no room"},
      {"rows apart", BERTH_WHATIF_APART, true, MakePod("n").Priority(5), "0 0 0: "},
      {"of lower priority", BERTH_WHATIF_TOGETHER, true, MakePod("n").Priority(4), "0 0 0: "},
      {"with a scheduling gate", BERTH_WHATIF_TOGETHER, true, MakePod("n").Priority(5).Gate("g"),
       "0 0 0: "},
      {"a Filter per node", BERTH_WHATIF_TOGETHER, false, MakePod("n").Priority(5),
       "2 0 0: no room"},
      {"a Filter per node, with a gate", BERTH_WHATIF_TOGETHER, false,
       MakePod("n").Priority(5).Gate("g"), "0 0 0: "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Parts parts = AttemptParts();
    if (c.whole) {
      parts.filter = {sizeof(berth_filter), BERTH_FILTER_WHOLE, nullptr, nullptr, &AcceptFewest};
    }
    const auto act = [&](const berth_cycle& cycle) {
      Question question(cycle, c.mode);
      EXPECT_EQ(question.Run(), c.answer);
    };
    EXPECT_THAT(
        FindingsInPostFilter(parts, act,
                             [&](PluginUnderTest& plugin) { plugin.Nominate(c.nominated, "a"); }),
        IsEmpty());
  }
}

TEST(WhatIfAsInTheHost, TheReasonsHaveTheOrderOfTheRows) {
  Parts parts = AttemptParts();
  parts.reasons = {"zone", "arch"};
  parts.filter.filter = [](void*, const berth_cycle*, const berth_block* block,
                           berth_filter_out* out, berth_status*) noexcept -> berth_code {
    EachSelected(block, [&](uint32_t i) {
      out->codes[i] = BERTH_UNSCHEDULABLE;
      out->reasons[i] = block->rows[i] == 1 ? 2 : 1;
    });
    return BERTH_SUCCESS;
  };
  const auto act = [](const berth_cycle& cycle) {
    Question question(cycle);
    EXPECT_EQ(question.Run(), "2 2 2: zone,arch");
  };
  EXPECT_THAT(FindingsInPostFilter(parts, act), IsEmpty());
}

// --- the reason table, the target ----------------------------------------------------------------

TEST(AttemptAsInTheHost, AReasonIsInTheTableOnce) {
  std::vector<int32_t> bits;
  const Parts parts = AttemptParts();
  attempted.pre_filter = [&](const berth_cycle&, berth_pre_filter_out& out) {
    for (const char* text : {"x", "y", "x", "no room"}) {
      bits.push_back(out.add_reason(&out, ToAbi(text)));
    }
    for (int i = 4; i < 64; ++i) {
      const std::string text = std::to_string(i);
      EXPECT_EQ(out.add_reason(&out, ToAbi(text)), i);
    }
    bits.push_back(out.add_reason(&out, ToAbi("one too many")));
    bits.push_back(out.add_reason(&out, ToAbi("y")));
  };
  EXPECT_THAT(FindingsOf(parts, [](PluginUnderTest& plugin) { plugin.Place(MakePod("p")); }),
              IsEmpty());
  EXPECT_THAT(bits, ElementsAre(1, 2, 1, 3, -1, 2)) << "bit 0 is the plugin's constant reason";
}

TEST(AttemptAsInTheHost, TheAssumedPodHasItsNode) {
  static std::vector<std::string> seen;
  seen.clear();
  Parts parts;
  parts.create = &FindServices;
  parts.permit = {sizeof(berth_permit), 0,
                  [](void*, const berth_cycle* cycle, const berth_target* target, berth_permit_out*,
                     berth_status*) noexcept -> berth_code {
                    const auto node_of = [](const berth_pod& pod) {
                      return std::string(FromAbi(pod.meta->name)) + "@" +
                             std::string(FromAbi(found.strings->text(found.host, pod.node_name)));
                    };
                    seen.push_back(node_of(*cycle->pod));
                    const berth_pod_list& pods = target->block->pods[target->index];
                    for (uint64_t i = 0; i < pods.count; ++i)
                      seen.push_back(node_of(*pods.data[i]));
                    return BERTH_SUCCESS;
                  }};
  EXPECT_THAT(FindingsOf(parts, [](PluginUnderTest& plugin) { plugin.Permit(MakePod("p"), "a"); }),
              IsEmpty());
  EXPECT_THAT(seen, ElementsAre("p@", "p@a"));
}

TEST(AttemptAsInTheHost, ATimeoutOfPermitIsLimited) {
  constexpr int64_t kMinute = 60'000'000'000;
  static int64_t given = 0;
  Parts parts;
  parts.permit = {sizeof(berth_permit), 0,
                  [](void*, const berth_cycle*, const berth_target*, berth_permit_out* out,
                     berth_status*) noexcept -> berth_code {
                    out->timeout_ns = given;
                    return BERTH_WAIT;
                  }};
  const struct {
    int64_t given;
    int64_t kept;
  } cases[] = {{INT64_MIN, 0},
               {-1, 0},
               {0, 0},
               {1, 1},
               {15 * kMinute, 15 * kMinute},
               {15 * kMinute + 1, 15 * kMinute},
               {INT64_MAX, 15 * kMinute}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.given);
    given = c.given;
    EXPECT_THAT(FindingsOf(parts,
                           [&](PluginUnderTest& plugin) {
                             EXPECT_EQ(plugin.Permit(MakePod("p"), "a").timeout_ns, c.kept);
                           }),
                IsEmpty());
  }
}

}  // namespace
}  // namespace berth::testing
