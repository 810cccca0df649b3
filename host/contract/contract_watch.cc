#include "host/contract/contract_watch.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

#include <berth/testing/call.h>

#include "host/guard/call_monitor.h"
#include "host/guard/point.h"

namespace berth::host {
namespace {

std::string Seconds(int64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(ns) / 1e9);
  return text.data();
}

}  // namespace

ContractWatch::Limit ContractWatch::LimitOf(std::string_view function) {
  constexpr CallDeadlines kDeadlines;
  const testing::CallScope* call = testing::CallScope::current();
  const testing::Word word = call == nullptr ? testing::kCycle : call->word();
  if (word == testing::kLoad) return {kLoadLimitNs, "check"};
  if (word == testing::kBindOnPool) return {kDeadlines.bind_ns, "host"};
  const bool post_filter = function == NameOf(Point::kPostFilter);
  return {kDeadlines.of(post_filter ? Point::kPostFilter : Point::kFilter), "host"};
}

std::string ContractWatch::Waits(const Limit& limit) {
  return std::string("; the ") + limit.whose + " waits for " + Seconds(limit.ns);
}

ContractWatch::ContractWatch(std::function<int64_t()> steady_ns, Late late)
    : steady_ns_(std::move(steady_ns)), late_(std::move(late)), watcher_([this] { Watch(); }) {}

ContractWatch::~ContractWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

void ContractWatch::OnBegin(const char* function) {
  const std::lock_guard lock(mutex_);
  calls_[std::this_thread::get_id()].push_back({function, steady_ns_(), LimitOf(function)});
}

void ContractWatch::OnEnd(const char* function) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    const auto mine = calls_.find(std::this_thread::get_id());
    const Call call = mine->second.back();
    const int64_t took_ns = steady_ns_() - call.began_ns;
    mine->second.pop_back();
    if (mine->second.empty()) calls_.erase(mine);
    if (took_ns < call.limit.ns || std::exchange(told_, true)) return;
    text = std::string(function) + " took " + Seconds(took_ns) + Waits(call.limit);
  }
  late_(text);
}

void ContractWatch::Watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return ends_; })) {
    const std::string text = FindHanging();
    if (text.empty() || std::exchange(told_, true)) continue;
    lock.unlock();
    late_(text);
    lock.lock();
  }
}

std::string ContractWatch::FindHanging() const {
  const int64_t now_ns = steady_ns_();
  for (const auto& [thread, calls] : calls_) {
    const Call& call = calls.back();
    const int64_t since_ns = now_ns - call.began_ns;
    if (since_ns < call.limit.ns + kPatienceNs) continue;
    return std::string(call.function) + " has not returned after " + Seconds(since_ns) +
           Waits(call.limit);
  }
  return "";
}

}  // namespace berth::host
