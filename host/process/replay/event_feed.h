// Reads the JSON objects of a file, a pipe or a terminal on a thread of its own.
#ifndef BERTH_HOST_PROCESS_REPLAY_EVENT_FEED_H_
#define BERTH_HOST_PROCESS_REPLAY_EVENT_FEED_H_

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

// The thread reads ahead up to the limits and then waits, so that a fast writer fills the pipe
// instead of the memory.
//
// Threading: one thread creates the feed, takes objects from it and destroys it.
class EventFeed {
 public:
  struct Limits {
    // How much is read ahead. One object is always accepted.
    size_t objects = 1024;
    size_t bytes = size_t{16} << 20;
    // The largest object: the limit of the decoder, plus room for spaces and the event around it.
    size_t object_bytes = size_t{8} << 20;
  };

  enum class Next : uint8_t {
    kObject,
    kNothingYet,  // The waker is woken when that changes.
    kEnd,
    kFailed,  // See error(). All objects before the error have been taken.
  };

  // Messages call the file `name`. `waker` must outlive the feed.
  EventFeed(FileDescriptor file, std::string name, Limits limits, Waker& waker);
  // Ends the thread without waiting for further input.
  ~EventFeed();

  // Takes the next object. Writes `object` only if it returns kObject.
  Next Take(JsonText& object);
  // Returns why reading failed: an error of JsonSplitter, located with Locate(), or an error of the
  // system. If the file does not begin with an object, the error names what it looks like and what
  // is expected.
  // REQUIRES: Take() returned kFailed.
  const Status& error() const { return error_; }
  // Puts the name in front of an error that begins with a line: "12: ..." becomes "name:12: ...".
  Status Locate(const Status& error) const;

 private:
  // Reads until the end of the file, an error, or the destructor. Returns the error.
  Status ReadAll();
  // Returns false if the thread must end.
  bool WaitForInput() const;
  void Put(JsonText object);
  void End(Status status);
  bool HasRoom() const { return queue_.size() < limits_.objects && bytes_ < limits_.bytes; }

  const FileDescriptor file_;
  const std::string name_;
  const FileDescriptor stop_signal_;
  const Limits limits_;
  Waker& waker_;

  std::mutex mutex_;  // Guards the members below, except thread_.
  std::condition_variable room_;
  std::deque<JsonText> queue_;
  size_t bytes_ = 0;  // The size of the objects in queue_.
  bool ended_ = false;
  bool stop_ = false;
  Status error_;  // Written once, before ended_.

  std::thread thread_;  // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_EVENT_FEED_H_
