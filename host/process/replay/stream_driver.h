// Drives a scheduler with a stream of watch events until both have ended, and records the run as
// such a stream, so that it can be repeated.
#ifndef BERTH_HOST_PROCESS_REPLAY_STREAM_DRIVER_H_
#define BERTH_HOST_PROCESS_REPLAY_STREAM_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "host/api/json_splitter.h"
#include "host/base/clock.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/process/assemble/decision_reporter.h"
#include "host/process/assemble/driver.h"
#include "host/process/replay/embedded_scheduler.h"
#include "host/process/replay/event_feed.h"
#include "host/process/replay/stream_event.h"

namespace berth::host {

// Writes lines that ReadStreamEvent() reads: events and attempts, with the time since the event or
// attempt before, and decisions as {"type":"DECISION","object":{...}}, which change nothing when
// they are read.
class Recording {
 public:
  // Creates the file, or empties the one that exists.
  // Errors: NotFound, PermissionDenied, InvalidArgument. Each message begins with the path.
  static Result<Recording> Create(const std::string& path);

  // `after_ns`: the time since the event or attempt before. `object_json` must be valid JSON; its
  // white space is removed.
  void AddEvent(StreamType type, int64_t after_ns, std::string_view object_json);
  void AddDecision(const DecisionLine& line);
  // Records that a pod or group was tried. `after_ns`: the time since the event or attempt before.
  void AddAttempt(int64_t after_ns);
  // Flushes the file. Errors: kUnavailable, with the path, if anything could not be written.
  Status Flush();

 private:
  Recording(std::string path, std::ofstream file);

  std::string path_;
  std::ofstream file_;
};

// An event is due `after` the event before it; without `after` it is due at once. All events that
// are due are applied before the next pod is tried, except in virtual time where a recording has
// ATTEMPT events; see below.
//
// An event that is no watch event, cannot be decoded, or is rejected by the cluster changes
// nothing: the last version of its object stays. It is counted, its time counts for the next event,
// and the first kMaxReported of them are reported. Two kinds of errors end the run instead:
// malformed JSON after which the next object cannot be found, and a first object that is no watch
// event, because the file is no stream then.
//
// Virtual time stands still while anything can be done, and until the next event of the stream has
// been read. Then it jumps to the next event or to the time that the scheduler waits for, whichever
// comes first. If pods are tried again and again in vain while time stands still (StallDetector),
// it jumps to the next event. The result depends on the stream and the seed alone, however slowly
// the stream comes; only plugins with threads of their own can make a difference.
//
// In real time an attempt takes time, so that events come between attempts. A recording of such a
// run has an ATTEMPT event after each attempt. Where a stream has ATTEMPT events, virtual time
// follows the recording: the driver tries one pod, or group, for each ATTEMPT event, and none
// between other events. Real time ignores ATTEMPT events.
//
// The run ends when the stream has ended and the scheduler is at rest or stalled: the remaining
// pods are parked, gated, have failed with kMaxErrors errors in a row, or fail again and again
// (StallDetector). While a pod is pending, it goes on for timers of plugins and for announced work
// of their threads, up to the limits of the scheduler (WaitLimits). Before the run ends, parked
// pods are tried once more (EmbeddedScheduler::TryParkedAgain), and again after each such round
// that makes progress. Attempts from then on are not recorded: no event comes between them, and the
// repetition of the recording tries the pods again by itself. A stop ends the run earlier: no
// further pod is tried, pods that wait on Permit return to the queue, and Run() waits for bindings
// that are under way.
//
// Threading: as Driver.
class StreamDriver : public Driver {
 public:
  // A pod that failed with this many errors in a row does not keep the run from ending.
  static constexpr uint32_t kMaxErrors = 5;
  // At most this many rejected events are reported.
  static constexpr size_t kMaxReported = 20;

  // The objects that a run works with. Everything that is pointed to must outlive it.
  struct Collaborators {
    EmbeddedScheduler* scheduler;  // Created with EmbeddedScheduler::Stream::kFollowed.
    const Clock* clock;            // The scheduler's.
    VirtualClock* virtual_clock;   // The same clock if time is virtual, otherwise null.
    DecisionReporter* reporter;
    EventFeed* feed;       // Null: there is no stream.
    Recording* recording;  // Null: nothing is recorded.
    // Receives an error for each event that was rejected: why, with the file, the line, the object
    // and the JSON pointer.
    Log log = {};
  };

  using Driver::Driver;

  // The waker of the scheduler and of the feed is that of the driver.
  // Called: once.
  // Errors: those of the feed and of the recording; those of ReadStreamEvent, except kUnsupported
  //         after the first event. After an error the run has stopped as after a request to stop.
  Status Run(const Collaborators& used);

  // How many events were applied.
  size_t events() const { return events_; }
  // How many events were rejected.
  size_t rejected() const { return rejected_; }
  // Returns true if a limit of timers or threads of plugins has ended the run.
  bool has_reached_limit() const { return has_reached_limit_; }

 private:
  struct PendingEvent {
    JsonText text;
    StreamEvent event;
    int64_t due_ns = 0;
  };

  // Called before each step of the scheduler, and while virtual time waits for an event, unless the
  // driver stops. It may do what must not happen within a step, such as a reload.
  virtual void BeforeStep() {}

  // Tries the parked pods once more if the run would end.
  bool IsDone() final;
  bool RunRound() final;
  void Wait() final;
  void OnStop() final;
  // Flushes the recording, too.
  void Flush() final;

  bool is_virtual() const { return used_.virtual_clock != nullptr; }

  // Returns whether the stream has ended and no pod will be tried, or the run has stopped.
  bool IsFinished();
  Status ApplyDueEvents();
  // Fetches the next event into next_, if there is one.
  Status FetchEvent();
  Status ReadEvent(PendingEvent next);
  void ApplyNext(int64_t now_ns);
  // Counts an event that was not applied, and reports it. `why` begins with the line.
  void Reject(const Status& why);
  // Keeps the first error and stops.
  void StopOnError(Status status);
  // Follows a recording with ATTEMPT events: advances virtual time towards the next event, and
  // meanwhile does what has to be done besides attempts. Returns false if an attempt is due now, or
  // if there is no such recording.
  bool FollowRecording();
  bool IsNextAnAttempt() const;
  // Makes one step of the scheduler. Records it if it was an attempt, and ends the ATTEMPT event
  // that is due. Returns false if there was nothing to do.
  bool Step();
  // If the scheduler is stalled at the present virtual time, waits for the plugins that may change
  // that, or advances the time to the next event or timer of a plugin. Returns false otherwise.
  bool SkipToNextChange();
  // Returns true if a pod that failed with an error will be tried again.
  bool HasRetries() const;

  Collaborators used_ = {};
  std::optional<PendingEvent> next_;
  int64_t last_due_ns_ = 0;  // When the event before was due; at first, the start of the run.
  // When the last recorded event was applied, or attempt was made; at first, the start.
  int64_t recorded_ns_ = 0;
  bool has_attempts_ = false;  // The stream has ATTEMPT events.
  uint32_t rounds_ = 0;        // Steps without an attempt at the present time.
  size_t events_ = 0;
  size_t rejected_ = 0;
  bool has_event_ = false;  // An event was read, so that the file is a stream.
  bool stream_ended_ = false;
  bool has_reached_limit_ = false;
  bool has_due_events_ = false;  // ApplyDueEvents() returned before it had applied all of them.
  Status error_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_STREAM_DRIVER_H_
