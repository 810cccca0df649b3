#include "host/process/replay/event_feed.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/api/manifest.h"
#include "host/base/assert.h"

namespace berth::host {
namespace {

constexpr size_t kPieceBytes = size_t{64} << 10;

// Returns the error of a file that does not begin with a JSON object. `error`: that of the
// splitter. `begin`: the beginning of the file.
Status NoStreamError(const Status& error, std::string_view begin) {
  std::string text(error.message());
  if (const std::string_view found = RecognizeForeignText(begin); !found.empty()) {
    text = std::string("1: this looks like ").append(found);
  }
  text += "; expected watch events as JSON: use kubectl get --watch --output-watch-events -o json";
  return Status::InvalidArgument(std::move(text));
}

}  // namespace

EventFeed::EventFeed(FileDescriptor file, std::string name, Limits limits, Waker& waker)
    : file_(std::move(file)),
      name_(std::move(name)),
      stop_signal_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      limits_(limits),
      waker_(waker) {
  BERTH_ASSERT(file_.ok() && stop_signal_.ok());
  thread_ = std::thread([this] { End(ReadAll()); });
}

EventFeed::~EventFeed() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_one();
  // This fails only if the counter is at its maximum; then the thread is woken anyway.
  static_cast<void>(eventfd_write(stop_signal_.get(), 1));
  thread_.join();
}

EventFeed::Next EventFeed::Take(JsonText& object) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) {
      if (!ended_) return Next::kNothingYet;
      return error_.ok() ? Next::kEnd : Next::kFailed;
    }
    object = std::move(queue_.front());
    queue_.pop_front();
    bytes_ -= object.text.size();
  }
  room_.notify_one();
  return Next::kObject;
}

Status EventFeed::Locate(const Status& error) const {
  return {error.code(), name_ + ':' + std::string(error.message())};
}

// ---- On the thread of the feed ------------------------------------------------------------------

Status EventFeed::ReadAll() {
  JsonSplitter splitter(limits_.object_bytes);
  std::vector<char> piece(kPieceBytes);
  bool has_object = false;
  const auto sink = [&](JsonText object) {
    has_object = true;
    Put(std::move(object));
  };
  while (WaitForInput()) {
    const ssize_t size = read(file_.get(), piece.data(), piece.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) return Status::InvalidArgument(name_ + ": " + std::strerror(errno));
    Status status = size > 0 ? splitter.Append({piece.data(), static_cast<size_t>(size)}, sink)
                             : splitter.Finish();
    if (!status.ok()) {
      const bool is_syntax = status.code() == ErrorCode::kInvalidArgument && size > 0;
      if (has_object || splitter.within_object() || !is_syntax) return Locate(status);
      return Locate(NoStreamError(status, {piece.data(), static_cast<size_t>(size)}));
    }
    if (size == 0) return {};
  }
  return {};
}

bool EventFeed::WaitForInput() const {
  std::array<pollfd, 2> waits = {{{.fd = file_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = stop_signal_.get(), .events = POLLIN, .revents = 0}}};
  while (poll(waits.data(), waits.size(), -1) < 0) BERTH_ASSERT(errno == EINTR);
  return waits[1].revents == 0;
}

void EventFeed::Put(JsonText object) {
  bool was_empty = false;
  {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return stop_ || HasRoom(); });
    if (stop_) return;
    was_empty = queue_.empty();
    bytes_ += object.text.size();
    queue_.push_back(std::move(object));
  }
  if (was_empty) waker_.Wake();
}

void EventFeed::End(Status status) {
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(status);
    ended_ = true;
  }
  waker_.Wake();
}

}  // namespace berth::host
