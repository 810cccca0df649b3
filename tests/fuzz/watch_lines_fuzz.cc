// Fuzzes watches of an API server: splits arbitrary bytes into lines, reads them, and applies them
// to an index.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/interner.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/watch/object_index.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "tests/fuzz/pieces.h"

namespace berth::host {
namespace {

constexpr size_t kMaxLine = 2048;

// Checks that the events are consistent with each other.
class LineReceiver {
 public:
  LineReceiver(ObjectReader& reader, std::string_view kind) : reader_(reader), kind_(kind) {}

  void Take(std::string_view text) {
    Result<WatchLine> line = reader_.ReadLine(text, kind_);
    if (!line.ok()) return;
    const bool is_object = line->type < WatchLine::Type::kBookmark;
    if (line->type == WatchLine::Type::kUnknown) BERTH_ASSERT(!line->decode_error.ok());
    if (!is_object) return;
    const bool is_deletion = line->type == WatchLine::Type::kDeleted;
    if (!line->decode_error.ok()) {
      const ObjectMark& mark = line->mark;
      if (is_deletion) Receive(index_.DeleteNamed(mark.ns, mark.name, line->resource_version));
      return;
    }
    BERTH_ASSERT(KindOf(line->object) == kind_);
    Receive(is_deletion ? index_.Delete(std::move(line->object))
                        : index_.Put(std::move(line->object)));
  }
  void Clear() {
    for (WatchEvent& event : index_.Clear()) Receive(std::move(event));
    BERTH_ASSERT(seen_.empty());
  }

 private:
  void Receive(std::optional<WatchEvent> event) {
    if (!event) return;
    // The key of the index, so that names with a slash are no finding.
    const std::string key =
        std::string(Base(event->object).ns()).append("/").append(Base(event->object).name());
    const auto at = seen_.find(key);
    BERTH_ASSERT((at == seen_.end()) == (event->type == WatchType::kAdded));
    if (at != seen_.end()) BERTH_ASSERT(at->second == event->previous);
    if (event->type == WatchType::kDeleted) {
      seen_.erase(at);
    } else {
      seen_[key] = event->object;
    }
  }

  ObjectReader& reader_;
  const std::string_view kind_;
  ObjectIndex index_;
  std::map<std::string, AnyObject> seen_;
};

std::vector<std::string> LinesOf(std::string_view text, size_t piece) {
  LineSplitter splitter(kMaxLine);
  std::vector<std::string> lines;
  const auto keep = [&lines](std::string_view line) {
    lines.emplace_back(line);
    return true;
  };
  // The lines before an error count, too.
  static_cast<void>(AppendPieces(
      text, piece, [&](std::string_view part) { return splitter.Append(part, keep); }));
  return lines;
}

void RunLines(std::string_view text) {
  static Interner interner;
  static ObjectReader reader(interner, {});
  BERTH_ASSERT(LinesOf(text, text.size() + 1) == LinesOf(text, 1 + text.size() % 7));
  for (const std::string_view kind : {kPodKind, std::string_view("v1/Service")}) {
    LineReceiver receiver(reader, kind);
    LineSplitter splitter(kMaxLine);
    static_cast<void>(splitter.Append(text, [&](std::string_view line) {
      receiver.Take(line);
      return true;
    }));
    receiver.Clear();
  }
  reader.ReleaseIds();
  interner.Sweep();
  BERTH_ASSERT_MSG(interner.size() == 1, "%zu texts", interner.size());
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::RunLines({reinterpret_cast<const char*>(data), size});
  return 0;
}
