#include "host/guard/bind_pool.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/assert.h"

namespace berth::host {

struct BindPool::Shared {
  struct Task {
    TaskId id;
    std::function<void()> run;
  };

  static void AddThread(const std::shared_ptr<Shared>& shared);
  static void Work(const std::shared_ptr<Shared>& shared, uint64_t thread);
  static void Replace(const std::shared_ptr<Shared>& shared, TaskId task);

  std::mutex mutex;  // Guards what follows.
  std::condition_variable changed;
  std::deque<Task> waiting;
  std::map<uint64_t, std::thread> threads;  // Those that were not given up.
  std::map<TaskId, uint64_t> running;       // On which of them.
  std::set<TaskId> owed;                    // Given up and running: their threads were too many.
  TaskId last_task = 0;
  uint64_t last_thread = 0;
  size_t lost = 0;
  bool stop = false;
};

// REQUIRES: the mutex is held, or nobody else knows `shared`.
void BindPool::Shared::AddThread(const std::shared_ptr<Shared>& shared) {
  const uint64_t thread = ++shared->last_thread;
  shared->threads.emplace(thread, [shared, thread] { Work(shared, thread); });
}

void BindPool::Shared::Work(const std::shared_ptr<Shared>& shared, uint64_t thread) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    shared->changed.wait(lock, [&] { return shared->stop || !shared->waiting.empty(); });
    if (shared->stop) return;
    Task task = std::move(shared->waiting.front());
    shared->waiting.pop_front();
    shared->running.emplace(task.id, thread);
    lock.unlock();
    task.run();
    task.run = nullptr;  // What it holds goes before anybody hears that it has ended.
    lock.lock();
    const bool given_up = shared->running.erase(task.id) == 0;
    if (shared->stop) shared->changed.notify_all();
    shared->owed.erase(task.id);
    if (!given_up) continue;
    --shared->lost;
    if (!shared->stop && !shared->owed.empty()) Replace(shared, *shared->owed.begin());
    return;
  }
}

// REQUIRES: the mutex is held; the task runs on a thread that was not given up.
void BindPool::Shared::Replace(const std::shared_ptr<Shared>& shared, TaskId task) {
  const auto runs = shared->running.find(task);
  const auto thread = shared->threads.find(runs->second);
  thread->second.detach();
  shared->threads.erase(thread);
  shared->running.erase(runs);
  shared->owed.erase(task);
  ++shared->lost;
  AddThread(shared);
}

BindPool::BindPool(size_t threads, std::chrono::nanoseconds patience)
    : shared_(std::make_shared<Shared>()), patience_(patience) {
  BERTH_ASSERT(threads > 0);
  for (size_t i = 0; i < threads; ++i) Shared::AddThread(shared_);
}

BindPool::~BindPool() {
  std::deque<Shared::Task> dropped;
  std::map<uint64_t, std::thread> threads;
  std::vector<uint64_t> busy;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stop = true;
    dropped.swap(shared_->waiting);
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, patience_, [this] { return shared_->running.empty(); });
    threads.swap(shared_->threads);
    for (const auto& [task, thread] : shared_->running) busy.push_back(thread);
    shared_->lost += shared_->running.size();
    shared_->running.clear();
  }
  for (auto& [id, thread] : threads) {
    std::ranges::find(busy, id) != busy.end() ? thread.detach() : thread.join();
  }
}

BindPool::TaskId BindPool::Run(std::function<void()> task) {
  const std::scoped_lock lock(shared_->mutex);
  const TaskId id = ++shared_->last_task;
  shared_->waiting.push_back({id, std::move(task)});
  shared_->changed.notify_one();
  return id;
}

void BindPool::GiveUp(TaskId task) {
  std::function<void()> dropped;  // Destroyed without the lock: who knows what it holds.
  const std::scoped_lock lock(shared_->mutex);
  const auto waits = std::ranges::find(shared_->waiting, task, &Shared::Task::id);
  if (waits != shared_->waiting.end()) {
    dropped = std::move(waits->run);
    shared_->waiting.erase(waits);
    return;
  }
  if (!shared_->running.contains(task)) return;
  if (shared_->lost == kMaxLost) {
    shared_->owed.insert(task);
  } else {
    Shared::Replace(shared_, task);
  }
}

}  // namespace berth::host
