// A thread that does the input and output of one transport, with Boost.Asio.
#ifndef BERTH_HOST_HTTP_IO_THREAD_H_
#define BERTH_HOST_HTTP_IO_THREAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "host/base/executor.h"

namespace boost::asio {
class io_context;
}  // namespace boost::asio

namespace berth::host {

// An Executor over an io_context that one thread runs. A client has three of them: for reads (lists
// and watches), for writes, and for the lease. Nothing that the others do can delay the lease.
//
// Threading: as Executor. The constructor starts the thread; Stop() and the destructor join it.
class IoThread final : public Executor {
 public:
  // `name` is the thread's name as `top -H` shows it: at most 15 bytes. `steady_ns` is a monotonic
  // clock that may be called on any thread. `gather_ns` returns for how long input, tasks and
  // timers are gathered under load; see WakePacer. It is called on the thread. Empty: each is
  // handled at once.
  IoThread(const std::string& name, std::function<int64_t()> steady_ns,
           std::function<int64_t()> gather_ns = {});
  ~IoThread() override;

  void Post(Task task) override;
  TimerId StartTimer(int64_t at_ns, Task task) override;
  bool CancelTimer(TimerId timer) override;
  int64_t NowNs() const override;
  bool IsCurrent() const override;

  // Runs `task` on the thread and waits for its end.
  // REQUIRES: the caller is another thread; Stop() was not called.
  void RunAndWait(const Task& task);
  // Ends the thread after the task that is running. Tasks and timers that have not run are
  // destroyed, and so are those of later calls. A second call has no effect. Must not be called on
  // the thread itself.
  void Stop();

  // For byte_stream.cc and connection_pool.cc.
  boost::asio::io_context& context();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_IO_THREAD_H_
