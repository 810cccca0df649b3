#include "host/cli/progress.h"

#include <utility>

#include "host/base/time_units.h"
#include "host/cli/output.h"
#include "host/process/log/log_format.h"

namespace berth::host {
namespace {

constexpr int64_t kFirstShownAfterNs = kSecond;
constexpr int64_t kIntervalNs = 200 * kMillisecond;

}  // namespace

Progress::Progress(std::ostream& out, bool enabled, std::function<int64_t()> steady_ns)
    : out_(out), enabled_(enabled), steady_ns_(std::move(steady_ns)) {
  if (enabled_) next_ns_ = steady_ns_() + kFirstShownAfterNs;
}

void Progress::ShowActivity(std::string_view what) {
  const std::lock_guard lock(mutex_);
  if (Due()) Show(std::string(what) + " ...");
}

void Progress::ShowCount(std::string_view what, size_t done, size_t total, std::string_view unit) {
  const std::lock_guard lock(mutex_);
  if (!Due()) return;
  Show(std::string(what) + ": " + WithCommas(done) + " of " + WithCommas(total) + " " +
       std::string(unit));
}

void Progress::Clear() {
  const std::lock_guard lock(mutex_);
  Erase();
}

void Progress::Print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  Erase();
  out_ << text << std::flush;
}

void Progress::Erase() {
  if (std::exchange(shown_, false)) out_ << "\r\x1b[K" << std::flush;
}

bool Progress::Due() {
  if (!enabled_) return false;
  const int64_t now = steady_ns_();
  if (now < next_ns_) return false;
  next_ns_ = now + kIntervalNs;
  return true;
}

void Progress::Show(const std::string& line) {
  out_ << "\r\x1b[K" << line << std::flush;
  shown_ = true;
}

void ProgressLog::Write(const LogRecord& record) {
  if (!IsOn(record.level)) return;
  std::string line = time_ ? time_() : std::string();
  line.append(FormatRecord(record, LogFormat::kPlain, 0, 0)).append(1, '\n');
  progress_.Print(line);
}

}  // namespace berth::host
