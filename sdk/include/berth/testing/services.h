// The services of the fake host. Each checks the thread word under which it is called.
#ifndef BERTH_TESTING_SERVICES_H_
#define BERTH_TESTING_SERVICES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/call.h>
#include <berth/testing/ids.h>
#include <berth/testing/report.h>
#include <berth/testing/table.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing {

struct LogLine {
  uint32_t level = BERTH_LOG_INFO;
  std::string message;
  std::map<std::string, std::string> pairs;
};

struct Metric {
  uint32_t kind = 0;
  std::string help;
  std::vector<std::string> label_names;
  std::vector<double> buckets;  // of a histogram; empty: the host's default
  std::vector<std::pair<std::vector<std::string>, double>> observations;  // label values, value
};

// The columns that columns.bind may extend; berth_cycle.host points to it.
struct ColumnBinder {
  std::vector<ColumnName> columns;  // the plugin's own columns, then those bound in this cycle
};

// A call that the service berth.completion/1 completes.
struct Completion {
  Reporter* reporter = nullptr;
  std::mutex mutex;
  bool completed = false;
  Answer answer;

  berth_done* handle() { return reinterpret_cast<berth_done*>(this); }
};

// The host of one plugin instance.
//
// Threading: as the services state. A test may read log() and metrics() while no call is in
//            progress.
class Services {
 public:
  Services(Reporter* reporter, Ids* ids);
  ~Services();
  Services(const Services&) = delete;
  Services& operator=(const Services&) = delete;

  const berth_host* host() const { return &host_; }
  Reporter& reporter() { return reporter_; }

  // Must be set before create().
  void set_objects(std::vector<ObjectHandle> objects) { objects_ = std::move(objects); }
  void set_kinds(const char* const* kinds) { kinds_ = kinds; }
  void set_not_served(std::set<std::string> kinds) { not_served_ = std::move(kinds); }
  void set_scripted(const std::map<std::string, const void*>* scripted) { scripted_ = scripted; }
  void set_now_ns(int64_t now_ns) { now_ns_ = now_ns; }

  const std::vector<LogLine>& log() const { return log_; }
  const std::map<std::string, Metric>& metrics() const { return metrics_; }
  // The faults that calls without a result code reported.
  const std::vector<std::string>& faults() const { return faults_; }
  size_t timers() const { return timers_.size(); }

  // Advances the clock and fires the timers that are due, in order.
  void Advance(int64_t ns);

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
    uint64_t id;
    int64_t due_ns;
    void (*fire)(void*);
    void* to;
  };
  struct Watch {
    std::string kind;  // as declared
    void (*change)(void*, const berth_object_change*) BERTH_NOEXCEPT;
    void* to;
  };

  static Services& Of(const berth_host* host) { return *static_cast<Services*>(host->impl); }
  static bool Expect(const berth_host* host, const char* service, uint32_t words);

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

  // columns
  static berth_code Bind(const berth_host* host, const berth_cycle* cycle, berth_str name,
                         uint32_t* index) noexcept;

  // metrics
  static berth_code Define(const berth_host* host, const berth_metric* metric,
                           uint32_t* index) noexcept;
  static void Observe(const berth_host* host, uint32_t index, const berth_str* label_values,
                      double value) noexcept;

  // objects
  static constexpr uint32_t kObjectWords = kEvent | kQueue | kCycle | kBind;
  bool IsDeclared(std::string_view kind) const;
  // Reports a kind that is not declared.
  bool Declared(std::string_view kind) const;
  std::string Used(std::string_view kind) const { return UsedKind(kind, not_served_); }
  void Report(const Watch& watch, uint32_t flags, const berth_object* old, const berth_object* now);
  // Reports all objects of the kind, as additions that existed or as deletions.
  void ReportAll(const Watch& watch, const std::string& kind, bool as_added);
  static const berth_object* GetObject(const berth_host* host, berth_str kind, berth_str ns,
                                       berth_str name) noexcept;
  static berth_code ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                                int32_t (*each)(void*, const berth_object*) noexcept,
                                void* to) noexcept;
  static berth_code IsServed(const berth_host* host, berth_str kind) noexcept;
  static berth_code WatchObjects(const berth_host* host, berth_str kind,
                                 void (*change)(void*, const berth_object_change*) noexcept,
                                 void* to) noexcept;
  static berth_object_ref* Retain(const berth_host* host, const berth_object* object) noexcept;
  static const berth_object* ViewOf(const berth_object_ref* ref) noexcept;
  static void Release(const berth_host* host, berth_object_ref* ref) noexcept;

  // values and selectors
  friend const berth_value* internal::ParseValue(const berth_host* host, berth_str json,
                                                 berth_status* status) noexcept;
  friend void internal::ReleaseValue(const berth_host* host, const berth_value* value) noexcept;
  template <class T, class Read>
  static berth_code ReadSelector(const berth_host* host, const T** out, berth_status* status,
                                 const Read& read);
  static berth_code FromValue(const berth_host* host, const berth_value* value,
                              const berth_selector** out, berth_status* status) noexcept;
  static berth_code FromMap(const berth_host* host, const berth_value* labels,
                            const berth_selector** out, berth_status* status) noexcept;
  static berth_code FromText(const berth_host* host, berth_str text, const berth_selector** out,
                             berth_status* status) noexcept;
  static berth_code FromNodeSelector(const berth_host* host, const berth_value* value,
                                     const berth_node_selector** out,
                                     berth_status* status) noexcept;
  static int32_t MatchesLabels(const berth_host* host, const berth_selector* selector,
                               berth_array labels) noexcept;
  static int32_t MatchesNode(const berth_host* host, const berth_node_selector* selector,
                             const berth_node* node) noexcept;
  void ReleaseSelector(const void* selector);

  // timer
  static constexpr uint32_t kTimerWords = kLoad | kEvent | kQueue | kCycle | kBind;
  static int64_t NowNs(const berth_host* host) noexcept { return Of(host).now_ns_; }
  static int64_t WallNs(const berth_host* host) noexcept { return kWallStartNs + Of(host).now_ns_; }
  static berth_code StartTimer(const berth_host* host, int64_t after_ns, void (*fire)(void*),
                               void* to, uint64_t* timer) noexcept;
  static berth_code CancelTimer(const berth_host* host, uint64_t timer) noexcept;

  // completion
  static void Complete(berth_done* done, berth_code code, berth_str reason) noexcept;

  static constexpr uint32_t kLevel = BERTH_LOG_TRACE;
  static constexpr int64_t kWallStartNs = 1'767'225'600'000'000'000;  // 2026-01-01
  static constexpr berth_log kLog{sizeof(berth_log), 0, &kLevel, &Log};
  static constexpr berth_strings kStrings{sizeof(berth_strings), 0, &Intern, &Find, &Text};
  static constexpr berth_columns kColumns{sizeof(berth_columns), 0, &Bind};
  static constexpr berth_metrics kMetrics{sizeof(berth_metrics), 0, &Define, &Observe};
  static constexpr berth_objects kObjects{
      sizeof(berth_objects), 0,       &GetObject, &ListObjects, &IsServed,
      &WatchObjects,         &Retain, &ViewOf,    &Release};
  static constexpr berth_selectors kSelectors{
      sizeof(berth_selectors),
      0,
      &FromValue,
      &FromMap,
      &FromText,
      &FromNodeSelector,
      &MatchesLabels,
      &MatchesNode,
      [](const berth_host* host, const berth_selector* selector) noexcept {
        Of(host).ReleaseSelector(selector);
      },
      [](const berth_host* host, const berth_node_selector* selector) noexcept {
        Of(host).ReleaseSelector(selector);
      }};
  static constexpr berth_timer kTimer{sizeof(berth_timer), 0,           &NowNs, &WallNs,
                                      &StartTimer,         &CancelTimer};
  static constexpr berth_completion kCompletion{sizeof(berth_completion), 0, &Complete};
  static constexpr std::pair<const char*, const void*> kOwn[] = {
      {BERTH_SERVICE_LOG, &kLog},
      {BERTH_SERVICE_STRINGS, &kStrings},
      {BERTH_SERVICE_COLUMNS, &kColumns},
      {BERTH_SERVICE_VALUES, &internal::kValues},
      {BERTH_SERVICE_METRICS, &kMetrics},
      {BERTH_SERVICE_OBJECTS, &kObjects},
      {BERTH_SERVICE_SELECTORS, &kSelectors},
      {BERTH_SERVICE_TIMER, &kTimer},
      {BERTH_SERVICE_COMPLETION, &kCompletion}};

  Reporter& reporter_;
  Ids& ids_;
  berth_host host_{};
  const std::map<std::string, const void*>* scripted_ = nullptr;
  const char* const* kinds_ = nullptr;

  std::mutex mutex_;  // log_, faults_, metrics_, refs_, values_, selectors_
  std::vector<LogLine> log_;
  std::vector<std::string> faults_;
  std::map<std::string, Metric> metrics_;
  std::vector<Metric*> metric_order_;
  std::set<ObjectHandle*> refs_;
  std::map<const berth_value*, std::unique_ptr<ValueSpec>> values_;  // from parse
  std::map<const void*, std::unique_ptr<internal::ViewMemory>> selectors_;

  std::vector<ObjectHandle> objects_;
  std::set<std::string> not_served_;
  std::vector<Watch> watches_;
  std::vector<Timer> timers_;
  uint64_t last_timer_ = 0;
  std::atomic<int64_t> now_ns_{0};
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_SERVICES_H_
