// Checks AddPod and RemovePod: Filter returns the same for a row with a pod that was added by
// AddPod as for a row on which the pod runs. This also holds for several rows that change together.
#ifndef BERTH_TESTING_CHECK_WHAT_IF_H_
#define BERTH_TESTING_CHECK_WHAT_IF_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/attempt.h>
#include <berth/testing/cycle.h>
#include <berth/testing/evaluate.h>
#include <berth/testing/pod_spec.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

class WhatIfChecker {
 public:
  WhatIfChecker(const Prober& prober, const Table& table, const PodHandle& pod,
                std::span<const PodSpec> others);

  void Run();

 private:
  std::vector<PodSpec> Guests(const std::string& node) const;

  void CheckWith(uint32_t row, const PodHandle& guest);

  void CheckWithout(uint32_t row, size_t pod);

  // Changes the pods of several rows on one clone, and compares all of these rows.
  void CheckTogether();

  struct Change {
    uint32_t row;
    const PodHandle& pod;
    const Table& then;
    const Table& now;
    bool add;
  };

  // Applies the change to a clone, compares the result with a cluster that has the change, and
  // reverts it.
  void Compare(const Change& what);

  // Checks that changes of a clone do not affect the original.
  void ExpectOriginalsUnchanged(const std::string& how);

  bool Apply(Cycle& clone, const Change& what, const Table& table, bool add);

  bool Expect(Cycle& clone, const Change& what, const Table& table, const RowAnswer& want,
              const std::string& how);

  // Returns the results for `rows` of `table`. A whole Filter is called for all rows that PreFilter
  // allows, because its results may depend on the others.
  static BlockAnswer AnswersOn(Cycle& clone, const Table& table, const std::vector<uint32_t>& rows,
                               const std::string& where);

  const Prober& prober_;
  const Table& table_;
  const PodHandle& pod_;
  const std::span<const PodSpec> others_;
  const Attempt base_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_WHAT_IF_H_
