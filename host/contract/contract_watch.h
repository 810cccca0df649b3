// How long calls into a plugin take.
#ifndef BERTH_HOST_CONTRACT_CONTRACT_WATCH_H_
#define BERTH_HOST_CONTRACT_CONTRACT_WATCH_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <berth/testing/report.h>

namespace berth::host {

// Tells `late`, once, of the first call that takes longer than the host waits for it by default
// (CallDeadlines): when it returns, or after kPatienceNs more. The host sets no limit to what is
// done while it loads; here it is kLoadLimitNs.
//
// Threading: `late` is called on the thread that made the call, or on one of its own.
class ContractWatch final : public testing::CallObserver {
 public:
  static constexpr int64_t kLoadLimitNs = 10'000'000'000;
  static constexpr int64_t kPatienceNs = 2'000'000'000;

  using Late = std::function<void(const std::string& text)>;

  // `steady_ns`: only goes forward. Threading: any.
  ContractWatch(std::function<int64_t()> steady_ns, Late late);
  ~ContractWatch() override;
  ContractWatch(const ContractWatch&) = delete;
  ContractWatch& operator=(const ContractWatch&) = delete;

  void OnBegin(const char* function) override;
  void OnEnd(const char* function) override;

 private:
  struct Limit {
    int64_t ns;
    const char* whose;
  };
  struct Call {
    const char* function;
    int64_t began_ns;
    Limit limit;
  };

  // Of the call that begins on this thread.
  static Limit LimitOf(std::string_view function);
  // "; the host waits for 1.0 s"
  static std::string Waits(const Limit& limit);
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

#endif  // BERTH_HOST_CONTRACT_CONTRACT_WATCH_H_
