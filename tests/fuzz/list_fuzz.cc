// Fuzzes lists of an API server: splits arbitrary bytes into items and reads them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/list_splitter.h"
#include "host/base/assert.h"
#include "host/base/interner.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "tests/fuzz/pieces.h"

namespace berth::host {
namespace {

constexpr ListSplitter::Limits kLimits = {
    .item_bytes = 2048, .rest_bytes = 512, .total_bytes = 8192};

struct SplitResult {
  std::vector<std::string> items;
  std::string rest;
  Status status;
};

// Appends the text in pieces.
SplitResult SplitPieces(std::string_view text, size_t piece, ObjectReader* reader) {
  ListSplitter splitter(kLimits);
  SplitResult result;
  const auto sink = [&](std::string_view item) {
    result.items.emplace_back(item);
    if (reader == nullptr) return Status();
    const std::string_view kind = result.items.size() % 2 == 0 ? kPodKind : "v1/Service";
    if (!reader->ReadItem(item, kind).ok()) static_cast<void>(reader->ReadMark(item));
    return Status();
  };
  result.status =
      AppendPieces(text, piece, [&](std::string_view part) { return splitter.Append(part, sink); });
  if (!result.status.ok()) return result;
  Result<std::string> rest = splitter.Finish();
  if (rest.ok()) {
    result.rest = *rest;
  } else {
    result.status = rest.status();
  }
  return result;
}

void RunList(std::string_view text) {
  static Interner interner;
  static ObjectReader reader(interner, {});
  const SplitResult whole = SplitPieces(text, text.size() + 1, &reader);
  const SplitResult cut = SplitPieces(text, 1 + text.size() % 7, nullptr);
  // The whole size is checked before the items of a piece are passed on.
  if (text.size() <= kLimits.total_bytes) {
    BERTH_ASSERT(whole.items == cut.items);
    BERTH_ASSERT(whole.rest == cut.rest);
    BERTH_ASSERT(whole.status.code() == cut.status.code());
  }
  for (const std::string& item : whole.items) {
    BERTH_ASSERT(item.starts_with('{') && item.ends_with('}'));
    BERTH_ASSERT(item.size() <= kLimits.item_bytes);
  }
  BERTH_ASSERT(whole.rest.size() <= kLimits.rest_bytes);
  if (whole.status.ok()) static_cast<void>(ObjectReader::ReadListMeta(whole.rest));
  reader.ReleaseIds();
  interner.Sweep();
  BERTH_ASSERT_MSG(interner.size() == 1, "%zu texts", interner.size());
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::RunList({reinterpret_cast<const char*>(data), size});
  return 0;
}
