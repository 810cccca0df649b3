// Fuzzes streams of watch events: splits arbitrary bytes into objects, decodes them, and applies
// them to an embedded cluster.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "host/api/json_splitter.h"
#include "host/base/assert.h"
#include "host/base/test_clock.h"
#include "host/base/time_units.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/process/replay/stream_event.h"

namespace berth::host {
namespace {

constexpr size_t kMaxObject = 4096;

struct Pieces {
  std::vector<JsonText> objects;
  Status status;
};

Pieces Split(std::string_view text, size_t piece) {
  JsonSplitter splitter(kMaxObject);
  Pieces pieces;
  for (size_t at = 0; at < text.size() && pieces.status.ok(); at += piece) {
    pieces.status = splitter.Append(text.substr(at, piece), [&](JsonText object) {
      pieces.objects.push_back(std::move(object));
    });
  }
  if (pieces.status.ok()) pieces.status = splitter.Finish();
  return pieces;
}

// Passes `text` to the splitter twice: in one chunk, and in chunks of 1 to 7 bytes. Asserts that
// both give the same objects and status. Returns the first result.
Pieces SplitChecked(std::string_view text) {
  Pieces whole = Split(text, text.size() + 1);
  const Pieces cut = Split(text, 1 + text.size() % 7);
  BERTH_ASSERT(whole.objects.size() == cut.objects.size());
  for (size_t i = 0; i < whole.objects.size(); ++i) {
    BERTH_ASSERT(whole.objects[i].text == cut.objects[i].text);
    BERTH_ASSERT(whole.objects[i].line == cut.objects[i].line);
    BERTH_ASSERT(whole.objects[i].text.starts_with('{') && whole.objects[i].text.ends_with('}'));
  }
  BERTH_ASSERT(whole.status == cut.status);
  return whole;
}

// Checks that every event of the watch is consistent with the earlier ones.
class Watcher final : public WatchSink {
 public:
  void OnEvents(std::span<WatchEvent> events) override {
    for (const WatchEvent& event : events) {
      if (!event.has_object()) continue;
      const std::string key = Base(event.object).Key();
      const bool is_new = event.type == WatchType::kAdded;
      BERTH_ASSERT(seen_.contains(key) != is_new);
      if (!is_new) BERTH_ASSERT(seen_[key] == Base(event.previous).resource_version());
      if (event.type == WatchType::kDeleted) {
        seen_.erase(key);
      } else {
        seen_[key] = event.resource_version();
      }
    }
  }

 private:
  std::map<std::string, std::string> seen_;
};

void Play(const std::vector<JsonText>& objects, Decoder& decoder) {
  TestClock clock;
  EmbeddedCluster cluster({.clock = clock, .max_events = 0, .serve = {}});
  Watcher watcher;
  const auto pods = cluster.StartWatch(kPodKind, watcher);
  StreamCluster stream(cluster, 2);
  for (const JsonText& text : objects) {
    const Result<StreamEvent> event = ReadStreamEvent(text, decoder);
    if (!event.ok()) {
      BERTH_ASSERT(event.status().message().find(": ") != std::string_view::npos);
      continue;
    }
    BERTH_ASSERT(event->after_ns >= 0);
    if (!event->rejection.ok()) {
      BERTH_ASSERT(event->rejection.message().find(": ") != std::string_view::npos);
      continue;
    }
    const Result<bool> changed = stream.Apply(*event);
    if (changed.ok() && *changed) {
      BERTH_ASSERT(event->object_json.starts_with('{') && event->object_json.ends_with('}'));
    }
    // Also deletes some pods in the cluster, so that their deletion is completed while
    // later events are applied.
    const PodRef* pod = std::get_if<PodRef>(&event->object);
    if (pod != nullptr && *pod != nullptr && text.line % 3 == 0) {
      static_cast<void>(cluster.Delete(kPodKind, (*pod)->ns(), (*pod)->name()));
    }
    clock.Advance(10 * kSecond);
    cluster.FinishDueDeletions();
    cluster.Deliver();
  }
}

void Run(std::string_view text) {
  static Interner interner;
  static Decoder decoder(interner);
  Play(SplitChecked(text).objects, decoder);
  decoder.ReleaseIds();
  interner.Sweep();
  // Only the empty string is left: every object has released its ids.
  BERTH_ASSERT_MSG(interner.size() == 1, "%zu texts", interner.size());
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
