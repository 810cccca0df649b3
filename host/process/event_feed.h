// The JSON objects of a file, a pipe or a terminal, read on a thread of its own.
#ifndef BERTH_HOST_PROCESS_EVENT_FEED_H_
#define BERTH_HOST_PROCESS_EVENT_FEED_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "host/api/json_splitter.h"
#include "host/base/file_descriptor.h"
#include "host/base/status.h"
#include "host/event/inbox.h"

namespace berth::host {

// Reads ahead up to its limits and then waits, so that a fast writer fills a pipe and not the
// memory.
//
// Threading: one thread makes it, takes from it and destroys it.
class EventFeed {
 public:
  struct Limits {
    // What is read ahead. One object always fits.
    size_t objects = 1024;
    size_t bytes = size_t{16} << 20;
    // Of one object: what a decoder takes at most, with room for spaces and what is around it.
    size_t object_bytes = size_t{8} << 20;
  };

  enum class Next : uint8_t {
    kObject,
    kNothingYet,  // The waker wakes when that changes.
    kEnd,
    kFailed,  // See error(). What came before the error has been taken.
  };

  // `name` is what messages call it. `waker` outlives it.
  EventFeed(FileDescriptor file, std::string name, Limits limits, Waker& waker);
  // Does not wait for input.
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // `object` is written for kObject alone.
  Next Take(JsonText& object);
  // Why it failed: as JsonSplitter, with the name in front, or what the system says. REQUIRES:
  // Take() returned kFailed.
  const Status& error() const { return error_; }
  // An error that begins with a line: "12: ..." becomes "name:12: ...".
  Status Locate(const Status& error) const;

 private:
  void Run();
  // The thread's part; returns how the reading ended.
  Status ReadAll();
  // False: it shall stop.
  bool WaitForInput() const;
  void Put(JsonText object);
  void End(Status status);
  bool HasRoom() const { return queue_.size() < limits_.objects && bytes_ < limits_.bytes; }

  const FileDescriptor file_;
  const std::string name_;
  const FileDescriptor stop_signal_;
  const Limits limits_;
  Waker& waker_;

  std::mutex mutex_;  // Guards what follows.
  std::condition_variable room_;
  std::deque<JsonText> queue_;
  size_t bytes_ = 0;  // Of the objects in queue_.
  bool ended_ = false;
  bool stop_ = false;
  Status error_;  // Written once, before ended_.

  std::thread thread_;  // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_EVENT_FEED_H_
