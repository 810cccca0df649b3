// How long calls into a plugin take.
#ifndef BERTH_HOST_CLI_CALL_WATCH_H_
#define BERTH_HOST_CLI_CALL_WATCH_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <berth/testing/report.h>

namespace berth::host {

// Tells `late`, once, of the first call that takes longer than the host waits for it: when it
// returns, or after some seconds more.
//
// Threading: `late` is called on the thread that made the call, or on one of its own.
class CallWatch final : public testing::CallObserver {
 public:
  using Late = std::function<void(const std::string& text)>;

  // `steady_ns`: only goes forward. Threading: any.
  CallWatch(std::function<int64_t()> steady_ns, Late late);
  ~CallWatch() override;
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  void OnBegin(const char* function) override;
  void OnEnd(const char* function) override;

 private:
  struct Call {
    const char* function;
    int64_t began_ns;
  };

  void Watch();
  // The text for the first call that hangs; empty: none does. REQUIRES: mutex_ is held.
  std::string FindHanging() const;

  const std::function<int64_t()> steady_ns_;
  const Late late_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::thread::id, std::vector<Call>> calls_;  // On their way, the innermost last.
  bool ends_ = false;
  bool told_ = false;
  std::thread watcher_;  // The last: it uses all the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_CALL_WATCH_H_
