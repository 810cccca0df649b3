// Verdicts of Filters for a class of pods, by row, that stay valid from one attempt to the next.
#ifndef BERTH_HOST_RUNTIME_REUSE_VERDICT_LAYER_H_
#define BERTH_HOST_RUNTIME_REUSE_VERDICT_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/runtime/attempt/attempt.h"
#include "host/runtime/points/filter_pass.h"
#include "host/runtime/reuse/class_key.h"

namespace berth::host {

// The verdicts of Filters that are asked together, in the order of the profile: for each row, the
// first rejection, or that all of them pass. A row of which this is not known has to be evaluated.
//
// Threading: the scheduling thread.
class VerdictLayer {
 public:
  // `plugins`: indices into Plan::plugins(), in the order of the profile. If there are none, every
  // row passes.
  VerdictLayer(std::vector<uint32_t> plugins, Reuse reuse)
      : plugins_(std::move(plugins)), reuse_(reuse) {}

  std::span<const uint32_t> plugins() const { return plugins_; }
  Reuse reuse() const { return reuse_; }

  // Adds rows that are not known. REQUIRES: at least as many as there are.
  void Grow(uint32_t rows) { by_row_.resize(rows, kUnknown); }
  void Forget(Row row) { by_row_[row] = kUnknown; }
  void ForgetAll() {
    by_row_.assign(by_row_.size(), kUnknown);
    rejections_.clear();
  }

  bool IsKnown(Row row) const { return by_row_[row] != kUnknown; }
  bool Passes(Row row) const { return by_row_[row] == kPasses; }
  bool Rejects(Row row) const { return by_row_[row] >= kFirstRejection; }
  // REQUIRES: Rejects(row).
  const RowVerdict& RejectionOf(Row row) const {
    return rejections_[by_row_[row] - kFirstRejection];
  }

  // Evaluates the rows and records their verdicts. Returns: success; an error when a plugin failed;
  // then the rows are not known.
  // `passed`: memory of the caller for the rows that pass.
  PluginStatus Evaluate(Attempt& attempt, FilterPass& pass, const Selection& rows,
                        Selection& passed);

  // The state of the plugin that the verdicts come from (berth_dependence.changed); 0: none. Used
  // if reuse() is Reuse::kToken; such a layer has one plugin.
  uint64_t token = 0;

  size_t bytes() const {
    return by_row_.capacity() * sizeof(uint32_t) + rejections_.capacity() * sizeof(RowVerdict);
  }

 private:
  static constexpr uint32_t kUnknown = 0;
  static constexpr uint32_t kPasses = 1;
  static constexpr uint32_t kFirstRejection = 2;  // Stands for rejections_[0].

  uint32_t Code(const RowVerdict& verdict);
  // Removes the rejections that no row has any more.
  void Compact();

  const std::vector<uint32_t> plugins_;
  const Reuse reuse_;
  std::vector<uint32_t> by_row_;
  // The different rejections. One may be in it several times, so that the search for an equal one
  // is short.
  std::vector<RowVerdict> rejections_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_VERDICT_LAYER_H_
