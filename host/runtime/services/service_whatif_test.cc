// The service berth.whatif/1, called from PostFilter.
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/status_sink.h"
#include "host/runtime/points/run_filter.h"
#include "host/runtime/points/run_post_filter.h"
#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/services/test_find_service.h"
#include "host/runtime/services/test_services.h"
#include "tests/harness/stage.h"

namespace berth::host {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Plugin A rejects every node with more pods than its cycle state allows, and calls the service in
// PostFilter. Pods a and b run on n1.
class WhatIfServiceTest : public ::testing::Test {
 protected:
  WhatIfServiceTest() {
    a_ = &stage_.Add("puppet.A", {Point::kPreFilter, Point::kFilter, Point::kPostFilter});
    a_->has_slot = true;
    a_->reasons = {AsStr("too many pods")};
    a_->pre_filter = [](const berth_cycle& cycle, const berth_nodes&, berth_pre_filter_out&,
                        berth_status*) {
      SlotOf(cycle) = 1;
      return BERTH_SUCCESS;
    };
    a_->add_pod = [](const berth_cycle&, const berth_pod&, const berth_block&, uint32_t,
                     berth_status*) { return BERTH_SUCCESS; };
    a_->remove_pod = [](const berth_cycle&, const berth_pod&, const berth_block&, uint32_t,
                        berth_status* status) {
      return Report({BERTH_SUCCESS, {}}, status);
    };
    a_->filter = [](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                    berth_status*) {
      for (uint32_t i = 0; i < block.count; ++i) {
        const bool fits = block.pods[i].count <= static_cast<uint64_t>(SlotOf(cycle));
        out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = fits ? 0 : 1;
      }
      return BERTH_SUCCESS;
    };
    for (const char* name : {"a", "b"}) {
      pods_.push_back(stage_.objects().Pod({.name = name, .node = "n1"}));
      EXPECT_TRUE(stage_.cache().AddPod(pods_.back()).ok());
    }
    pods_.push_back(stage_.objects().Pod({.name = "c"}));
  }

  static int64_t& SlotOf(const berth_cycle& cycle) {
    return *static_cast<int64_t*>(cycle.slots[0]);
  }
  const berth_host* host() const { return stage_.HostOf("puppet.A").abi(); }
  const berth_whatif& service() const {
    return *FindService<berth_whatif>(host(), BERTH_SERVICE_WHATIF);
  }
  const berth_pod& pod(size_t i) const { return pods_[i]->view(); }
  Row row() { return stage_.table().FindNode("n1"); }

  // Runs an attempt up to PostFilter, in which the plugin calls `ask`.
  void AskInPostFilter(std::function<void(const berth_cycle& cycle)> ask) {
    a_->post_filter = [ask = std::move(ask)](const berth_cycle& cycle, const berth_nodes&,
                                             const berth_verdicts&, berth_post_filter_out&,
                                             berth_status*) {
      ask(cycle);
      return BERTH_UNSCHEDULABLE;
    };
    Run();
  }
  void Run() {
    if (!built_) stage_.Build();
    built_ = true;
    Attempt& attempt = stage_.Begin();
    const PreFilterResult pre_filter = RunPreFilter(attempt);
    ASSERT_FALSE(pre_filter.status.code == BERTH_ERROR);
    RunPostFilter(attempt, pre_filter, {});
  }
  // Begins a question about n1 alone. Returns 0 and expects nothing else if that fails.
  uint64_t Begin(const berth_cycle& cycle) { return Begin(cycle, {row()}, BERTH_WHATIF_APART); }
  uint64_t Begin(const berth_cycle& cycle, const std::vector<uint32_t>& rows, uint32_t mode) {
    uint64_t question = 0;
    const auto count = static_cast<uint32_t>(rows.size());
    begun_ = service().begin(host(), &cycle, rows.data(), count, mode, &question);
    return question;
  }
  berth_code Remove(uint64_t question, size_t which, uint32_t i = 0) const {
    return service().remove_pod(host(), question, i, &pod(which), nullptr);
  }
  berth_code Add(uint64_t question, size_t which, uint32_t i = 0) const {
    return service().add_pod(host(), question, i, &pod(which), nullptr);
  }
  // Returns the verdict of each row, "-" if it is not written, and the reasons: "2: too many pods".
  // If the call fails, "failed with 1: ...".
  std::string Verdict(uint64_t question, size_t count = 1) const {
    return Verdict(question, count, nullptr, 0);
  }
  std::string Verdict(uint64_t question, size_t count, const uint32_t* selected, uint64_t n) const {
    StatusSink sink;
    constexpr uint8_t kNothing = 77;
    std::vector<uint8_t> codes(count, kNothing);
    const berth_whatif_run run{sizeof run, 0, selected, n, codes.data()};
    const berth_code code = service().run_filters(host(), question, &run, sink.raw());
    if (code != BERTH_SUCCESS) {
      EXPECT_THAT(codes, ::testing::Each(kNothing));
      return "failed with " + std::to_string(code) + ": " + sink.JoinReasons();
    }
    std::string text;
    for (const uint8_t verdict : codes) {
      text += (text.empty() ? "" : " ") + (verdict == kNothing ? "-" : std::to_string(verdict));
    }
    return text + ": " + sink.JoinReasons();
  }

  Stage stage_;
  Puppet* a_;
  std::vector<PodRef> pods_;
  bool built_ = false;
  berth_code begun_ = BERTH_SUCCESS;  // The result of the last Begin().
};

TEST_F(WhatIfServiceTest, ReportsTheVerdictOfTheChangedRow) {
  std::vector<std::string> verdicts;
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t question = Begin(cycle);
    verdicts.push_back(Verdict(question));
    EXPECT_EQ(Remove(question, 0), BERTH_SUCCESS);
    verdicts.push_back(Verdict(question));
    EXPECT_EQ(Add(question, 2), BERTH_SUCCESS);
    verdicts.push_back(Verdict(question));
    uint8_t code = 0;
    const berth_whatif_run run{sizeof run, 0, nullptr, 99, &code};
    EXPECT_EQ(service().run_filters(host(), question, &run, nullptr), BERTH_SUCCESS)
        << "`n_selected` is ignored";
    EXPECT_EQ(code, BERTH_UNSCHEDULABLE);
    service().end(host(), question);
  });
  EXPECT_THAT(verdicts, ElementsAre("2: too many pods", "0: ", "2: too many pods"));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(WhatIfServiceTest, AnswersSeveralRowsInOneCall) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    for (const uint32_t mode : {BERTH_WHATIF_APART, BERTH_WHATIF_TOGETHER}) {
      const uint64_t question = Begin(cycle, {2, 1, 0}, mode);
      EXPECT_EQ(Verdict(question, 3), "0 2 0: too many pods") << "in the order of the rows";
      EXPECT_EQ(Remove(question, 0, 1), BERTH_SUCCESS);
      EXPECT_EQ(Add(question, 2, 2), BERTH_SUCCESS);
      EXPECT_EQ(Add(question, 0, 2), BERTH_SUCCESS);
      EXPECT_EQ(Verdict(question, 3), "0 0 2: too many pods");
      const uint32_t some[] = {0, 2};
      EXPECT_EQ(Verdict(question, 3, some, 2), "0 - 2: too many pods");
      EXPECT_EQ(Verdict(question, 3, some, 1), "0 - -: ");
      EXPECT_EQ(Verdict(question, 3, some, 0), "- - -: ");
      service().end(host(), question);
    }
    const uint64_t none = Begin(cycle, {}, BERTH_WHATIF_APART);
    EXPECT_EQ(Verdict(none, 0), ": ");
    service().end(host(), none);
  });
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(WhatIfServiceTest, ReasonsOfEachRowCanBeRead) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t question = Begin(cycle, {1, 0}, BERTH_WHATIF_APART);
    const auto reasons = [&](uint32_t i) {
      StatusSink sink;
      const berth_code code = service().reasons(host(), question, i, sink.raw());
      return std::to_string(code) + ": " + sink.JoinReasons();
    };
    const std::string conflict = std::to_string(BERTH_CONFLICT) + ": ";
    EXPECT_EQ(reasons(0), conflict) << "there was no run";
    EXPECT_EQ(reasons(2), std::to_string(BERTH_BAD_ARGUMENT) + ": ") << "there is no such row";
    const uint32_t first[] = {0};
    Verdict(question, 2, first, 1);
    EXPECT_EQ(reasons(0), "0: too many pods");
    EXPECT_EQ(reasons(1), conflict) << "the run did not select the row";
    EXPECT_EQ(Remove(question, 0), BERTH_SUCCESS);
    EXPECT_EQ(reasons(0), "0: too many pods") << "the reasons are those of the last run";
    const uint32_t second[] = {1};
    Verdict(question, 2, second, 1);
    EXPECT_EQ(reasons(0), "0: too many pods") << "the last run that selected the row";
    EXPECT_EQ(reasons(1), "0: ") << "the row passed";
    Verdict(question, 2);
    EXPECT_EQ(reasons(0), "0: ");
    EXPECT_EQ(service().reasons(host(), question, 0, nullptr), BERTH_SUCCESS);
    service().end(host(), question);
    EXPECT_EQ(reasons(0), conflict) << "the question has ended";
  });
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(WhatIfServiceTest, NamesFiltersThatMayDependOnPods) {
  static std::vector<std::string> named;
  named.clear();
  const auto each = [](void*, berth_str plugin) noexcept {
    named.emplace_back(Text(plugin));
    return 1;
  };
  const auto pass = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                       berth_status*) {
    std::fill_n(out.codes, block.count, uint8_t{BERTH_SUCCESS});
    return BERTH_SUCCESS;
  };
  bool skips = false;
  const std::pair<const char*, uint32_t> plugins[] = {{"puppet.B", BERTH_DEPENDS_NODE},
                                                      {"puppet.C", BERTH_DEPENDS_NODE_PODS},
                                                      {"puppet.D", BERTH_DEPENDS_OTHER}};
  for (const auto& [name, cluster] : plugins) {
    Puppet& puppet = stage_.Add(name, {Point::kPreFilter, Point::kFilter});
    puppet.filter = pass;
    puppet.filter_dependence.emplace();
    puppet.filter_dependence->cluster = cluster;
    puppet.pre_filter = [&skips](const berth_cycle&, const berth_nodes&, berth_pre_filter_out&,
                                 berth_status*) { return skips ? BERTH_SKIP : BERTH_SUCCESS; };
  }
  AskInPostFilter([&](const berth_cycle& cycle) {
    EXPECT_EQ(service().pod_filters(host(), &cycle, each, nullptr), BERTH_SUCCESS);
    const berth_cycle copy = cycle;
    EXPECT_EQ(service().pod_filters(host(), &copy, each, nullptr), BERTH_CONFLICT);
  });
  EXPECT_THAT(named, ElementsAre("puppet.A", "puppet.C", "puppet.D"));
  skips = true;
  Run();
  EXPECT_THAT(named, ElementsAre("puppet.A", "puppet.C", "puppet.D", "puppet.A"));
}

TEST_F(WhatIfServiceTest, ReasonsOfAnErrorOutliveTheRun) {
  a_->remove_pod = [](const berth_cycle&, const berth_pod&, const berth_block&, uint32_t,
                      berth_status* status) {
    return Report({BERTH_ERROR, {"broken"}}, status);
  };
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t question = Begin(cycle, {1, 0}, BERTH_WHATIF_APART);
    EXPECT_EQ(Remove(question, 0), BERTH_ERROR);
    Verdict(question, 2);
    const uint32_t second[] = {1};
    Verdict(question, 2, second, 1);
    StatusSink sink;
    EXPECT_EQ(service().reasons(host(), question, 0, sink.raw()), BERTH_SUCCESS);
    EXPECT_THAT(sink.JoinReasons(), ::testing::HasSubstr("broken"));
  });
}

TEST_F(WhatIfServiceTest, ARowMayRepeatApartOnly) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t question = Begin(cycle, {1, 1}, BERTH_WHATIF_APART);
    EXPECT_EQ(Remove(question, 0, 1), BERTH_SUCCESS);
    EXPECT_EQ(Verdict(question, 2), "2 0: too many pods") << "each reason once";
    service().end(host(), question);
    EXPECT_EQ(Begin(cycle, {1, 0, 1}, BERTH_WHATIF_TOGETHER), 0U);
    EXPECT_EQ(begun_, BERTH_BAD_ARGUMENT);
  });
}

TEST_F(WhatIfServiceTest, SeveralQuestionsMayBeOpen) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    const int64_t before = Stage::slots();
    const uint64_t first = Begin(cycle);
    const uint64_t second = Begin(cycle);
    EXPECT_NE(first, second);
    Remove(first, 0);
    EXPECT_EQ(Stage::slots(), before + 1);
    EXPECT_EQ(Verdict(first), "0: ");
    EXPECT_EQ(Verdict(second), "2: too many pods");
    service().end(host(), first);
    EXPECT_EQ(Stage::slots(), before);
    EXPECT_EQ(Verdict(second), "2: too many pods");
    service().end(host(), second);
  });
}

TEST_F(WhatIfServiceTest, ReportsErrors) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t question = Begin(cycle);
    StatusSink sink;
    EXPECT_EQ(service().remove_pod(host(), question, 0, &pod(2), sink.raw()), BERTH_NOT_FOUND);
    EXPECT_EQ(sink.JoinReasons(), "no corresponding pod c in pods of node n1");
    EXPECT_EQ(Verdict(question), "2: too many pods") << "the row did not change";
    SlotOf(cycle) = -1;  // Cloning fails.
    EXPECT_EQ(Remove(question, 0), BERTH_ERROR);
    service().end(host(), question);
    const char* const error = "plugin puppet.A could not clone its cycle state";
    for (const uint32_t mode : {BERTH_WHATIF_APART, BERTH_WHATIF_TOGETHER}) {
      const uint64_t broken = Begin(cycle, {0, 1}, mode);
      EXPECT_EQ(Add(broken, 2, 0), BERTH_ERROR);
      SlotOf(cycle) = 1;
      EXPECT_EQ(Verdict(broken, 2), mode == BERTH_WHATIF_APART
                                        ? std::string("1 2: ") + error + ", too many pods"
                                        : std::string("failed with 1: ") + error);
      service().end(host(), broken);
      SlotOf(cycle) = -1;
    }
    SlotOf(cycle) = 1;
  });
}

TEST_F(WhatIfServiceTest, ARowWithoutANodeIsNotFound) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    const Row gone = stage_.table().FindNode("n2");
    stage_.cache().RemoveNode("n2");
    for (const Row none : {stage_.table().row_count(), UINT32_MAX, gone}) {
      for (const uint32_t mode : {BERTH_WHATIF_APART, BERTH_WHATIF_TOGETHER}) {
        EXPECT_EQ(Begin(cycle, {0, none}, mode), 0U);
        EXPECT_EQ(begun_, BERTH_NOT_FOUND) << none;
      }
    }
  });
}

TEST_F(WhatIfServiceTest, ArgumentsThatAreNotValid) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    for (const uint32_t mode : {0U, 3U, UINT32_MAX}) {
      EXPECT_EQ(Begin(cycle, {0}, mode), 0U);
      EXPECT_EQ(begun_, BERTH_BAD_ARGUMENT) << mode;
    }
    const uint64_t question = Begin(cycle, {0, 1}, BERTH_WHATIF_APART);
    EXPECT_EQ(Add(question, 2, 2), BERTH_BAD_ARGUMENT);
    EXPECT_EQ(Remove(question, 0, UINT32_MAX), BERTH_BAD_ARGUMENT);
    const std::vector<uint32_t> kBad[] = {{2}, {0, 2}, {1, 0}, {0, 0}, {2, 1}, {UINT32_MAX}};
    for (const std::vector<uint32_t>& selected : kBad) {
      EXPECT_EQ(Verdict(question, 2, selected.data(), static_cast<uint32_t>(selected.size())),
                "failed with 35: ");
    }
    EXPECT_EQ(Verdict(question, 2), "0 2: too many pods");
    service().end(host(), question);
  });
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(WhatIfServiceTest, EndsQuestionsThatThePluginLeftOpen) {
  int64_t before = -1;
  AskInPostFilter([&](const berth_cycle& cycle) {
    before = Stage::slots();
    for (int i = 0; i < 2; ++i) Remove(Begin(cycle), 0);
    EXPECT_EQ(Stage::slots(), before + 2);
  });
  EXPECT_EQ(Stage::slots(), before);
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(WhatIfServiceTest, IsOnlyAvailableInPostFilter) {
  std::vector<berth_code> codes;
  const auto ask = [&](const berth_cycle& cycle) {
    Begin(cycle);
    codes.push_back(begun_);
  };
  const auto filter = a_->filter;
  a_->filter = [&](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                   berth_status* status) {
    ask(cycle);
    return filter(cycle, block, out, status);
  };
  a_->pre_filter = [&](const berth_cycle& cycle, const berth_nodes&, berth_pre_filter_out&,
                       berth_status*) {
    ask(cycle);
    return BERTH_SUCCESS;
  };
  // Filter of this plugin calls the service too, which fails.
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t question = Begin(cycle);
    EXPECT_EQ(begun_, BERTH_SUCCESS);
    EXPECT_EQ(Verdict(question), "0: ");
    service().end(host(), question);
  });
  EXPECT_THAT(codes, ElementsAre(BERTH_CONFLICT, BERTH_CONFLICT));
}

TEST_F(WhatIfServiceTest, RefusesTheCycleOfAnotherPlugin) {
  const berth_cycle* other = nullptr;
  stage_.Add("puppet.B", {Point::kPreFilter}).pre_filter =
      [&](const berth_cycle& cycle, const berth_nodes&, berth_pre_filter_out&, berth_status*) {
        other = &cycle;
        return BERTH_SUCCESS;
      };
  AskInPostFilter([&](const berth_cycle&) {
    Begin(*other);
    EXPECT_EQ(begun_, BERTH_CONFLICT);
  });
}

// A plugin may keep the cycle of an earlier call, of a what-if, or a copy.
TEST_F(WhatIfServiceTest, RefusesEveryOtherCycle) {
  const berth_cycle* in_what_if = nullptr;
  const auto filter = a_->filter;
  a_->filter = [&](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                   berth_status* status) {
    in_what_if = &cycle;
    return filter(cycle, block, out, status);
  };
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t question = Begin(cycle);
    EXPECT_EQ(begun_, BERTH_SUCCESS);
    Verdict(question);
    ASSERT_NE(in_what_if, nullptr);
    const berth_cycle copy = cycle;
    const berth_cycle empty{};
    for (const berth_cycle* other : {in_what_if, &copy, &empty}) {
      EXPECT_EQ(Begin(*other), 0U);
      EXPECT_EQ(begun_, BERTH_CONFLICT);
    }
    EXPECT_EQ(Begin(cycle), question + 1);
    service().end(host(), question + 1);
    service().end(host(), question);
    Begin(*in_what_if);  // It no longer exists.
    EXPECT_EQ(begun_, BERTH_CONFLICT);
  });
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

// The remaining PreFilters run after Unschedulable only, so that all slots are prepared.
TEST_F(WhatIfServiceTest, RefusesAQuestionAfterPreFiltersWereLeftOut) {
  const struct Case {
    const char* name;
    berth_code answer;
    bool names_no_node;  // PreFilter restricts the pod to an empty list of nodes.
    berth_code begun;
  } kCases[] = {
      {"no rejection", BERTH_SUCCESS, false, BERTH_SUCCESS},
      {"Unschedulable", BERTH_UNSCHEDULABLE, false, BERTH_SUCCESS},
      {"Unresolvable", BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, false, BERTH_CONFLICT},
      {"no node left", BERTH_SUCCESS, true, BERTH_CONFLICT},
  };
  const Case* now = nullptr;
  stage_.Add("puppet.B", {Point::kPreFilter}).pre_filter =
      [&](const berth_cycle&, const berth_nodes&, berth_pre_filter_out& out, berth_status*) {
        if (now->names_no_node) out.only_nodes(&out, nullptr, 0);
        return now->answer;
      };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    now = &c;
    AskInPostFilter([&](const berth_cycle& cycle) {
      const uint64_t question = Begin(cycle);
      EXPECT_EQ(begun_, c.begun);
      if (question != 0) service().end(host(), question);
    });
  }
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

// The plugin implements the status, so that add_reason may call services.
TEST_F(WhatIfServiceTest, AStatusMayEndTheQuestion) {
  struct Ending {
    berth_status abi{};
    const berth_whatif& service;
    const berth_host* host;
    uint64_t question = 0;
    std::vector<std::string> reasons;
  };
  a_->reasons = {AsStr("too many pods"), AsStr("odd"), AsStr("even")};
  AskInPostFilter([&](const berth_cycle& cycle) {
    Ending ending{.service = service(), .host = host(), .reasons = {}};
    ending.abi.struct_size = sizeof(berth_status);
    ending.abi.impl = &ending;
    ending.abi.add_reason = [](berth_status* self, berth_str text) noexcept {
      auto& to = *static_cast<Ending*>(self->impl);
      to.service.end(to.host, to.question);
      to.reasons.emplace_back(Text(text));
    };
    a_->filter = [](const berth_cycle&, const berth_block& block, berth_filter_out& out,
                    berth_status*) {
      for (uint32_t i = 0; i < block.count; ++i) {
        out.codes[i] = BERTH_UNSCHEDULABLE;
        out.reasons[i] = uint64_t{1} << (block.rows[i] % 3);
      }
      return BERTH_SUCCESS;
    };
    ending.question = Begin(cycle, {0, 1, 2}, BERTH_WHATIF_APART);
    uint8_t codes[3] = {};
    const berth_whatif_run run{sizeof run, 0, nullptr, 0, codes};
    EXPECT_EQ(service().run_filters(host(), ending.question, &run, &ending.abi), BERTH_SUCCESS);
    EXPECT_THAT(ending.reasons, ElementsAre("too many pods", "odd", "even"));
    EXPECT_EQ(Verdict(ending.question), "failed with 36: ") << "the question has ended";
  });
}

TEST_F(WhatIfServiceTest, NominatedPodsCount) {
  FakeScheduler scheduler;
  scheduler.nominations().Add(pods_[2], "n1");
  std::string verdict;
  AskInPostFilter([&](const berth_cycle& cycle) {
    stage_.services().scheduler = &scheduler;
    const uint64_t question = Begin(cycle);
    Remove(question, 0);
    verdict = Verdict(question);
    Remove(question, 1);
    EXPECT_EQ(Verdict(question), "0: ");
    service().end(host(), question);
  });
  EXPECT_EQ(verdict, "2: too many pods");
}

// The id of a question that was ended stays invalid.
TEST_F(WhatIfServiceTest, RefusesAQuestionThatWasEnded) {
  uint64_t kept = 0;
  const auto expect_none = [&](uint64_t question) {
    EXPECT_EQ(Verdict(question), "failed with 36: ");
    EXPECT_EQ(Remove(question, 0), BERTH_CONFLICT);
    EXPECT_EQ(Add(question, 2), BERTH_CONFLICT);
    service().end(host(), question);
  };
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t first = Begin(cycle);
    service().end(host(), first);
    expect_none(first);
    const uint64_t second = Begin(cycle);
    EXPECT_NE(first, second);
    expect_none(first);  // Ending `first` again does not end the second question.
    EXPECT_EQ(Verdict(second), "2: too many pods");
    expect_none(0);
    expect_none(second + 1);
    kept = second;
  });
  EXPECT_THAT(stage_.Faults(), IsEmpty());
  expect_none(kept);
  AskInPostFilter([&](const berth_cycle& cycle) {
    expect_none(kept);
    const uint64_t next = Begin(cycle);
    EXPECT_GT(next, kept);
    service().end(host(), next);
  });
}

TEST_F(WhatIfServiceTest, RefusesOtherThreads) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    const uint64_t question = Begin(cycle);
    std::thread([&] {
      EXPECT_EQ(Verdict(question), "failed with 36: ");
      EXPECT_EQ(Add(question, 2), BERTH_CONFLICT);
      service().end(host(), question);
      uint64_t other = 0;
      const uint32_t row = 1;
      EXPECT_EQ(service().begin(host(), &cycle, &row, 1, BERTH_WHATIF_APART, &other),
                BERTH_CONFLICT);
    }).join();
    EXPECT_EQ(Verdict(question), "2: too many pods");
    service().end(host(), question);
  });
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(WhatIfServiceTest, ColumnsAreOnlyBoundInPreFilter) {
  stage_.Build();
  built_ = true;
  const auto& columns = *FindService<berth_columns>(host(), BERTH_SERVICE_COLUMNS);
  uint32_t index = 0;
  const auto bind = [&](const berth_cycle& cycle) {
    const berth_column_request cpu{sizeof cpu, 0, "alloc.cpu", BERTH_TYPE_I64, 0};
    return columns.bind(host(), &cycle, &cpu, &index);
  };
  const berth_cycle* kept = nullptr;
  a_->pre_filter = [&](const berth_cycle& cycle, const berth_nodes&, berth_pre_filter_out&,
                       berth_status*) {
    SlotOf(cycle) = 1;
    kept = &cycle;
    EXPECT_EQ(bind(cycle), BERTH_SUCCESS);
    std::thread([&] { EXPECT_EQ(bind(cycle), BERTH_CONFLICT); }).join();
    return BERTH_SUCCESS;
  };
  AskInPostFilter([&](const berth_cycle& cycle) { EXPECT_EQ(bind(cycle), BERTH_CONFLICT); });
  EXPECT_EQ(bind(*kept), BERTH_CONFLICT);
}

}  // namespace
}  // namespace berth::host
