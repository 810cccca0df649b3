#include "host/http/io_thread.h"

#include <pthread.h>

#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "host/base/assert.h"
#include "host/base/wake_pacer.h"

namespace berth::host {

namespace asio = boost::asio;

class IoThread::Impl {
 public:
  Impl(const std::string& name, std::function<int64_t()> steady_ns,
       std::function<int64_t()> gather_ns)
      : steady_ns_(std::move(steady_ns)),
        gather_ns_(std::move(gather_ns)),
        work_(context_.get_executor()),
        wake_(context_),
        thread_([this, name] {
          ::pthread_setname_np(::pthread_self(), name.c_str());
          Run();
        }) {}

  void Post(Task task) {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return;  // Destroys the task.
    tasks_.push_back(std::move(task));
    if (tasks_.size() == 1) asio::post(context_, [this] { RunTasks(); });
  }

  TimerId StartTimer(int64_t at_ns, Task task) {
    BERTH_ASSERT(IsCurrent());
    const TimerId id = ++last_timer_;
    timers_.emplace(TimerKey(at_ns, id), std::move(task));
    times_.emplace(id, at_ns);
    if (timers_.begin()->first.second == id) Arm();
    return id;
  }

  bool CancelTimer(TimerId timer) {
    BERTH_ASSERT(IsCurrent());
    const auto found = times_.find(timer);
    if (found == times_.end()) return false;
    // The timer of the context may stay armed: RunTimers() then finds nothing that is due.
    timers_.erase(TimerKey(found->second, timer));
    times_.erase(found);
    return true;
  }

  int64_t NowNs() const { return steady_ns_(); }
  bool IsCurrent() { return context_.get_executor().running_in_this_thread(); }

  void Stop() {
    BERTH_ASSERT(!IsCurrent());
    std::deque<Task> unused;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(is_stopped_, true)) return;
      unused.swap(tasks_);
    }
    context_.stop();
    thread_.join();
    // The destructors of tasks may post others, which are destroyed at once.
    unused.clear();
    batch_.clear();
    times_.clear();
    std::map<TimerKey, Task>().swap(timers_);
  }

  asio::io_context& context() { return context_; }

 private:
  using TimerKey = std::pair<int64_t, TimerId>;  // The time, and the order of the calls.

  // Runs what is ready, pauses if there is much of it, and waits, until the context is stopped.
  void Run() {
    WakePacer pacer;
    while (context_.run_one() > 0) {
      if (!gather_ns_) continue;
      pacer.OnWake(NowNs(), gather_ns_());
      context_.poll();
      const int64_t pause_ns = pacer.PauseNs(NowNs());
      if (pause_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(pause_ns));
    }
  }

  // Runs the tasks that were posted before. Tasks that these post come after the other events of
  // the context, so that no input waits for an endless row of tasks.
  void RunTasks() {
    {
      const std::lock_guard lock(mutex_);
      batch_.swap(tasks_);
    }
    while (!batch_.empty() && !context_.stopped()) {
      const Task task = std::move(batch_.front());
      batch_.pop_front();
      task();
    }
  }

  // Lets RunTimers() run when the first timer is due, or earlier. Each request starts timers, most
  // of which are cancelled: a wait is a call of the system, so that one that ends early enough
  // remains, and timers that are due need none.
  void Arm() {
    const int64_t at_ns = timers_.begin()->first.first;
    const int64_t left_ns = at_ns - NowNs();
    if (left_ns <= 0) {
      if (std::exchange(is_posted_, true)) return;
      return asio::post(context_, [this] {
        is_posted_ = false;
        RunTimers();
      });
    }
    if (armed_ns_ && *armed_ns_ <= at_ns) return;
    armed_ns_ = at_ns;
    // Cancels the wait before.
    wake_.expires_after(std::chrono::nanoseconds(left_ns));
    wake_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      armed_ns_.reset();
      RunTimers();
    });
  }

  // Runs the timers that are due. A timer that one of them starts runs later, in the next event of
  // the context, even if its time has come.
  void RunTimers() {
    const TimerKey limit(NowNs(), last_timer_);
    while (!timers_.empty() && timers_.begin()->first <= limit && !context_.stopped()) {
      const auto first = timers_.begin();
      const Task task = std::move(first->second);
      times_.erase(first->first.second);
      timers_.erase(first);
      task();
    }
    if (!timers_.empty()) Arm();
  }

  const std::function<int64_t()> steady_ns_;
  const std::function<int64_t()> gather_ns_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::mutex mutex_;  // Guards the next two.
  std::deque<Task> tasks_;
  bool is_stopped_ = false;
  std::deque<Task> batch_;  // The tasks that RunTasks() is running.
  std::map<TimerKey, Task> timers_;
  std::map<TimerId, int64_t> times_;  // The time of each timer.
  TimerId last_timer_ = 0;
  asio::steady_timer wake_;          // For the first timer.
  std::optional<int64_t> armed_ns_;  // When wake_ ends; nullopt if it is not waited for.
  bool is_posted_ = false;           // RunTimers() runs soon.
  std::thread thread_;               // Last: it uses the others.
};

IoThread::IoThread(const std::string& name, std::function<int64_t()> steady_ns,
                   std::function<int64_t()> gather_ns)
    : impl_(std::make_unique<Impl>(name, std::move(steady_ns), std::move(gather_ns))) {}

IoThread::~IoThread() { impl_->Stop(); }

void IoThread::Post(Task task) { impl_->Post(std::move(task)); }

Executor::TimerId IoThread::StartTimer(int64_t at_ns, Task task) {
  return impl_->StartTimer(at_ns, std::move(task));
}

bool IoThread::CancelTimer(TimerId timer) { return impl_->CancelTimer(timer); }

int64_t IoThread::NowNs() const { return impl_->NowNs(); }

bool IoThread::IsCurrent() const { return impl_->IsCurrent(); }

void IoThread::RunAndWait(const Task& task) {
  BERTH_ASSERT(!IsCurrent());
  std::promise<void> ended;
  Post([&] {
    task();
    ended.set_value();
  });
  ended.get_future().wait();
}

void IoThread::Stop() { impl_->Stop(); }

boost::asio::io_context& IoThread::context() { return impl_->context(); }

}  // namespace berth::host
