#include "host/process/log/log_output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>

namespace berth::host {
namespace {

constexpr std::chrono::seconds kFlushTime{1};

}  // namespace

// Writes to a descriptor that may be a pipe without a reader that reads. The descriptor stays in
// blocking mode, because other processes may share it: a write of at most kPieceBytes after poll()
// does not block.
class LogWriter {
 public:
  explicit LogWriter(int descriptor) : descriptor_(descriptor) {}

  // Waits until the descriptor takes the text, or until GiveUp() is called. Returns whether all of
  // the text was written.
  bool Write(std::string_view text) const {
    while (!text.empty()) {
      if (!WaitForRoom()) return false;
      const ssize_t size = write(descriptor_, text.data(), std::min(text.size(), kPieceBytes));
      if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (size < 0) return false;
      text.remove_prefix(static_cast<size_t>(size));
    }
    return true;
  }

  // Ends the write under way and every later one within kCheckMs. Threading: any.
  void GiveUp() { gives_up_.store(true, std::memory_order_relaxed); }

 private:
  static constexpr size_t kPieceBytes = 4096;  // PIPE_BUF: poll() reports room for this many.
  static constexpr int kCheckMs = 50;

  bool WaitForRoom() const {
    while (!gives_up_.load(std::memory_order_relaxed)) {
      std::array<pollfd, 1> wait = {{{.fd = descriptor_, .events = POLLOUT, .revents = 0}}};
      const int ready = poll(wait.data(), wait.size(), kCheckMs);
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  const int descriptor_;
  std::atomic<bool> gives_up_ = false;
};

// Writes the records that spdlog's thread takes from its queue. The methods that end in "_" run on
// that thread, the others on any.
class LogLineSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  // Formats a record of the log itself.
  using Format = std::function<std::string(const LogRecord& record)>;

  // `pool` must outlive every call of spdlog's thread.
  LogLineSink(int descriptor, spdlog::details::thread_pool& pool, Format format)
      : writer_(descriptor), pool_(pool), format_(std::move(format)) {}

  // Waits until `count` records reached this sink or were dropped, for at most kFlushTime. Returns
  // whether they did.
  bool WaitFor(uint64_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kFlushTime,
                             [&] { return ended_ + pool_.overrun_counter() >= count; });
  }
  // Drops what is written from now on.
  void GiveUp() { writer_.GiveUp(); }
  uint64_t Dropped() {
    const std::lock_guard lock(mutex_);
    return failed_ + pool_.overrun_counter();
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    ReportOverruns();
    const bool is_written =
        writer_.Write(std::string(message.payload.data(), message.payload.size()) + '\n');
    {
      const std::lock_guard lock(mutex_);
      ++ended_;
      if (!is_written) ++failed_;
    }
    changed_.notify_all();
  }
  void flush_() override {}

 private:
  // Writes how many records the queue dropped since the last call.
  void ReportOverruns() {
    const uint64_t overruns = pool_.overrun_counter();
    if (overruns == reported_) return;
    const std::string count = std::to_string(overruns - std::exchange(reported_, overruns));
    const std::array<LogField, 1> fields = {{{.key = "count", .value = count}}};
    writer_.Write(format_({.level = BERTH_LOG_WARN,
                           .logger = "log",
                           .message = "Dropped records because the reader of the log is too slow",
                           .fields = fields}) +
                  '\n');
  }

  LogWriter writer_;
  spdlog::details::thread_pool& pool_;
  const Format format_;
  uint64_t reported_ = 0;  // Used by spdlog's thread only.

  std::mutex mutex_;  // Guards the members below.
  std::condition_variable changed_;
  uint64_t ended_ = 0;   // Records that reached this sink.
  uint64_t failed_ = 0;  // Records of ended_ that could not be written.
};

class LogOutput::Impl {
 public:
  explicit Impl(Options the_options)
      : options_(std::move(the_options)),
        pool_(std::make_shared<spdlog::details::thread_pool>(options_.queue_records, size_t{1})),
        sink_(std::make_shared<LogLineSink>(
            options_.descriptor, *pool_, [this](const LogRecord& record) { return Line(record); })),
        logger_(std::make_shared<spdlog::async_logger>(
            "berth", sink_, pool_, spdlog::async_overflow_policy::overrun_oldest)) {
    logger_->set_level(spdlog::level::trace);
  }
  ~Impl() {
    static_cast<void>(Flush());
    sink_->GiveUp();
    pool_.reset();  // Ends spdlog's thread, which uses the other members.
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Put(const LogRecord& record) {
    const std::string line = Line(record);
    put_.fetch_add(1, std::memory_order_relaxed);
    logger_->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }
  bool Flush() { return sink_->WaitFor(put_.load(std::memory_order_relaxed)); }
  uint64_t Dropped() const { return sink_->Dropped(); }

 private:
  std::string Line(const LogRecord& record) const {
    return FormatRecord(record, options_.format, options_.wall_ns(), options_.pid);
  }

  const Options options_;
  std::shared_ptr<spdlog::details::thread_pool> pool_;
  const std::shared_ptr<LogLineSink> sink_;
  const std::shared_ptr<spdlog::async_logger> logger_;
  std::atomic<uint64_t> put_ = 0;
};

LogOutput::LogOutput(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

LogOutput::~LogOutput() = default;

void LogOutput::Write(const LogRecord& record) { impl_->Put(record); }

uint64_t LogOutput::dropped() const { return impl_->Dropped(); }

bool LogOutput::Flush() { return impl_->Flush(); }

}  // namespace berth::host
