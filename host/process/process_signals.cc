#include "host/process/process_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <span>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr std::array kStopSignals = {SIGINT, SIGTERM};
constexpr std::array kReloadSignals = {SIGHUP};
constexpr uint8_t kNoSignal = 0;

// The write end of the pipe, or -1 if there is no ProcessSignals. It is global, because a signal
// handler takes no arguments.
std::atomic<int> signal_pipe = -1;

// Does not change signals that are ignored, because the parent process set them to be ignored.
void SetHandlers(std::span<const int> signals, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : signals) sigaddset(&action.sa_mask, signal);
  for (const int signal : signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

void WriteByte(int pipe, uint8_t byte) {
  while (write(pipe, &byte, 1) < 0 && errno == EINTR) continue;
}

// A second request to stop must end the process at once, so both stop signals get their default
// action.
void OnSignal(int signal) {
  const int before = errno;
  if (signal != SIGHUP) SetHandlers(kStopSignals, SIG_DFL);
  WriteByte(signal_pipe.load(std::memory_order_relaxed), static_cast<uint8_t>(signal));
  errno = before;
}

}  // namespace

ProcessSignals::ProcessSignals(std::function<void()> reload) : reload_(std::move(reload)) {
  std::array<int, 2> ends{};
  BERTH_ASSERT(pipe2(ends.data(), O_CLOEXEC) == 0);
  read_end_ = FileDescriptor(ends[0]);
  write_end_ = FileDescriptor(ends[1]);
  thread_ = std::thread([this] { Run(); });
  const int before = signal_pipe.exchange(write_end_.get(), std::memory_order_relaxed);
  BERTH_ASSERT_MSG(before < 0, "there is another ProcessSignals in this process");
  if (reload_) SetHandlers(kReloadSignals, OnSignal);
}

void ProcessSignals::OnStop(std::function<void(int signal)> stop) {
  {
    const std::lock_guard lock(mutex_);
    stop_ = std::move(stop);
  }
  SetHandlers(kStopSignals, OnSignal);
}

ProcessSignals::~ProcessSignals() {
  SetHandlers(kStopSignals, SIG_DFL);
  if (reload_) SetHandlers(kReloadSignals, SIG_IGN);
  signal_pipe.store(-1, std::memory_order_relaxed);
  WriteByte(write_end_.get(), kNoSignal);
  thread_.join();
}

void ProcessSignals::Run() {
  uint8_t byte = SIGHUP;
  while (byte == SIGHUP) {
    while (read(read_end_.get(), &byte, 1) < 0 && errno == EINTR) continue;
    if (byte == SIGHUP) reload_();
  }
  if (byte == kNoSignal) return;
  std::function<void(int signal)> stop;
  {
    const std::lock_guard lock(mutex_);
    stop = stop_;
  }
  stop(byte);
}

}  // namespace berth::host
