#include "host/process/log/log_output.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
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
// PIPE_BUF: poll() reports room for this many.
constexpr size_t kMaxWriteBytes = 4096;
constexpr int kCheckMs = 50;

}  // namespace

// The sink of spdlog. The descriptor may be a pipe
// without a reader that reads. It stays in blocking mode, because other processes may share it: a
// write of at most kMaxWriteBytes after poll() does not block.
class LogOutput::Impl final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit Impl(Options the_options)
      : options_(std::move(the_options)),
        pool_owner_(
            std::make_shared<spdlog::details::thread_pool>(options_.queue_records, size_t{1})),
        pool_(*pool_owner_),
        // The logger does not own this object, which outlives it.
        logger_(std::make_shared<spdlog::async_logger>(
            "berth", spdlog::sink_ptr(spdlog::sink_ptr(), this), pool_owner_,
            spdlog::async_overflow_policy::overrun_oldest)) {
    logger_->set_level(spdlog::level::trace);
  }
  ~Impl() override {
    static_cast<void>(Flush());
    gives_up_.store(true, std::memory_order_relaxed);
    pool_owner_.reset();  // Ends spdlog's thread, which uses the other members.
  }

  void Put(const LogRecord& record) {
    const std::string line = Line(record);
    put_.fetch_add(1, std::memory_order_relaxed);
    logger_->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }
  // Waits until the records that were put reached this sink or were dropped.
  bool Flush() {
    const uint64_t count = put_.load(std::memory_order_relaxed);
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kFlushTime,
                             [&] { return ended_ + pool_.overrun_counter() >= count; });
  }
  uint64_t Dropped() {
    const std::lock_guard lock(mutex_);
    return failed_ + pool_.overrun_counter();
  }

 private:
  std::string Line(const LogRecord& record) const {
    return FormatRecord(record, options_.format, options_.wall_ns(), options_.pid) + '\n';
  }

  // ---- On spdlog's thread -----------------------------------------------------------------------

  void sink_it_(const spdlog::details::log_msg& message) override {
    ReportOverruns();
    const bool is_written = WriteAll({message.payload.data(), message.payload.size()});
    {
      const std::lock_guard lock(mutex_);
      ++ended_;
      if (!is_written) ++failed_;
    }
    changed_.notify_all();
  }
  void flush_() override {}

  // Writes how many records the queue dropped since the last call.
  void ReportOverruns() {
    const uint64_t overruns = pool_.overrun_counter();
    if (overruns == reported_) return;
    const std::string count = std::to_string(overruns - std::exchange(reported_, overruns));
    const std::array<LogField, 1> fields = {{{.key = "count", .value = count}}};
    WriteAll(Line({.level = BERTH_LOG_WARN,
                   .logger = "log",
                   .message = "Dropped records because the reader of the log is too slow",
                   .fields = fields}));
  }

  // Waits until the descriptor takes the text, or until gives_up_ is set, which ends it within
  // kCheckMs. Returns whether all of the text was written.
  bool WriteAll(std::string_view text) const {
    while (!text.empty()) {
      if (!WaitForRoom()) return false;
      const ssize_t size =
          write(options_.descriptor, text.data(), std::min(text.size(), kMaxWriteBytes));
      if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (size < 0) return false;
      text.remove_prefix(static_cast<size_t>(size));
    }
    return true;
  }

  bool WaitForRoom() const {
    while (!gives_up_.load(std::memory_order_relaxed)) {
      std::array<pollfd, 1> wait = {{{.fd = options_.descriptor, .events = POLLOUT, .revents = 0}}};
      const int ready = poll(wait.data(), wait.size(), kCheckMs);
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
    return false;
  }

  const Options options_;
  std::shared_ptr<spdlog::details::thread_pool> pool_owner_;
  spdlog::details::thread_pool& pool_;  // spdlog's thread uses it until it has ended.
  const std::shared_ptr<spdlog::async_logger> logger_;
  std::atomic<uint64_t> put_ = 0;
  std::atomic<bool> gives_up_ = false;
  uint64_t reported_ = 0;  // Used by spdlog's thread only.

  std::mutex mutex_;  // Guards the members below.
  std::condition_variable changed_;
  uint64_t ended_ = 0;   // Records that reached this sink.
  uint64_t failed_ = 0;  // Records of ended_ that could not be written.
};

LogOutput::LogOutput(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

LogOutput::~LogOutput() = default;

void LogOutput::Write(const LogRecord& record) { impl_->Put(record); }

uint64_t LogOutput::dropped() const { return impl_->Dropped(); }

bool LogOutput::Flush() { return impl_->Flush(); }

}  // namespace berth::host
