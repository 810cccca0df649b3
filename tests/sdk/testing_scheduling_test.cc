// Tests the fake host's services about nodes, what-if questions, nominations and waiting pods.
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <berth/plugin.h>
#include <berth/testing/gtest.h>

#include "testing_plugins.h"

namespace berth::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The test sets the functions that the plugin runs in PostFilter and in Permit.
struct Acts {
  std::function<berth::Status(const Host&, berth::Cycle&, const berth::Nodes&,
                              berth::PostFilterOut&)>
      post_filter;
  std::function<void(const Host&, const berth::Target&)> permit;
  std::function<void(const Host&, berth::Cycle&)> pre_filter;
};
Acts acts;

// Rejects nodes with more than two pods of the pod's namespace, which it counts in its state; the
// state is the number of pods on all nodes.
class Planner : public berth::Plugin {
 public:
  static constexpr std::string_view kName = "test.Planner";
  static constexpr std::string_view kVersion = "1.0.0";
  static constexpr std::string_view kAbout = "Does what the test sets.";
  static constexpr Reasons kReasons{"too many pods"};
  using Columns = berth::Columns<PodsCount>;
  using Node = NodeRow<Columns>;

  explicit Planner(const Host& host) : host_(host) {}

  berth::Status PreFilter(berth::Cycle& cycle, const berth::Nodes& /*all*/,
                          berth::PreFilterOut& /*out*/) {
    if (acts.pre_filter) acts.pre_filter(host_, cycle);
    return berth::Status::Success();
  }
  berth::Verdict Filter(const berth::Cycle& /*cycle*/, const Node& node) const {
    return berth::UnschedulableIf(node[PodsCount{}] >= 2, 0);
  }
  berth::Status PostFilter(berth::Cycle& cycle, const berth::Nodes& all,
                           const berth::Verdicts& /*verdicts*/, berth::PostFilterOut& out) {
    return acts.post_filter(host_, cycle, all, out);
  }
  berth::Status Permit(berth::Cycle& /*cycle*/, const berth::Target& target,
                       std::chrono::nanoseconds& /*timeout*/) {
    if (acts.permit) acts.permit(host_, target);
    return berth::Status::Success();
  }

 private:
  const Host host_;
};

class SchedulingServicesTest : public ::testing::Test {
 protected:
  SchedulingServicesTest() { acts = {}; }
  ~SchedulingServicesTest() override { acts = {}; }

  // "a" has two pods, "b" three, "c" none.
  Scenario ThreeNodes() {
    return {.nodes = {MakeNode("a").Pod(MakePod("a1")).Pod(MakePod("a2")),
                      MakeNode("b").Pod(MakePod("b1")).Pod(MakePod("b2")).Pod(MakePod("b3")),
                      MakeNode("c")},
            .on_failure = [this](const std::string& text) { findings_.push_back(text); }};
  }
  // Runs PostFilter of pod "p", in which the plugin calls `act`.
  void InPostFilter(const std::function<void(const Host&, berth::Cycle&, const berth::Nodes&)>& act,
                    const std::function<void(PluginUnderTest&)>& prepare = nullptr) {
    acts.post_filter = [&](const Host& host, berth::Cycle& cycle, const berth::Nodes& all,
                           berth::PostFilterOut&) {
      act(host, cycle, all);
      return berth::Status::Unschedulable("done");
    };
    PluginUnderTest plugin(kEntryOf<Planner>, ThreeNodes());
    if (prepare) prepare(plugin);
    EXPECT_EQ(plugin.Place(MakePod("p").Priority(5)).PostFilter().answer, Unschedulable("done"));
  }
  // Returns "0 2 0: too many pods" or "failed".
  static std::string Run(WhatIfQuestion& question, size_t count) {
    std::vector<uint8_t> codes(count, 77);
    const berth::Status status = question.RunFilters(codes);
    std::string text = status.ok() ? "" : "failed ";
    for (const uint8_t code : codes) text += std::to_string(code) + " ";
    for (const std::string& reason : status.reasons()) text += reason + ";";
    return text;
  }
  static const berth_pod& PodOn(const berth::Nodes& all, uint32_t row, size_t pod) {
    return *all.BlockAt<Planner::Columns>(0).Pods(row)[pod];
  }

  std::vector<std::string> findings_;
};

// --- what-if -------------------------------------------------------------------------------------

TEST_F(SchedulingServicesTest, WhatIfRunsThePluginsFilter) {
  InPostFilter([](const Host& host, berth::Cycle& cycle, const berth::Nodes& all) {
    const std::vector<uint32_t> rows = {0, 1, 2};
    for (const WhatIfMode mode : {WhatIfMode::kApart, WhatIfMode::kTogether}) {
      WhatIfQuestion question = host.what_if().Begin(cycle, rows, mode);
      ASSERT_TRUE(question);
      EXPECT_EQ(Run(question, 3), "2 2 0 too many pods;");
      EXPECT_TRUE(question.RemovePod(0, PodOn(all, 0, 0)).ok());
      EXPECT_TRUE(question.RemovePod(1, PodOn(all, 1, 0)).ok());
      EXPECT_TRUE(question.AddPod(2, PodOn(all, 0, 0)).ok());
      EXPECT_EQ(Run(question, 3), "0 2 0 too many pods;");
      EXPECT_TRUE(question.AddPod(2, *cycle.pod()).ok());
      EXPECT_EQ(Run(question, 3), "0 2 2 too many pods;");
      std::vector<uint8_t> codes(3, 77);
      const uint32_t selected[] = {1};
      EXPECT_TRUE(question.RunFilters(selected, codes).ok());
      EXPECT_EQ(question.RunFilters(std::span(codes).first(2)).code(), BERTH_BAD_ARGUMENT);
      EXPECT_THAT(question.RunFilters(selected, std::span(codes).first(2)).reasons(),
                  ElementsAre("RunFilters expects a code for each of the 3 rows, but found 2"));
      EXPECT_THAT(codes, ElementsAre(77, 2, 77));
      const berth::Status absent = question.RemovePod(2, PodOn(all, 1, 1));
      EXPECT_EQ(absent.code(), BERTH_NOT_FOUND) << "it is on another";
      EXPECT_THAT(absent.reasons(), ElementsAre("the pod is not on node c"));
      EXPECT_EQ(Run(question, 3), "0 2 2 too many pods;") << "the rows keep their verdicts";
    }
    const uint32_t none = 9;
    EXPECT_EQ(host.what_if().Begin(cycle, {&none, 1}, WhatIfMode::kApart).status().code(),
              BERTH_NOT_FOUND);
  });
  EXPECT_THAT(findings_, IsEmpty());
}

TEST_F(SchedulingServicesTest, WhatIfNamesFiltersThatReadPods) {
  InPostFilter([](const Host& host, berth::Cycle& cycle, const berth::Nodes&) {
    const auto filters = host.what_if().PodFilters(cycle);
    ASSERT_TRUE(filters.has_value());
    EXPECT_THAT(*filters, ElementsAre("test.Planner")) << "it declares no dependence";
  });
  EXPECT_THAT(findings_, IsEmpty());
}

TEST_F(SchedulingServicesTest, WhatIfHasTheReasonsOfEachRow) {
  InPostFilter([](const Host& host, berth::Cycle& cycle, const berth::Nodes&) {
    const std::vector<uint32_t> rows = {0, 2};
    WhatIfQuestion question = host.what_if().Begin(cycle, rows, WhatIfMode::kApart);
    EXPECT_EQ(question.size(), 2U);
    EXPECT_EQ(question.ReasonsOf(0).code(), BERTH_CONFLICT) << "there was no run";
    EXPECT_EQ(Run(question, 2), "2 0 too many pods;");
    EXPECT_TRUE(question.ReasonsOf(0).ok());
    EXPECT_THAT(question.ReasonsOf(0).reasons(), ElementsAre("too many pods"));
    EXPECT_THAT(question.ReasonsOf(1).reasons(), IsEmpty()) << "the row passed";
  });
  EXPECT_THAT(findings_, IsEmpty());
}

TEST_F(SchedulingServicesTest, NominatedPodsCountInAWhatIf) {
  InPostFilter(
      [](const Host& host, berth::Cycle& cycle, const berth::Nodes& all) {
        const std::vector<uint32_t> rows = {0, 2};
        WhatIfQuestion question = host.what_if().Begin(cycle, rows, WhatIfMode::kApart);
        EXPECT_TRUE(question.RemovePod(0, PodOn(all, 0, 0)).ok());
        EXPECT_EQ(Run(question, 2), "2 0 too many pods;");
        EXPECT_TRUE(question.RemovePod(0, PodOn(all, 0, 1)).ok());
        EXPECT_EQ(Run(question, 2), "0 0 ");
      },
      [](PluginUnderTest& plugin) {
        plugin.Nominate(MakePod("equal").Priority(5), "a");
        plugin.Nominate(MakePod("lower").Priority(4), "a");
        plugin.Nominate(MakePod("lower still").Priority(4), "c");
      });
  EXPECT_THAT(findings_, IsEmpty());
}

using Misuse = std::function<void(const berth_whatif&, const berth_host*, const berth_cycle*,
                                  uint64_t question)>;

class WhatIfMisuseTest : public SchedulingServicesTest {
 protected:
  // Expects that a misuse of a question about two rows causes this finding alone.
  void Expect(const char* finding, const Misuse& misuse) {
    SCOPED_TRACE(finding);
    findings_.clear();
    InPostFilter([&](const Host& host, berth::Cycle& cycle, const berth::Nodes&) {
      const auto& services = host.services();
      const uint32_t rows[] = {0, 1};
      uint64_t question = 0;
      EXPECT_EQ(services.whatif->begin(services.host, &cycle.abi(), rows, 2, BERTH_WHATIF_APART,
                                       &question),
                BERTH_SUCCESS);
      misuse(*services.whatif, services.host, &cycle.abi(), question);
      services.whatif->end(services.host, question);
    });
    EXPECT_THAT(findings_, ElementsAre(HasSubstr(finding)));
  }
};

TEST_F(WhatIfMisuseTest, IsReported) {
  uint8_t codes[2];
  const berth_whatif_run all{sizeof all, 0, nullptr, 0, codes};
  const uint32_t far[] = {0, 2};
  Expect("which is not open", [&](const auto& service, auto* host, auto*, uint64_t question) {
    service.end(host, question);
    EXPECT_EQ(service.run_filters(host, question, &all, nullptr), BERTH_CONFLICT);
  });
  Expect("of mode 7", [&](const auto& service, auto* host, auto* cycle, uint64_t) {
    uint64_t other = 0;
    EXPECT_EQ(service.begin(host, cycle, far, 1, 7, &other), BERTH_BAD_ARGUMENT);
  });
  Expect("together that repeat", [&](const auto& service, auto* host, auto* cycle, uint64_t) {
    uint64_t other = 0;
    const uint32_t twice[] = {1, 1};
    EXPECT_EQ(service.begin(host, cycle, twice, 2, BERTH_WHATIF_TOGETHER, &other),
              BERTH_BAD_ARGUMENT);
  });
  Expect("whatif.add_pod for row 2 of a question about 2",
         [&](const auto& service, auto* host, auto* cycle, uint64_t question) {
           EXPECT_EQ(service.add_pod(host, question, 2, cycle->pod, nullptr), BERTH_BAD_ARGUMENT);
         });
  Expect("adds a pod that the host did not pass",
         [&](const auto& service, auto* host, auto* cycle, uint64_t question) {
           const berth_pod copy = *cycle->pod;
           EXPECT_EQ(service.add_pod(host, question, 0, &copy, nullptr), BERTH_BAD_ARGUMENT);
         });
}

TEST_F(WhatIfMisuseTest, OfRunFiltersIsReported) {
  uint8_t codes[2];
  const uint32_t far[] = {0, 2};
  const uint32_t back[] = {1, 0};
  const uint32_t size = sizeof(berth_whatif_run);
  const struct {
    const char* finding;
    berth_whatif_run run;
  } kTable[] = {
      {"do not ascend or do not exist", {size, 0, far, 2, codes}},
      {"do not ascend or do not exist", {size, 0, back, 2, codes}},
      {"do not ascend or do not exist", {size, 0, far, uint64_t{1} << 40, codes}},
      {"calls whatif.run_filters with the unknown flags 2", {size, 2, nullptr, 0, codes}},
      {"calls whatif.run_filters with a struct_size of 31; expected at least 32",
       {size - 1, 0, nullptr, 0, codes}},
  };
  for (const auto& row : kTable) {
    Expect(row.finding, [&](const auto& service, auto* host, auto*, uint64_t question) {
      EXPECT_EQ(service.run_filters(host, question, &row.run, nullptr), BERTH_BAD_ARGUMENT);
    });
  }
}

TEST_F(SchedulingServicesTest, WhatIfIsForPostFilterOnly) {
  acts.pre_filter = [](const Host& host, berth::Cycle& cycle) {
    const uint32_t row = 0;
    EXPECT_EQ(host.what_if().Begin(cycle, {&row, 1}, WhatIfMode::kApart).status().code(),
              BERTH_CONFLICT);
  };
  InPostFilter([](const Host&, berth::Cycle&, const berth::Nodes&) {});
  EXPECT_THAT(findings_,
              ElementsAre(HasSubstr("calls whatif.begin from PreFilter, but it may be called")));
}

// --- nodes, the target ---------------------------------------------------------------------------

TEST_F(SchedulingServicesTest, FindsNodes) {
  const berth_nodes* kept = nullptr;
  InPostFilter([&](const Host& host, berth::Cycle&, const berth::Nodes& all) {
    EXPECT_EQ(host.nodes().Find("b"), 1U);
    EXPECT_FALSE(host.nodes().Find("nowhere"));
    const auto place = host.nodes().Find(all, 2);
    ASSERT_TRUE(place);
    EXPECT_EQ(all.BlockAt<Planner::Columns>(place->block).View(place->index).name(), "c");
    EXPECT_FALSE(host.nodes().Find(all, 3));
    EXPECT_THAT(findings_, IsEmpty());
    const berth_nodes copy = all.abi();
    kept = &copy;
    EXPECT_FALSE(host.nodes().Find(berth::Nodes(*kept), 0));
  });
  EXPECT_THAT(findings_, ElementsAre(HasSubstr("nodes that this call did not receive")));
}

TEST_F(SchedulingServicesTest, TheTargetIncludesThePod) {
  std::string seen;
  acts.permit = [&seen](const Host&, const berth::Target& target) {
    seen = std::to_string(target.Node<Planner::Columns>()[PodsCount{}]) + ":";
    for (const berth_pod* pod : target.pods()) seen += " " + std::string(Pod(*pod).name());
  };
  PluginUnderTest plugin(kEntryOf<Planner>, ThreeNodes());
  plugin.Permit(MakePod("p"), "a");
  EXPECT_EQ(seen, "3: a1 a2 p");
  plugin.AddPod(MakePod("p"), "c", BERTH_CHANGE_FLAG_ASSUMED);
  plugin.Permit(MakePod("p"), "c");
  EXPECT_EQ(seen, "1: p") << "the test itself may assume the pod";
}

// --- nominations, activation, waiting pods -------------------------------------------------------

TEST_F(SchedulingServicesTest, Nominations) {
  PluginUnderTest* under_test = nullptr;
  InPostFilter(
      [&](const Host& host, berth::Cycle&, const berth::Nodes&) {
        std::string all;
        EXPECT_TRUE(host.nominator()
                        .ForEach([&](const berth_pod& pod, std::string_view node) {
                          all += std::string(Pod(pod).name()) + "@" + std::string(node) + " ";
                        })
                        .ok());
        EXPECT_EQ(all, "x@a y@b z@b ");
        std::string first;
        EXPECT_TRUE(host.nominator()
                        .ForEach([&](const berth_pod& pod, std::string_view) {
                          first += Pod(pod).name();
                          return false;
                        })
                        .ok());
        EXPECT_EQ(first, "x");
        std::string on_b;
        EXPECT_TRUE(host.nominator()
                        .ForEach("b", [&](const berth_pod& pod) { on_b += Pod(pod).name(); })
                        .ok());
        EXPECT_EQ(on_b, "yz");
        EXPECT_THROW(static_cast<void>(host.nominator().ForEach(
                         [](const berth_pod&, std::string_view) { throw berth::Error("no"); })),
                     berth::Error);
        EXPECT_EQ(host.nominator().Clear("uid-y").code(), BERTH_SUCCESS);
        EXPECT_EQ(host.nominator().Clear("uid-y").code(), BERTH_NOT_FOUND);
        ASSERT_EQ(under_test->scheduling().nominations().size(), 2U);
        EXPECT_EQ(under_test->scheduling().nominations()[1].pod.name(), "z");
      },
      [&](PluginUnderTest& plugin) {
        under_test = &plugin;
        plugin.Nominate(MakePod("y"), "b");
        plugin.Nominate(MakePod("x"), "b");
        plugin.Nominate(MakePod("x"), "a");
        plugin.Nominate(MakePod("z"), "b");
      });
  EXPECT_THAT(findings_, IsEmpty());
}

TEST_F(SchedulingServicesTest, WaitingAndQueuedPods) {
  acts.permit = [](const Host& host, const berth::Target&) {
    std::string names;
    EXPECT_TRUE(
        host.waiting().ForEach([&](const berth_pod& pod) { names += Pod(pod).name(); }).ok());
    EXPECT_EQ(names, "abc");
    EXPECT_TRUE(host.waiting().Allow("uid-a").ok());
    EXPECT_EQ(host.waiting().Allow("uid-a").code(), BERTH_NOT_FOUND);
    EXPECT_TRUE(host.waiting().Reject("uid-b", "too late").ok());
    EXPECT_EQ(host.waiting().Reject("uid-q", "").code(), BERTH_NOT_FOUND);
    EXPECT_TRUE(host.activate().Pod("uid-q").ok());
  };
  PluginUnderTest plugin(kEntryOf<Planner>, ThreeNodes());
  for (const char* name : {"a", "b", "c"}) plugin.AddWaiting(MakePod(name));
  plugin.Permit(MakePod("p"), "a");
  EXPECT_THAT(plugin.scheduling().allowed(), ElementsAre("uid-a"));
  EXPECT_THAT(plugin.scheduling().rejected(),
              ElementsAre(SchedulingServices::Rejection{"uid-b", "too late"}));
  EXPECT_THAT(plugin.scheduling().activated(), ElementsAre("uid-q"));
  ASSERT_EQ(plugin.scheduling().waiting().size(), 1U);
  EXPECT_THAT(findings_, IsEmpty());
}

// The callback decides about all pods at its first call, and gets all of them, as in the host.
TEST_F(SchedulingServicesTest, ListingMayDecideWaitingPods) {
  acts.permit = [](const Host& host, const berth::Target&) {
    std::string names;
    std::vector<berth_code> codes;
    const auto decide = [&](const berth_pod& pod) {
      names += Pod(pod).name();
      codes.push_back(host.waiting().Allow("uid-a").code());
      codes.push_back(host.waiting().Reject("uid-b", "no").code());
    };
    EXPECT_TRUE(host.waiting().ForEach(decide).ok());
    EXPECT_EQ(names, "abc");
    EXPECT_THAT(codes, ElementsAre(BERTH_SUCCESS, BERTH_SUCCESS, BERTH_NOT_FOUND, BERTH_NOT_FOUND,
                                   BERTH_NOT_FOUND, BERTH_NOT_FOUND));
  };
  PluginUnderTest plugin(kEntryOf<Planner>, ThreeNodes());
  for (const char* name : {"a", "b", "c"}) plugin.AddWaiting(MakePod(name));
  plugin.Permit(MakePod("p"), "a");
  ASSERT_EQ(plugin.scheduling().waiting().size(), 1U);
  EXPECT_EQ(plugin.scheduling().waiting()[0].name(), "c");
  EXPECT_THAT(findings_, IsEmpty());
}

TEST_F(SchedulingServicesTest, ReportsARejectionWithUnknownFlags) {
  acts.permit = [](const Host& host, const berth::Target&) {
    const auto& services = host.services();
    const berth_rejection rejection{sizeof rejection, 1, ToAbi("uid-a"), ToAbi("no")};
    EXPECT_EQ(services.waiting->reject(services.host, &rejection), BERTH_BAD_ARGUMENT);
  };
  PluginUnderTest plugin(kEntryOf<Planner>, ThreeNodes());
  plugin.AddWaiting(MakePod("a"));
  plugin.Permit(MakePod("p"), "a");
  EXPECT_EQ(plugin.scheduling().waiting().size(), 1U);
  EXPECT_THAT(findings_, ElementsAre(HasSubstr("calls waiting.reject with the unknown flags 1")));
}

// --- changes of several nodes together -----------------------------------------------------------

// The state counts the nodes that changed, which no change of a single node reveals.
TEST(WhatIfTogether, ReportsStateThatKeepsOneNodeOnly) {
  struct Changed {
    uint32_t last;  // The row of the last change, plus one.
    uint32_t nodes;
  };
  Parts parts;
  parts.slots = {{sizeof(berth_slot), sizeof(Changed), alignof(Changed), 0, "sample.changed/1",
                  nullptr, nullptr, nullptr}};
  const auto change = [](void*, const berth_cycle* cycle, const berth_pod*,
                         const berth_block* block, uint32_t index,
                         berth_status*) noexcept -> berth_code {
    auto& changed = *static_cast<Changed*>(cycle->slots[0]);
    if (changed.last != block->rows[index] + 1) ++changed.nodes;
    changed.last = block->rows[index] + 1;
    return BERTH_SUCCESS;
  };
  parts.pre_filter = {sizeof(berth_pre_filter), 0,
                      [](void*, const berth_cycle*, const berth_nodes*, berth_pre_filter_out*,
                         berth_status*) noexcept -> berth_code { return BERTH_SUCCESS; },
                      change, change};
  parts.filter = {sizeof(berth_filter), 0, nullptr,
                  [](void*, const berth_cycle* cycle, const berth_block* block,
                     berth_filter_out* out, berth_status*) noexcept -> berth_code {
                    const bool lost = static_cast<const Changed*>(cycle->slots[0])->nodes > 1;
                    EachSelected(block, [&](uint32_t i) { Reject(out, i, lost); });
                    return BERTH_SUCCESS;
                  },
                  nullptr};
  EXPECT_THAT(FilterFindings(parts),
              ElementsAre(AllOf(HasSubstr("node \"a\": after changes of the pods on several nodes "
                                          "together it returns Unschedulable"),
                                HasSubstr("kWhatIf"))));
}

// --- normalisation -------------------------------------------------------------------------------

TEST(Normalize, MinMaxInDouble) {
  Parts parts = CorrectScore();
  parts.score.normalize_mode = BERTH_NORMALIZE_MIN_MAX_FLOAT;
  const SampleLibrary library(parts);
  PluginUnderTest plugin(library.entry(),
                         {.nodes = {MakeNode("a").CpuMilli(100), MakeNode("b").CpuMilli(129),
                                    MakeNode("c").CpuMilli(200)}});
  const ScoreResult result = plugin.Score(MakePod("p").CpuMilli(0));
  EXPECT_EQ(result.normalized.at("a"), 0);
  EXPECT_EQ(result.normalized.at("b"), 28);
  EXPECT_EQ(result.normalized.at("c"), 100);
}

}  // namespace
}  // namespace berth::testing
