// A test fixture that runs `berth replay` on the real clock while the test writes the
// stream.
#ifndef BERTH_TESTS_INTEGRATION_LIVE_RUN_H_
#define BERTH_TESTS_INTEGRATION_LIVE_RUN_H_

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "host/base/assert.h"
#include "host/base/file_descriptor.h"
#include "tests/integration/cli_fixture.h"
#include "tests/integration/stream_lines.h"

namespace berth::host {

inline constexpr int kTimeoutMs = 20'000;

// The run has a thread of its own, pipes for its input and output, and the real clock.
class LiveRunTest : public CliTest {
 protected:
  struct Requests {
    std::function<void()> reload;
    std::function<void(int signal)> stop;
  };

  LiveRunTest() {
    steady_ns_ = [] {
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    };
    requests_source_ = [this](std::function<void()> reload) {
      return std::make_unique<Watch>(std::move(reload), requests_);
    };
    OpenPipe(input_read_, input_write_);
    OpenPipe(output_read_, output_write_);
    BERTH_ASSERT(fcntl(input_write_.get(), F_SETFL, O_NONBLOCK) == 0);
    in_descriptor_ = input_read_.get();
  }
  ~LiveRunTest() override {
    CloseInput();
    if (run_.valid()) run_.wait();
  }

  void Begin(std::vector<std::string> more = {}) {
    std::vector<std::string> args = {
        "replay", "--events", "-", "--output", "json", "--cluster", File("n.yaml", kNodes)};
    args.insert(args.end(), more.begin(), more.end());
    run_ = std::async(std::launch::async, [this, args] {
      std::ofstream out("/dev/fd/" + std::to_string(output_write_.get()));
      std::istringstream in;
      return RunTo(out, args, in);
    });
  }
  void Write(std::string_view text) {
    while (!text.empty()) {
      pollfd wait = {.fd = input_write_.get(), .events = POLLOUT, .revents = 0};
      ASSERT_EQ(poll(&wait, 1, kTimeoutMs), 1) << "the run does not read its input";
      const ssize_t size = write(input_write_.get(), text.data(), text.size());
      ASSERT_GT(size, 0);
      text.remove_prefix(static_cast<size_t>(size));
    }
  }
  void CloseInput() { input_write_ = FileDescriptor(); }
  // Requests a stop, as the signal does.
  void Stop(int signal) { Handlers().stop(signal); }
  void Reload() { Handlers().reload(); }
  // Waits until the run has subscribed to requests, and returns its handlers.
  const Requests& Handlers() {
    if (!asked_.valid()) asked_ = requests_.get_future();
    for (int waited_ms = 0; waited_ms < kTimeoutMs; waited_ms += 10) {
      const bool ended = run_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
      if (asked_.wait_for(std::chrono::milliseconds(ended ? 0 : 10)) == std::future_status::ready) {
        return asked_.get();
      }
      if (ended) break;
    }
    const bool ended = run_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    ADD_FAILURE() << "the run has not subscribed to requests: "
                  << (ended ? run_.get().err : "it is still running");
    static const Requests no_handlers = {.reload = [] {}, .stop = [](int) {}};
    return no_handlers;
  }

  // Returns the next line of the output: "Bound web b"; empty if there is none for a long time.
  std::string NextDecision() {
    while (unread_.find('\n') == std::string::npos) {
      pollfd wait = {.fd = output_read_.get(), .events = POLLIN, .revents = 0};
      if (poll(&wait, 1, kTimeoutMs) != 1) return "";
      std::array<char, 4096> piece{};
      const ssize_t size = read(output_read_.get(), piece.data(), piece.size());
      if (size <= 0) return "";
      unread_.append(piece.data(), static_cast<size_t>(size));
    }
    const size_t end = unread_.find('\n') + 1;
    const std::string decision = Decisions(unread_.substr(0, end)).front();
    unread_.erase(0, end);
    return decision.substr(decision.find(' ') + 1);
  }
  Outcome End() {
    if (run_.wait_for(std::chrono::milliseconds(kTimeoutMs)) != std::future_status::ready) {
      ADD_FAILURE() << "the run does not end";
      CloseInput();
    }
    return run_.get();
  }
  // Waits until the file contains `text`. Returns false after a long time.
  static bool WaitForText(const std::string& path, const std::string& text) {
    for (int waited_ms = 0; waited_ms < kTimeoutMs; waited_ms += 10) {
      if (ReadAll(path).find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  int input_write() const { return input_write_.get(); }

  std::promise<Requests> requests_;
  std::shared_future<Requests> asked_;

 private:
  class Watch final : public ProcessRequests {
   public:
    Watch(std::function<void()> reload, std::promise<Requests>& requests)
        : reload_(std::move(reload)), requests_(requests) {}
    void OnStop(std::function<void(int signal)> stop) override {
      requests_.set_value({reload_, std::move(stop)});
    }

   private:
    const std::function<void()> reload_;
    std::promise<Requests>& requests_;
  };

  static void OpenPipe(FileDescriptor& read_end, FileDescriptor& write_end) {
    std::array<int, 2> ends{};
    BERTH_ASSERT(pipe2(ends.data(), O_CLOEXEC) == 0);
    read_end = FileDescriptor(ends[0]);
    write_end = FileDescriptor(ends[1]);
  }

  FileDescriptor input_read_;
  FileDescriptor input_write_;
  FileDescriptor output_read_;
  FileDescriptor output_write_;
  std::shared_future<Outcome> run_;
  std::string unread_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_INTEGRATION_LIVE_RUN_H_
