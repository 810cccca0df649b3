// The service berth.whatif/1, called from PostFilter.
#include "host/runtime/service_whatif.h"

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/base/status_sink.h"
#include "host/runtime/run_filter.h"
#include "host/runtime/run_post_filter.h"
#include "host/runtime/run_pre_filter.h"
#include "host/runtime/test_services.h"
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
    const void* service = nullptr;
    EXPECT_EQ(host()->get_service(host(), BERTH_SERVICE_WHATIF, &service), BERTH_SUCCESS);
    return *static_cast<const berth_whatif*>(service);
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
    ASSERT_TRUE(RunPreFilter(attempt).ok());
    RunPostFilter(attempt);
  }
  // Returns code and reasons: "2: too many pods".
  std::string Verdict(berth_whatif_row* at) const {
    StatusSink sink;
    const berth_code code = service().run_filters(at, sink.raw());
    return std::to_string(code) + ": " + sink.JoinReasons();
  }

  Stage stage_;
  Puppet* a_;
  std::vector<PodRef> pods_;
  bool built_ = false;
};

TEST_F(WhatIfServiceTest, ReportsTheVerdictOfTheChangedRow) {
  std::vector<std::string> verdicts;
  AskInPostFilter([&](const berth_cycle& cycle) {
    berth_whatif_row* at = nullptr;
    ASSERT_EQ(service().begin(host(), &cycle, row(), &at), BERTH_SUCCESS);
    verdicts.push_back(Verdict(at));
    EXPECT_EQ(service().remove_pod(at, &pod(0), nullptr), BERTH_SUCCESS);
    verdicts.push_back(Verdict(at));
    EXPECT_EQ(service().add_pod(at, &pod(2), nullptr), BERTH_SUCCESS);
    verdicts.push_back(Verdict(at));
    EXPECT_EQ(service().run_filters(at, nullptr), BERTH_UNSCHEDULABLE);
    service().end(at);
  });
  EXPECT_THAT(verdicts, ElementsAre("2: too many pods", "0: ", "2: too many pods"));
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(WhatIfServiceTest, SeveralRowsMayBeOpen) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    const int64_t before = Stage::slots();
    berth_whatif_row* first = nullptr;
    berth_whatif_row* second = nullptr;
    service().begin(host(), &cycle, row(), &first);
    service().begin(host(), &cycle, row(), &second);
    EXPECT_EQ(Stage::slots(), before + 2);
    service().remove_pod(first, &pod(0), nullptr);
    EXPECT_EQ(Verdict(first), "0: ");
    EXPECT_EQ(Verdict(second), "2: too many pods");
    service().end(first);
    EXPECT_EQ(Verdict(second), "2: too many pods");
    service().end(second);
    EXPECT_EQ(Stage::slots(), before);
  });
}

TEST_F(WhatIfServiceTest, ReportsErrors) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    berth_whatif_row* at = nullptr;
    service().begin(host(), &cycle, row(), &at);
    StatusSink sink;
    EXPECT_EQ(service().remove_pod(at, &pod(2), sink.raw()), BERTH_ERROR);
    EXPECT_FALSE(sink.reasons().empty());
    service().end(at);
    SlotOf(cycle) = -1;  // Cloning fails.
    EXPECT_EQ(service().begin(host(), &cycle, row(), &at), BERTH_ERROR);
  });
}

TEST_F(WhatIfServiceTest, ARowWithoutANodeIsNotFound) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    berth_whatif_row* at = nullptr;
    EXPECT_EQ(service().begin(host(), &cycle, stage_.table().row_count(), &at), BERTH_NOT_FOUND);
    EXPECT_EQ(service().begin(host(), &cycle, UINT32_MAX, &at), BERTH_NOT_FOUND);
    const Row gone = stage_.table().FindNode("n2");
    stage_.cache().RemoveNode("n2");
    EXPECT_EQ(service().begin(host(), &cycle, gone, &at), BERTH_NOT_FOUND);
  });
}

TEST_F(WhatIfServiceTest, EndsAndCountsRowsThatThePluginLeftOpen) {
  int64_t before = -1;
  AskInPostFilter([&](const berth_cycle& cycle) {
    before = Stage::slots();
    for (int i = 0; i < 2; ++i) {
      berth_whatif_row* at = nullptr;
      service().begin(host(), &cycle, row(), &at);
    }
  });
  EXPECT_EQ(Stage::slots(), before);
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.A PostFilter slot leak"));
}

TEST_F(WhatIfServiceTest, IsOnlyAvailableInPostFilter) {
  std::vector<berth_code> codes;
  const auto ask = [&](const berth_cycle& cycle) {
    berth_whatif_row* at = nullptr;
    codes.push_back(service().begin(host(), &cycle, row(), &at));
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
  a_->post_filter = [&](const berth_cycle& cycle, const berth_nodes&, const berth_verdicts&,
                        berth_post_filter_out&, berth_status*) {
    berth_whatif_row* at = nullptr;
    EXPECT_EQ(service().begin(host(), &cycle, row(), &at), BERTH_SUCCESS);
    EXPECT_EQ(service().run_filters(at, nullptr),
              BERTH_SUCCESS);  // Filter of this plugin calls the service too, which fails.
    service().end(at);
    return BERTH_UNSCHEDULABLE;
  };
  Run();
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
    berth_whatif_row* at = nullptr;
    EXPECT_EQ(service().begin(host(), other, row(), &at), BERTH_CONFLICT);
  });
}

TEST_F(WhatIfServiceTest, NominatedPodsCount) {
  FakeScheduler scheduler;
  scheduler.nominations().Add(pods_[2], "n1");
  std::string verdict;
  AskInPostFilter([&](const berth_cycle& cycle) {
    stage_.HostOf("puppet.A").services().scheduler = &scheduler;
    berth_whatif_row* at = nullptr;
    service().begin(host(), &cycle, row(), &at);
    service().remove_pod(at, &pod(0), nullptr);
    verdict = Verdict(at);
    service().remove_pod(at, &pod(1), nullptr);
    EXPECT_EQ(Verdict(at), "0: ");
    service().end(at);
  });
  EXPECT_EQ(verdict, "2: too many pods");
}

// A handle of a row that was ended stays invalid.
TEST_F(WhatIfServiceTest, RefusesARowThatWasEnded) {
  berth_whatif_row* kept = nullptr;
  const auto expect_none = [&](berth_whatif_row* at) {
    EXPECT_EQ(service().run_filters(at, nullptr), BERTH_CONFLICT);
    EXPECT_EQ(service().remove_pod(at, &pod(0), nullptr), BERTH_CONFLICT);
    EXPECT_EQ(service().add_pod(at, &pod(2), nullptr), BERTH_CONFLICT);
    service().end(at);
  };
  AskInPostFilter([&](const berth_cycle& cycle) {
    berth_whatif_row* first = nullptr;
    ASSERT_EQ(service().begin(host(), &cycle, row(), &first), BERTH_SUCCESS);
    service().end(first);
    expect_none(first);
    berth_whatif_row* second = nullptr;
    ASSERT_EQ(service().begin(host(), &cycle, row(), &second), BERTH_SUCCESS);
    EXPECT_NE(first, second);
    expect_none(first);  // Ending `first` again does not end the second row.
    EXPECT_EQ(Verdict(second), "2: too many pods");
    expect_none(nullptr);
    kept = second;
  });
  EXPECT_THAT(stage_.Faults(), ElementsAre("puppet.A PostFilter slot leak"));
  expect_none(kept);
  AskInPostFilter([&](const berth_cycle&) { expect_none(kept); });
  stage_.DestroyPlan();
}

TEST_F(WhatIfServiceTest, RefusesARowOfAnEarlierPostFilter) {
  AskInPostFilter([&](const berth_cycle& cycle) {
    berth_whatif_row* at = nullptr;
    ASSERT_EQ(service().begin(host(), &cycle, row(), &at), BERTH_SUCCESS);
    std::thread([&] {
      EXPECT_EQ(service().run_filters(at, nullptr), BERTH_CONFLICT);
      EXPECT_EQ(service().add_pod(at, &pod(2), nullptr), BERTH_CONFLICT);
      service().end(at);
      berth_whatif_row* other = nullptr;
      EXPECT_EQ(service().begin(host(), &cycle, row(), &other), BERTH_CONFLICT);
    }).join();
    EXPECT_EQ(Verdict(at), "2: too many pods");
    service().end(at);
  });
  EXPECT_THAT(stage_.Faults(), IsEmpty());
}

TEST_F(WhatIfServiceTest, ColumnsAreOnlyBoundInPreFilter) {
  const auto& columns = *[&] {
    stage_.Build();
    built_ = true;
    const void* found = nullptr;
    EXPECT_EQ(host()->get_service(host(), BERTH_SERVICE_COLUMNS, &found), BERTH_SUCCESS);
    return static_cast<const berth_columns*>(found);
  }();
  uint32_t index = 0;
  const auto bind = [&](const berth_cycle& cycle) {
    return columns.bind(host(), &cycle, AsStr("alloc.cpu"), &index);
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
