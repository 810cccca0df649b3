#include "host/process/assemble/process_signals.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr std::array kStopSignals = {SIGINT, SIGTERM};
constexpr std::array kReloadSignals = {SIGHUP};
constexpr std::array kCleanupSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr uint8_t kNoSignal = 0;

// The write end of the pipe, or -1 if there is no ProcessSignals. It is global, because a signal
// handler takes no arguments.
std::atomic<int> signal_pipe = -1;
// The actions of the stop signals before OnStop(), in the order of kStopSignals. Global for the
// same reason. Written before a handler that reads them is set.
std::array<struct sigaction, kStopSignals.size()> stop_actions;
// See InstallSignalCleanup().
std::atomic<void (*)()> signal_cleanup = nullptr;

// Does not change signals that are ignored, because the parent process set them to be ignored.
void SetHandlers(std::span<const int> signals, void (*handler)(int), int flags = SA_RESTART) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
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

void OnSignal(int signal);

// Gives the stop signals the actions that they had before OnStop(). Does nothing before OnStop(),
// and for signals that are ignored.
void RestoreStopActions() {
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    struct sigaction action {};
    sigaction(kStopSignals[i], nullptr, &action);
    if (action.sa_handler == OnSignal) sigaction(kStopSignals[i], &stop_actions[i], nullptr);
  }
}

// A second request to stop must end the process at once, so both stop signals get the action back
// that they had before.
void OnSignal(int signal) {
  const int before = errno;
  if (signal != SIGHUP) RestoreStopActions();
  WriteByte(signal_pipe.load(std::memory_order_relaxed), static_cast<uint8_t>(signal));
  errno = before;
}

// SA_RESETHAND has set the default action already. The signal is delivered again, and ends the
// process, when this handler returns.
void CleanUpAndEnd(int signal) {
  signal_cleanup.load()();
  raise(signal);
}

}  // namespace

void InstallSignalCleanup(void (*cleanup)()) {
  signal_cleanup = cleanup;
  SetHandlers(kCleanupSignals, CleanUpAndEnd, static_cast<int>(SA_RESETHAND));
}

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
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    sigaction(kStopSignals[i], nullptr, &stop_actions[i]);
  }
  SetHandlers(kStopSignals, OnSignal);
}

ProcessSignals::~ProcessSignals() {
  RestoreStopActions();
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
