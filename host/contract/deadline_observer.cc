#include "host/contract/deadline_observer.h"

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

DeadlineObserver::Deadline DeadlineObserver::DeadlineOf(std::string_view function) const {
  constexpr CallDeadlines kDeadlines;
  const testing::CallScope* call = testing::CallScope::current();
  const testing::Word word = call == nullptr ? testing::kCycle : call->word();
  if (word == testing::kLoad) return {kLoadDeadlineNs, "check"};
  if (deadline_ns_ != 0) return {deadline_ns_, "plugin"};
  if (word == testing::kBindOnPool) return {kDeadlines.bind_ns, "host"};
  const bool post_filter = function == NameOf(Point::kPostFilter);
  return {kDeadlines.of(post_filter ? Point::kPostFilter : Point::kFilter), "host"};
}

std::string DeadlineObserver::Suffix(const Deadline& deadline) {
  return std::string("; the deadline of the ") + deadline.owner + " is " + Seconds(deadline.ns);
}

DeadlineObserver::DeadlineObserver(std::function<int64_t()> steady_ns, int64_t deadline_ns,
                                   Late late)
    : steady_ns_(std::move(steady_ns)),
      deadline_ns_(deadline_ns),
      late_(std::move(late)),
      watcher_([this] { Watch(); }) {}

DeadlineObserver::~DeadlineObserver() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

void DeadlineObserver::OnBegin(const char* function) {
  const std::lock_guard lock(mutex_);
  calls_[std::this_thread::get_id()].push_back({function, steady_ns_(), DeadlineOf(function)});
}

void DeadlineObserver::OnEnd(const char* function) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    const auto mine = calls_.find(std::this_thread::get_id());
    const Call call = mine->second.back();
    const int64_t took_ns = steady_ns_() - call.began_ns;
    mine->second.pop_back();
    if (mine->second.empty()) calls_.erase(mine);
    if (took_ns < call.deadline.ns || std::exchange(reported_, true)) return;
    text = std::string(function) + " took " + Seconds(took_ns) + Suffix(call.deadline);
  }
  late_(text);
}

void DeadlineObserver::Watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return ending_; })) {
    const std::string text = FindHangingCall();
    if (text.empty() || std::exchange(reported_, true)) continue;
    lock.unlock();
    late_(text);
    lock.lock();
  }
}

std::string DeadlineObserver::FindHangingCall() const {
  const int64_t now_ns = steady_ns_();
  for (const auto& [thread, calls] : calls_) {
    const Call& call = calls.back();
    const int64_t since_ns = now_ns - call.began_ns;
    if (since_ns < call.deadline.ns + kHangingAfterNs) continue;
    return std::string(call.function) + " has not returned after " + Seconds(since_ns) +
           Suffix(call.deadline);
  }
  return "";
}

}  // namespace berth::host
