#include "host/cli/call_watch.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <utility>

namespace berth::host {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
// A call that is so much too late is not waited for any more.
constexpr int64_t kPatienceNs = 2 * kSecond;

// What the scheduling thread does not wait for, or longer than for the others.
constexpr auto kSlow = std::to_array<std::string_view>(
    {"PostFilter", "PreBind", "Bind", "create", "destroy", "quiesce", "init", "deinit"});

int64_t LimitNs(std::string_view function) {
  return std::ranges::find(kSlow, function) != kSlow.end() ? 10 * kSecond : kSecond;
}

std::string Seconds(int64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s",
                static_cast<double>(ns) / static_cast<double>(kSecond));
  return text.data();
}

std::string Waits(std::string_view function) {
  return "; the host waits for " + Seconds(LimitNs(function));
}

}  // namespace

CallWatch::CallWatch(std::function<int64_t()> steady_ns, Late late)
    : steady_ns_(std::move(steady_ns)), late_(std::move(late)), watcher_([this] { Watch(); }) {}

CallWatch::~CallWatch() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  watcher_.join();
}

void CallWatch::OnBegin(const char* function) {
  const std::lock_guard lock(mutex_);
  calls_[std::this_thread::get_id()].push_back({function, steady_ns_()});
}

void CallWatch::OnEnd(const char* function) {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    const auto mine = calls_.find(std::this_thread::get_id());
    const int64_t took_ns = steady_ns_() - mine->second.back().began_ns;
    mine->second.pop_back();
    if (mine->second.empty()) calls_.erase(mine);
    if (took_ns <= LimitNs(function) || std::exchange(told_, true)) return;
    text = std::string(function) + " took " + Seconds(took_ns) + Waits(function);
  }
  late_(text);
}

void CallWatch::Watch() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(50), [this] { return ends_; })) {
    const std::string text = FindHanging();
    if (text.empty() || std::exchange(told_, true)) continue;
    lock.unlock();
    late_(text);
    lock.lock();
  }
}

std::string CallWatch::FindHanging() const {
  const int64_t now_ns = steady_ns_();
  for (const auto& [thread, calls] : calls_) {
    const Call& call = calls.back();
    const int64_t since_ns = now_ns - call.began_ns;
    if (since_ns <= LimitNs(call.function) + kPatienceNs) continue;
    return std::string(call.function) + " has not returned after " + Seconds(since_ns) +
           Waits(call.function);
  }
  return "";
}

}  // namespace berth::host
