// A what-if question of the fake host.
#ifndef BERTH_TESTING_WHAT_IF_H_
#define BERTH_TESTING_WHAT_IF_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/cycle.h>
#include <berth/testing/scheduling_services.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

// Copies of nodes, apart or together, with clones of the plugin's cycle state. Filter, AddPod and
// RemovePod are those of the plugin under test.
class WhatIfRows {
 public:
  // `rows`: indices into the cycle's table.
  WhatIfRows(const Cycle& cycle, std::span<const uint32_t> rows, uint32_t mode);

  uint32_t size() const { return static_cast<uint32_t>(places_.size()); }
  bool is_apart() const { return mode_ == BERTH_WHATIF_APART; }
  const Cycle& cycle() const { return cycle_; }
  // The pods on row `i` now.
  const std::vector<PodHandle>& PodsOf(uint32_t i) const;

  Answer AddPod(uint32_t i, const PodHandle& pod);
  // Returns NOT_FOUND, and changes nothing, if the pod is not on the row.
  Answer RemovePod(uint32_t i, const berth_pod* pod);
  // Returns the verdict of each selected row, with its nominated pods of equal or higher priority
  // added, too.
  std::vector<Answer> RunFilters(std::span<const uint32_t> selected,
                                 std::span<const SchedulingServices::Nomination> nominations) const;

 private:
  // A cluster of one row, or of all rows.
  struct State {
    Table table;
    std::unique_ptr<Cycle> cycle;  // NULL: a clone failed.
    Answer broken;                 // Not Success: AddPod or RemovePod failed.
  };
  struct Place {
    uint32_t state;
    uint32_t row;  // Into the state's table.
  };

  State MakeState(const Cycle& from, Table table) const;
  State CopyState(const State& from) const;
  Answer Change(State& state, uint32_t row, const PodHandle& pod, bool add) const;
  std::vector<Answer> Run(State& state, std::span<const uint32_t> rows) const;
  // Returns whether a pod that is nominated to a row takes its place before the cycle's pod.
  bool Counts(const PodHandle& nominated) const;
  // Returns the verdict of selected[k] with the pods that are nominated to it; Success if there are
  // none.
  Answer RunWithNominated(std::span<const uint32_t> selected, size_t k,
                          std::span<const SchedulingServices::Nomination> nominations) const;

  const Cycle& cycle_;
  const uint32_t mode_;
  std::vector<Place> places_;
  mutable std::vector<State> states_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_WHAT_IF_H_
