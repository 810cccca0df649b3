// Drives a scheduler with a stream of events, until both have ended.
#ifndef BERTH_HOST_PROCESS_STREAM_RUN_H_
#define BERTH_HOST_PROCESS_STREAM_RUN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/api/json_splitter.h"
#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/base/virtual_clock.h"
#include "host/event/inbox.h"
#include "host/process/decision_log.h"
#include "host/process/embedded_scheduler.h"
#include "host/process/event_feed.h"
#include "host/process/recording.h"
#include "host/process/stream_event.h"

namespace berth::host {

// A line is due `after` the line before it; without an `after` at once. All lines that are due are
// applied before the next pod is tried.
//
// Virtual time stands still while anything can be done, and until it is known what the next line
// is; then it jumps to whichever comes first, that line or what the scheduler waits for. What
// happens depends on the stream and the seed alone, however slowly the stream comes; only plugins
// with threads of their own can make a difference.
//
// Threading: the scheduling thread.
class StreamRun {
 public:
  // How many errors in a row a pod may have before the end does not wait for its next attempt.
  static constexpr uint32_t kMaxErrors = 5;

  // All that is pointed to outlives it.
  struct Parts {
    EmbeddedScheduler* scheduler;  // Follows the stream.
    const Clock* clock;            // The scheduler's.
    VirtualClock* virtual_clock;   // The same, where time is virtual; null where it is not.
    ThreadWaker* waker;            // The scheduler's, and the feed's.
    DecisionLog* log;
    EventFeed* feed;               // Null: there is no stream.
    Recording* recording;          // Null: there is none.
    const std::atomic<int>* stop;  // Becomes a signal's number when the run shall stop.
    // Called before each step, and when virtual time waits for a line; may ask the scheduler for
    // what may not happen within a step. May be empty.
    std::function<void()> before_step;
    // Passes on what was printed, when there is time; `stop` may be set by it. May be empty.
    std::function<void()> flush;
  };

  explicit StreamRun(Parts parts) : parts_(std::move(parts)) {}

  // Until the stream has ended and the scheduler rests: pods may be parked or gated, or have failed
  // with kMaxErrors errors in a row. Or until it shall stop: then nobody is tried any more, pods
  // that wait on Permit go back to the queue, and bindings under way are waited for.
  // Returns: the errors of feed, ReadStreamEvent, StreamCluster and recording; after one, it has
  // stopped in the same way.
  Status Run();

  size_t events() const { return events_; }

 private:
  struct NextLine {
    JsonText text;
    StreamEvent event;
    int64_t due_ns = 0;
  };

  bool is_virtual() const { return parts_.virtual_clock != nullptr; }
  bool ShallStop() const { return parts_.stop->load(std::memory_order_relaxed) != 0; }
  void Stop();

  Status TakeLines();
  Status FetchLine();
  Status ReadLine(NextLine line);
  Status ApplyLine(int64_t now_ns);
  // Stops at the first error.
  void Note(Status status);
  bool IsDone() const;
  bool HasRetries() const;
  void Wait();
  // There is time: passes on what was printed and recorded.
  Status Flush();

  const Parts parts_;
  std::optional<NextLine> next_;
  int64_t last_due_ns_ = 0;  // Of the line before; 0: there was none.
  int64_t recorded_ns_ = 0;  // Of the event that was recorded last; 0: there was none.
  size_t events_ = 0;
  bool stream_ended_ = false;
  bool lines_left_ = false;  // TakeLines() ended before the lines that are due did.
  bool stopping_ = false;
  Status error_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_STREAM_RUN_H_
