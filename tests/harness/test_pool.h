// A task pool whose tasks the test runs.
#ifndef BERTH_TESTS_HARNESS_TEST_POOL_H_
#define BERTH_TESTS_HARNESS_TEST_POOL_H_

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "host/guard/bind_pool.h"

namespace berth::host {

// Keeps tasks until RunOne() runs them on the calling thread, and records which were abandoned. It
// keeps an abandoned task too: a thread of a BindPool may have taken the task just before
// Abandon(), and begins it afterwards. Run such a task only to test this race.
class TestPool final : public TaskPool {
 public:
  TaskId Run(std::function<void()> task) override {
    tasks.push_back(std::move(task));
    return ++last_task_;
  }
  void Abandon(TaskId task) override { abandoned.push_back(task); }

  // Removes and returns the oldest task. REQUIRES: there is one.
  std::function<void()> Take() {
    std::function<void()> task = std::move(tasks.front());
    tasks.pop_front();
    return task;
  }
  void RunOne() { Take()(); }

  std::deque<std::function<void()>> tasks;
  std::vector<TaskId> abandoned;

 private:
  TaskId last_task_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_TEST_POOL_H_
