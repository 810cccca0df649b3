#include "host/cluster/kubernetes/watch/refresh_waiters.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/cluster/kubernetes/http/query_text.h"
#include "host/cluster/kubernetes/watch/object_index.h"
#include "host/cluster/kubernetes/watch/object_reader.h"

namespace berth::host {
namespace {

// Returns whether `version` is at least `wanted`. Versions that are no numbers are only equal or
// not.
bool HasReached(std::string_view version, std::string_view wanted) {
  const std::optional<bool> is_older = IsOlder(version, wanted);
  return is_older ? !*is_older : version == wanted;
}

}  // namespace

struct RefreshWaiters::Waiter {
  Waiter(Executor& executor, uint64_t number) : id(number), timer(executor) {}

  const uint64_t id;
  int64_t patience_ns = 0;
  std::function<void()> done;
  std::string version;  // Empty until the server has answered.
  OwnedTimer timer;     // For the next question, and then for the patience.
};

RefreshWaiters::RefreshWaiters(Transport& transport, Executor& executor, Owner& owner,
                               Options options)
    : transport_(transport),
      executor_(executor),
      owner_(owner),
      options_(std::move(options)),
      delay_(options_.delay, options_.seed) {}

RefreshWaiters::~RefreshWaiters() { *alive_ = false; }

void RefreshWaiters::SetPath(std::string path) {
  path_ = std::move(path);
  if (path_.empty()) return;
  for (const auto& waiter : waiters_) {
    if (waiter->version.empty()) Ask(*waiter);
  }
}

void RefreshWaiters::Add(int64_t patience_ns, std::function<void()> done) {
  auto& waiter = waiters_.emplace_back(std::make_unique<Waiter>(executor_, ++last_));
  waiter->patience_ns = patience_ns;
  waiter->done = std::move(done);
  if (!path_.empty()) Ask(*waiter);
}

void RefreshWaiters::Ask(const Waiter& waiter) {
  HttpRequest request;
  request.verb = "GET";
  request.target = WithQuery(path_, {{"limit", "1"}});
  request.timeout_ns = options_.timeout_ns;
  transport_.Send(std::move(request),
                  [this, alive = alive_, id = waiter.id](const HttpResponse& response) {
                    if (*alive) OnAnswer(id, response);
                  });
}

void RefreshWaiters::OnAnswer(uint64_t id, const HttpResponse& response) {
  Waiter* const waiter = Find(id);
  if (waiter == nullptr || path_.empty() || !waiter->version.empty()) return;
  waiter->version = VersionOf(response);
  if (waiter->version.empty()) {
    const int64_t delay_ns = delay_.NextNs(executor_.NowNs(), response.head.retry_after_ns);
    waiter->timer.StartAfter(delay_ns, [this, id] {
      const Waiter* const later = Find(id);
      if (later != nullptr && !path_.empty()) Ask(*later);
    });
    return;
  }
  waiter->timer.StartAfter(waiter->patience_ns, [this, id] { OnTimer(id); });
  owner_.OnVersionKnown();
}

std::string RefreshWaiters::VersionOf(const HttpResponse& response) const {
  if (!response.is_success()) return {};
  ListSplitter splitter(options_.list_limits);
  const auto ignore = [](std::string_view) { return Status(); };
  if (!splitter.Append(response.body, ignore).ok()) return {};
  const Result<std::string> rest = splitter.Finish();
  if (!rest.ok()) return {};
  Result<ObjectReader::ListMeta> meta = ObjectReader::ReadListMeta(*rest);
  return meta.ok() ? std::move(meta->resource_version) : std::string();
}

void RefreshWaiters::OnTimer(uint64_t id) {
  Waiter* const waiter = Find(id);
  if (waiter == nullptr) return;
  // The next list may fail or be too old as well.
  waiter->timer.StartAfter(waiter->patience_ns, [this, id] { OnTimer(id); });
  owner_.OnImpatient();
}

void RefreshWaiters::OnReached(std::string_view version) {
  std::vector<std::function<void()>> done;
  std::erase_if(waiters_, [&](const std::unique_ptr<Waiter>& waiter) {
    if (waiter->version.empty() || !HasReached(version, waiter->version)) return false;
    done.push_back(std::move(waiter->done));
    return true;
  });
  for (const auto& call : done) call();
}

void RefreshWaiters::ReleaseAll() {
  std::vector<std::unique_ptr<Waiter>> released = std::move(waiters_);
  waiters_.clear();
  for (const auto& waiter : released) waiter->done();
}

RefreshWaiters::Waiter* RefreshWaiters::Find(uint64_t id) {
  const auto at = std::ranges::find(waiters_, id, [](const auto& waiter) { return waiter->id; });
  return at == waiters_.end() ? nullptr : at->get();
}

std::string RefreshWaiters::NewestOf(std::string_view version) const {
  std::string newest(version);
  for (const auto& waiter : waiters_) {
    if (newest.empty() || IsOlder(newest, waiter->version).value_or(false)) {
      newest = waiter->version;
    }
  }
  return newest;
}

}  // namespace berth::host
