#include "tests/harness/api_server/object_history.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

uint64_t RevisionOf(std::string_view version) {
  uint64_t revision = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), revision);
  BERTH_ASSERT(error == std::errc() && end == version.data() + version.size());
  return revision;
}

}  // namespace

ObjectHistory::ObjectHistory(ObjectSource& source, const Clock& clock, const std::string& kind,
                             size_t window, Compose compose)
    : clock_(clock), window_(window), compose_(std::move(compose)) {
  watch_ = source.StartWatch(kind, *this);
}

ObjectHistory::~ObjectHistory() = default;

void ObjectHistory::OnEvents(std::span<WatchEvent> events) {
  for (const WatchEvent& event : events) {
    if (event.has_object()) {
      Apply(event);
    } else {
      is_served_ = event.type == WatchType::kSynced;
    }
  }
}

void ObjectHistory::Apply(const WatchEvent& event) {
  const ObjectBase& object = Base(event.object);
  Change change{.revision = RevisionOf(object.resource_version()),
                .time_ns = clock_.NowNs(),
                .type = event.type,
                .key = object.Key(),
                .text = std::make_shared<const std::string>(compose_(event.object)),
                .before = nullptr};
  Text& stored = now_[change.key];
  change.before = stored;
  if (event.type == WatchType::kDeleted) {
    now_.erase(change.key);
  } else {
    stored = change.text;
  }
  changes_.push_back(std::move(change));
  while (changes_.size() > window_) DropFirst();
}

void ObjectHistory::DropFirst() {
  lost_ = changes_.front().revision;
  changes_.pop_front();
}

size_t ObjectHistory::FirstAfter(uint64_t revision) const {
  const auto at = std::ranges::upper_bound(changes_, revision, {}, &Change::revision);
  return static_cast<size_t>(at - changes_.begin());
}

ObjectHistory::State ObjectHistory::At(uint64_t revision) const {
  BERTH_ASSERT(revision >= oldest());
  State state = now_;
  for (auto at = changes_.rbegin(); at != changes_.rend() && at->revision > revision; ++at) {
    if (at->before != nullptr) {
      state[at->key] = at->before;
    } else {
      state.erase(at->key);
    }
  }
  return state;
}

uint64_t ObjectHistory::oldest() const { return std::max(lost_, compacted_); }

void ObjectHistory::Compact(uint64_t revision) {
  compacted_ = std::max(compacted_, revision);
  while (!changes_.empty() && changes_.front().revision <= revision) DropFirst();
}

}  // namespace berth::host
