#include "host/runtime/reuse/verdict_layer.h"

#include <algorithm>
#include <utility>

namespace berth::host {
namespace {

// The number of rejections among which an equal one is searched. The plugins of a layer rarely have
// more different rejections.
constexpr size_t kSearched = 32;

bool AreEqual(const RowVerdict& a, const RowVerdict& b) {
  return a.reasons == b.reasons && a.plugin == b.plugin && a.code == b.code;
}

}  // namespace

PluginStatus VerdictLayer::Evaluate(Attempt& attempt, FilterPass& pass, const Selection& rows,
                                    Selection& passed) {
  rows.ForEachRow([this](Row row) { by_row_[row] = kUnknown; });
  passed.Clear();
  PluginStatus status = pass.RunInBlocks(plugins_, rows, {}, passed);
  if (!status.ok()) return status;
  passed.ForEachRow([this](Row row) { by_row_[row] = kPasses; });
  if (rejections_.size() > by_row_.size() + kSearched) Compact();
  if (passed.size() == rows.size()) return status;
  rows.ForEachRow([&](Row row) {
    if (by_row_[row] == kUnknown) by_row_[row] = Code(attempt.verdicts[row]);
  });
  return status;
}

void VerdictLayer::Compact() {
  const std::vector<RowVerdict> old = std::exchange(rejections_, {});
  for (uint32_t& code : by_row_) {
    if (code < kFirstRejection) continue;
    const RowVerdict& verdict = old[code - kFirstRejection];
    code = Code(verdict);
  }
}

uint32_t VerdictLayer::Code(const RowVerdict& verdict) {
  const auto end =
      rejections_.begin() + static_cast<ptrdiff_t>(std::min(rejections_.size(), kSearched));
  auto found = std::find_if(rejections_.begin(), end,
                            [&](const RowVerdict& known) { return AreEqual(known, verdict); });
  if (found == end) found = rejections_.insert(rejections_.end(), verdict);
  return kFirstRejection + static_cast<uint32_t>(found - rejections_.begin());
}

}  // namespace berth::host
