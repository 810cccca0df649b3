// Fixture of the tests of WhatIf.
#ifndef BERTH_TESTS_HARNESS_WHAT_IF_FIXTURE_H_
#define BERTH_TESTS_HARNESS_WHAT_IF_FIXTURE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/runtime/points/run_pre_filter.h"
#include "host/runtime/points/what_if.h"
#include "tests/harness/stage.h"

namespace berth::host {

inline std::string PodNamesIn(const berth_pod_list& pods) {
  std::vector<std::string> names;
  for (uint64_t i = 0; i < pods.count; ++i) {
    names.emplace_back(Text(pods.data[i]->meta->name));
  }
  std::ranges::sort(names);
  return Join(names, "+");
}

inline int64_t& PodCountOf(const berth_cycle& cycle) {
  return *static_cast<int64_t*>(cycle.slots[0]);
}

// Plugin A counts pods in its cycle state: 100 after PreFilter, one more or less for each pod that
// is added or removed. It records its calls, and rejects a row with more than `a_limit_` pods.
class WhatIfTest : public ::testing::Test {
 protected:
  WhatIfTest() {
    a_ = &stage_.Add("puppet.A", {Point::kPreFilter, Point::kFilter});
    a_->has_slot = true;
    a_->reasons = {AsStr("too many pods"), AsStr("odd")};
    a_->pre_filter = [](const berth_cycle& cycle, const berth_nodes&, berth_pre_filter_out& out,
                        berth_status*) {
      PodCountOf(cycle) = 100;
      EXPECT_EQ(out.add_reason(&out, AsStr("added")), 2);
      return BERTH_SUCCESS;
    };
    a_->add_pod = [this](const berth_cycle& cycle, const berth_pod& pod, const berth_block& block,
                         uint32_t index, berth_status* status) {
      ++PodCountOf(cycle);
      return Note("add", cycle, pod, block, index, status);
    };
    a_->remove_pod = [this](const berth_cycle& cycle, const berth_pod& pod,
                            const berth_block& block, uint32_t index, berth_status* status) {
      --PodCountOf(cycle);
      return Note("remove", cycle, pod, block, index, status);
    };
    a_->filter = [this](const berth_cycle& cycle, const berth_block& block, berth_filter_out& out,
                        berth_status*) {
      for (uint32_t i = 0; i < block.count; ++i) {
        stage_.log.push_back("filter " + PodNamesIn(block.pods[i]) + State(cycle));
        const bool fits = block.pods[i].count <= a_limit_;
        out.codes[i] = fits ? BERTH_SUCCESS : BERTH_UNSCHEDULABLE;
        out.reasons[i] = fits ? 0 : 0b101;
      }
      return BERTH_SUCCESS;
    };
    for (const char* name : {"a", "b"}) {
      pods_.push_back(stage_.objects().Pod({.name = name, .node = "n1"}));
      EXPECT_TRUE(stage_.cache().AddPod(pods_.back()).ok());
    }
    pods_.push_back(stage_.objects().Pod({.name = "c"}));
  }

  static std::string State(const berth_cycle& cycle) {
    const bool what_if = (cycle.flags & BERTH_CYCLE_WHAT_IF) != 0;
    return " state " + std::to_string(PodCountOf(cycle)) + (what_if ? " what-if" : "");
  }
  berth_code Note(const std::string& what, const berth_cycle& cycle, const berth_pod& pod,
                  const berth_block& block, uint32_t index, berth_status* status) {
    stage_.log.push_back(what + " " + std::string(Text(pod.meta->name)) + " at " +
                         std::string(Text(block.nodes[index]->meta->name)) + " with " +
                         PodNamesIn(block.pods[index]) + State(cycle));
    return Report(a_answer_, status);
  }

  // Builds the plan and begins an attempt, up to Filter.
  Attempt& Begin() {
    if (!built_) stage_.Build();
    built_ = true;
    Attempt& attempt = stage_.Begin();
    EXPECT_TRUE(RunPreFilter(attempt).status.ok());
    return attempt;
  }
  std::unique_ptr<WhatIf> BeginAtN1() { return Ask({1}); }
  // Begins an attempt and a question about these rows; row i is node "n<i>".
  std::unique_ptr<WhatIf> Ask(const std::vector<Row>& rows,
                              WhatIf::Mode mode = WhatIf::Mode::kApart) {
    return std::make_unique<WhatIf>(Begin(), rows, mode);
  }
  // Returns the verdicts of all rows, or the error: "Success | Unschedulable: too many pods".
  std::string Run(WhatIf& what_if, const Nominator* nominator = nullptr) {
    std::vector<uint32_t> all(what_if.size());
    std::iota(all.begin(), all.end(), 0U);
    return Run(what_if, all, nominator);
  }
  std::string Run(WhatIf& what_if, std::span<const uint32_t> selected,
                  const Nominator* nominator = nullptr) {
    std::vector<RowVerdict> verdicts(what_if.size(), RowVerdict{.code = kUnwrittenVerdict});
    const PluginStatus status =
        nominator != nullptr ? what_if.RunFiltersWithNominated(*nominator, selected, verdicts)
                             : what_if.RunFilters(selected, verdicts);
    if (!status.ok()) return TextOf(status);
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < verdicts.size(); ++i) texts.push_back(TextOf(what_if, i, verdicts[i]));
    return Join(texts, " | ");
  }
  std::string TextOf(const WhatIf& what_if, uint32_t i, const RowVerdict& verdict) {
    if (verdict.code == kUnwrittenVerdict) return "-";
    if (verdict.code == BERTH_ERROR) return TextOf(what_if.error(i));
    if (verdict.code == BERTH_SUCCESS) return "Success";
    const PluginCycle& cycle = stage_.attempt().cycle(verdict.plugin);
    return TextOf(
        PluginStatus{verdict.code, cycle.plugin().id, cycle.RejectionTexts(verdict.reasons)});
  }
  static std::string TextOf(const PluginStatus& status) { return host::TextOf(status); }
  const berth_pod& pod(size_t i) const { return pods_[i]->view(); }
  std::vector<std::string> Take() { return std::exchange(stage_.log, {}); }

  Stage stage_;
  Puppet* a_;
  size_t a_limit_ = 2;
  ScriptedAnswer a_answer_;
  std::vector<PodRef> pods_;  // a and b run on n1, c on no node.
  bool built_ = false;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_WHAT_IF_FIXTURE_H_
