// The services of the fake host. Each checks the thread word under which it is called.
#ifndef BERTH_TESTING_SERVICES_H_
#define BERTH_TESTING_SERVICES_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/call.h>
#include <berth/testing/fake_api.h>
#include <berth/testing/fake_http.h>
#include <berth/testing/fake_metrics.h>
#include <berth/testing/ids.h>
#include <berth/testing/parsed_data.h>
#include <berth/testing/promises.h>
#include <berth/testing/report.h>
#include <berth/testing/scheduling_services.h>
#include <berth/testing/shared_states.h>
#include <berth/testing/table.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing {

struct LogLine {
  uint32_t level = BERTH_LOG_INFO;
  std::string message;
  std::map<std::string, std::string> pairs;
};

// How much an instance holds and has not released. The host releases the rest after destroy().
struct Holdings {
  size_t ids = 0;         // texts that are interned
  size_t references = 0;  // objects that are retained
  size_t values = 0;      // values that were parsed
  size_t selectors = 0;
};

class Cycle;
class Services;

// The data of one cycle, which berth_cycle.host points to.
struct ColumnBinder {
  // Adds the column unless it is there. Returns its index.
  uint32_t Bind(ColumnName column) {
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const ColumnName& known) {
      return known.name == column.name;
    });
    const auto index = static_cast<uint32_t>(found - columns.begin());
    if (found == columns.end()) {
      columns.push_back(std::move(column));
    } else if (!column.optional) {
      found->optional = false;
    }
    return index;
  }

  std::vector<ColumnName> columns;  // the plugin's own columns, then those bound in this cycle
  const Cycle* cycle = nullptr;
  const Services* owner = nullptr;  // the host of the instance whose cycle it is
  // the state of the random numbers, which what-if questions continue
  std::shared_ptr<uint64_t> random = {};
};

// The host of one plugin instance.
//
// Threading: as the services state. A test may read log() and metrics().all() while no call is in
//            progress.
class Services {
 public:
  Services(Reporter* reporter, Ids* ids);
  ~Services();
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  const berth_host* host() const { return &host_; }
  Reporter& reporter() { return reporter_; }
  SchedulingServices& scheduling() { return scheduling_; }
  ParsedData& parsed() { return parsed_; }

  // Must be set before create().
  void set_objects(std::vector<ObjectHandle> objects) { objects_ = std::move(objects); }
  void set_kinds(const char* const* kinds) { kinds_ = kinds; }
  void set_not_served(std::set<std::string> kinds) { not_served_ = std::move(kinds); }
  void set_scripted(const std::map<std::string, const void*>* scripted) { scripted_ = scripted; }
  void set_now_ns(int64_t now_ns) { now_ns_ = now_ns; }

  const std::vector<LogLine>& log() const { return log_; }
  FakeMetrics& metrics() { return metrics_; }
  Promises& promises() { return promises_; }
  size_t timers() const { return timers_.size(); }
  // The number of holds that the plugin has, see berth_timer.hold. Threading: any.
  size_t holds();
  FakeApi& api() { return api_; }
  SharedStates& shared() { return shared_; }
  FakeHttp& http() { return http_; }

  // Advances the clock and fires the timers that are due, in order. Before the first timer, and
  // after each one, it calls what was posted, performs requests of the scheduler and delivers the
  // answers of the API server. If each of these calls begins another one, the 17th waits for the
  // next timer, or for the next Advance().
  void Advance(int64_t ns);

  // Ends timers and watches, refuses later callbacks, and calls with CANCELLED first what was
  // posted, then the answers of the API server that are still open.
  // Called: before the instance is quiesced.
  void Close();
  bool is_closed();

  // Does something between two calls of the test. `cancelled`: the instance ends.
  using Later = std::function<void(bool cancelled)>;
  enum class LaterKind {
    kPost,
    kAnswer,
    kRequest,  // of the scheduler, which performs it when the current callbacks have been called
    kFollowUp  // the answer to a kRequest
  };
  // Returns BERTH_CANCELLED after Close(), and BERTH_CONFLICT for a post or a request too many.
  // Threading: any.
  berth_code DoLater(LaterKind kind, Later later);

  // The number of ids that the plugin has interned and not released. When the instance has been
  // destroyed, the number of those that it left to the host. Threading: any.
  size_t held_ids();
  // Returns how much the plugin holds; when the instance has been destroyed, what it left to the
  // host. Threading: any.
  Holdings holdings();

  // Drops what was recorded for the test: log lines, observations, faults, requests and events.
  // Measurements of memory do this, so that only what the plugin keeps remains.
  // Called: while no call is in progress.
  void ForgetRecords();

  // Returns whether the plugin may call the service now, and reports a violation if it may not.
  static bool Expect(const berth_host* host, const char* service, uint32_t words);
  static Services& Of(const berth_host* host) { return *static_cast<Services*>(host->impl); }
  Ids& ids() { return ids_; }

  // Reports the existing objects to watchers, as additions.
  void ReplayObjects();

  // Adds, changes or deletes (`now` is NULL) an object and notifies watchers.
  void ChangeObject(const ObjectHandle* old, const ObjectHandle* now);
  // Replaces the set of kinds that are not served. Watchers of a kind with several versions get the
  // objects of the version that they used as deleted, and those of the new one as added.
  void ChangeServed(std::set<std::string> not_served);
  // Returns whether the plugin declared the kind of a column "object:<kind>"; true for another
  // column.
  bool MayUseColumn(std::string_view column) const;

 private:
  struct Timer {
    void (*fire)(void*) BERTH_NOEXCEPT;
    void* to;
  };
  struct Watch {
    std::string kind;  // as declared
    void (*change)(void*, const berth_object_change*) BERTH_NOEXCEPT;
    void* to;
  };

  struct Held {
    std::shared_ptr<const void> owner;
    uint32_t kind = 0;
    uint64_t count = 0;
  };
  struct Due {
    LaterKind kind;
    Later run;
  };

  // Calls what is due. Returns false if nothing was.
  bool DoWhatIsDue();
  // Calls what is due, and what these calls make due, in turn.
  void DoAllThatIsDue();
  // Reports the use of an id that is not in use.
  void ReportStale(const std::string& use, berth_id id);

  static berth_code GetService(const berth_host* host, const char* id,
                               const void** service) noexcept;

  static void NoteFault(const berth_host* host, berth_str what) noexcept;

  // log
  static void Log(const berth_host* host, uint32_t level, berth_str message,
                  const berth_str_pair* pairs, uint64_t count) noexcept;

  // strings
  static berth_id Intern(const berth_host* host, berth_str text) noexcept;
  static berth_id Find(const berth_host* host, berth_str text) noexcept;
  static berth_str Text(const berth_host* host, berth_id id) noexcept;
  static void ReleaseId(const berth_host* host, berth_id id) noexcept;

  // refs
  static berth_code Retain(const berth_host* host, berth_tagged object) noexcept;
  static void Release(const berth_host* host, berth_tagged object) noexcept;

  // columns
  static berth_code Bind(const berth_host* host, const berth_cycle* cycle,
                         const berth_column_request* request, uint32_t* index) noexcept;

  // objects
  static constexpr uint32_t kObjectWords = kEvent | kQueue | kCycle | kBind;
  bool IsDeclared(std::string_view kind) const;
  // Reports a kind that is not declared.
  bool Declared(std::string_view kind) const;
  std::string Used(std::string_view kind) const { return UsedKind(kind, not_served_); }
  void Report(const Watch& watch, uint32_t flags, const berth_object* old, const berth_object* now);
  // Reports all objects of the kind, as additions that existed or as deletions.
  void ReportAll(const Watch& watch, const std::string& kind, bool as_added);
  static berth_code GetObject(const berth_host* host, berth_str kind, berth_str ns, berth_str name,
                              const berth_object** object) noexcept;
  static berth_code ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                                int32_t (*each)(void*, const berth_object*) noexcept,
                                void* to) noexcept;
  static berth_code IsServed(const berth_host* host, berth_str kind) noexcept;
  static berth_code WatchObjects(const berth_host* host, berth_str kind,
                                 void (*change)(void*, const berth_object_change*) noexcept,
                                 void* to) noexcept;

  // timer
  static constexpr uint32_t kTimerWords = kLoad | kEvent | kQueue | kCycle | kBind;
  static int64_t NowNs(const berth_host* host) noexcept { return Of(host).now_ns_; }
  static int64_t WallNs(const berth_host* host) noexcept { return kWallStartNs + Of(host).now_ns_; }
  static berth_code StartTimer(const berth_host* host, int64_t after_ns,
                               void (*fire)(void*) BERTH_NOEXCEPT, void* to,
                               uint64_t* timer) noexcept;
  static berth_code CancelTimer(const berth_host* host, uint64_t timer) noexcept;
  static berth_code Post(const berth_host* host, void (*run)(void*, berth_code) BERTH_NOEXCEPT,
                         void* to) noexcept;
  static berth_code Hold(const berth_host* host, uint64_t* hold) noexcept;
  static void ReleaseHold(const berth_host* host, uint64_t hold) noexcept;

  // random
  static uint64_t NextRandom(const berth_host* host, const berth_cycle* cycle) noexcept;

  static constexpr size_t kMostWaiting = 65'536;  // posts, timers, or holds, as in the host
  static constexpr uint32_t kLevel = BERTH_LOG_TRACE;
  static constexpr int64_t kWallStartNs = 1'767'225'600'000'000'000;  // 2026-01-01
  static constexpr berth_log kLog{sizeof(berth_log), 0, &kLevel, &Log};
  static constexpr berth_strings kStrings{
      sizeof(berth_strings), 0, &Intern, &Find, &Text, &ReleaseId};
  static constexpr berth_refs kRefs{sizeof(berth_refs), 0, &Retain, &Release};
  static constexpr berth_columns kColumns{sizeof(berth_columns), 0, &Bind};
  static constexpr berth_objects kObjects{sizeof(berth_objects), 0,         &GetObject,
                                          &ListObjects,          &IsServed, &WatchObjects};
  static constexpr berth_timer kTimer{sizeof(berth_timer), 0,     &NowNs, &WallNs,     &StartTimer,
                                      &CancelTimer,        &Post, &Hold,  &ReleaseHold};
  static constexpr berth_random kRandom{sizeof(berth_random), 0, &NextRandom};
  static constexpr std::pair<const char*, const void*> kOwn[] = {
      {BERTH_SERVICE_LOG, &kLog},
      {BERTH_SERVICE_STRINGS, &kStrings},
      {BERTH_SERVICE_REFS, &kRefs},
      {BERTH_SERVICE_COLUMNS, &kColumns},
      {BERTH_SERVICE_METRICS, &FakeMetrics::kService},
      {BERTH_SERVICE_VALUES, &internal::kValues},
      {BERTH_SERVICE_OBJECTS, &kObjects},
      {BERTH_SERVICE_SELECTORS, &ParsedData::kSelectors},
      {BERTH_SERVICE_TIMER, &kTimer},
      {BERTH_SERVICE_RANDOM, &kRandom},
      {BERTH_SERVICE_SHARED, &SharedStates::kService},
      {BERTH_SERVICE_API, &FakeApi::kService},
      {BERTH_SERVICE_COMPLETION, &Promises::kService},
      {BERTH_SERVICE_HTTP, &FakeHttp::kService}};

  Reporter& reporter_;
  Ids& ids_;
  berth_host host_{};
  const std::map<std::string, const void*>* scripted_ = nullptr;
  const char* const* kinds_ = nullptr;

  std::mutex mutex_;  // everything up to closed_
  std::vector<LogLine> log_;
  std::map<berth_id, uint64_t> interned_;  // how often the plugin interned an id
  std::map<const void*, Held> held_;       // by the address of the view
  std::vector<Due> later_;
  size_t posts_ = 0;     // of later_
  size_t requests_ = 0;  // of later_
  std::set<uint64_t> holds_;
  uint64_t last_hold_ = 0;
  bool closed_ = false;

  FakeApi api_{*this};
  FakeHttp http_{*this};
  FakeMetrics metrics_;
  SharedStates shared_;
  Promises promises_;
  std::vector<ObjectHandle> objects_;
  std::set<std::string> not_served_;
  std::vector<Watch> watches_;
  std::map<std::pair<int64_t, uint64_t>, Timer> timers_;  // By due time in ns, and id.
  uint64_t last_timer_ = 0;
  std::atomic<int64_t> now_ns_{0};
  ParsedData parsed_;
  SchedulingServices scheduling_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_SERVICES_H_
