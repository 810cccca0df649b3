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
  std::map<uint64_t, std::thread> threads;  // The threads that were not abandoned.
  std::map<TaskId, uint64_t> running;       // The thread of each task.
  std::set<TaskId> unreplaced;              // Abandoned, but kMaxAbandoned was reached.
  TaskId last_task = 0;
  uint64_t last_thread = 0;
  size_t abandoned = 0;
  bool stop = false;
};

// REQUIRES: the mutex is held, or no other thread uses `shared`.
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
    task.run = nullptr;  // Release what the task holds before it counts as ended.
    lock.lock();
    const bool was_abandoned = shared->running.erase(task.id) == 0;
    if (shared->stop) shared->changed.notify_all();
    shared->unreplaced.erase(task.id);
    if (!was_abandoned) continue;
    --shared->abandoned;
    if (!shared->stop && !shared->unreplaced.empty()) Replace(shared, *shared->unreplaced.begin());
    return;
  }
}

// REQUIRES: the mutex is held; the task runs on a thread that was not abandoned.
void BindPool::Shared::Replace(const std::shared_ptr<Shared>& shared, TaskId task) {
  const auto runs = shared->running.find(task);
  const auto thread = shared->threads.find(runs->second);
  thread->second.detach();
  shared->threads.erase(thread);
  shared->running.erase(runs);
  shared->unreplaced.erase(task);
  ++shared->abandoned;
  AddThread(shared);
}

BindPool::BindPool(size_t threads, std::chrono::nanoseconds shutdown_timeout)
    : shared_(std::make_shared<Shared>()), shutdown_timeout_(shutdown_timeout) {
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
    shared_->changed.wait_for(lock, shutdown_timeout_, [this] { return shared_->running.empty(); });
    threads.swap(shared_->threads);
    for (const auto& [task, thread] : shared_->running) busy.push_back(thread);
    shared_->abandoned += shared_->running.size();
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

void BindPool::Abandon(TaskId task) {
  // Destroyed after the lock is released: what it holds may take locks.
  std::function<void()> dropped;
  const std::scoped_lock lock(shared_->mutex);
  const auto waits = std::ranges::find(shared_->waiting, task, &Shared::Task::id);
  if (waits != shared_->waiting.end()) {
    dropped = std::move(waits->run);
    shared_->waiting.erase(waits);
    return;
  }
  if (!shared_->running.contains(task)) return;
  if (shared_->abandoned == kMaxAbandoned) {
    shared_->unreplaced.insert(task);
  } else {
    Shared::Replace(shared_, task);
  }
}

}  // namespace berth::host
