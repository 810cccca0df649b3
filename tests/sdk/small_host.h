// A minimal host for one plugin. It records the calls of the plugin and makes no calls itself.
#ifndef BERTH_TESTS_SDK_SMALL_HOST_H_
#define BERTH_TESTS_SDK_SMALL_HOST_H_

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/plugin.h>

namespace berth::testing {

// A berth_status that records what is added to it.
class RecordedStatus {
 public:
  RecordedStatus() : status_{sizeof(berth_status), 0, this, &AddReason, &AddArgument} {}
  RecordedStatus(const RecordedStatus&) = delete;
  RecordedStatus& operator=(const RecordedStatus&) = delete;
  berth_status* abi() { return &status_; }
  std::vector<std::string> texts;

 private:
  static void AddReason(berth_status* self, berth_str text) noexcept {
    static_cast<RecordedStatus*>(self->impl)->texts.emplace_back(Str(text));
  }
  static void AddArgument(berth_status* self, berth_str path, berth_str text) noexcept {
    static_cast<RecordedStatus*>(self->impl)
        ->texts.push_back(std::string(Str(path)) + ": " + std::string(Str(text)));
  }
  berth_status status_;
};

struct RecordedCompletion {
  std::vector<std::pair<berth_code, std::string>> answers;
  // The id is the address of this object.
  berth_done abi() { return {nullptr, reinterpret_cast<uint64_t>(this)}; }
};

// Ids are indices into a list of texts; 0 is "absent".
class SmallHost {
 public:
  SmallHost() {
    host_ = {sizeof(berth_host),
             BERTH_ABI_MAJOR,
             BERTH_ABI_MINOR,
             this,
             Str(std::string_view("small")),
             Str(std::string_view("1")),
             &GetService,
             &NoteFault,
             {1, 2}};
  }
  SmallHost(const SmallHost&) = delete;
  SmallHost& operator=(const SmallHost&) = delete;

  const berth_host* abi() const { return &host_; }
  berth_id Id(std::string_view text) {
    const auto found = std::find(texts.begin(), texts.end(), text);
    if (found == texts.end()) return texts.emplace_back(text), static_cast<berth_id>(texts.size());
    return static_cast<berth_id>(found - texts.begin() + 1);
  }

  // Calls the watcher.
  void Change(const berth_object* old, const berth_object* now) const {
    const berth_object_change change = {
        sizeof(change), 0, (now != nullptr ? now : old)->kind, 0, old, now};
    changed(changed_to, &change);
  }

  std::vector<std::string> texts;
  std::vector<std::string> log;
  std::vector<std::string> faults;
  std::vector<std::string> bound_columns;     // by columns.bind, after the plugin's own columns
  std::vector<std::string> missing_services;  // not served
  std::vector<std::string> requests;          // to the API server
  uint32_t own_columns = 0;
  uint32_t level = BERTH_LOG_TRACE;
  berth_code api_code = BERTH_SUCCESS;
  berth_done binding_done = {};
  berth_api_answer answer = nullptr;
  void* answer_to = nullptr;
  void (*fire)(void* to) noexcept = nullptr;
  void* fire_to = nullptr;
  uint32_t timers_cancelled = 0;
  berth_code hold_code = BERTH_SUCCESS;
  uint64_t last_hold = 0;
  std::vector<uint64_t> released_holds;
  std::vector<const berth_object*> objects;
  std::vector<std::string> look_ups;  // "get v1/X <name>", "list v1/X".
  void (*changed)(void* to, const berth_object_change* change) noexcept = nullptr;
  void* changed_to = nullptr;
  std::multiset<std::pair<uint32_t, const void*>> retained;  // kind, object
  const void* no_object = nullptr;                           // what refs.retain refuses
  std::vector<berth_id> released;
  std::vector<std::pair<uint64_t, double>> observed;  // series, value
  berth_code series_code = BERTH_SUCCESS;
  std::vector<std::pair<void (*)(void* to, berth_code code) noexcept, void*>> posted;
  berth_code post_code = BERTH_SUCCESS;
  bool runs_posts_at_once = false;           // before post returns
  std::vector<const void*> released_values;  // and selectors
  uint64_t randoms = 0;

 private:
  static SmallHost& Of(const berth_host* host) { return *static_cast<SmallHost*>(host->impl); }
  static berth_code GetService(const berth_host* host, const char* id,
                               const void** service) noexcept;
  static void NoteFault(const berth_host* host, berth_str what) noexcept {
    Of(host).faults.emplace_back(Str(what));
  }

  berth_host host_;
};

namespace small {

inline SmallHost& Of(const berth_host* host) { return *static_cast<SmallHost*>(host->impl); }

inline void Log(const berth_host* host, uint32_t level, berth_str message,
                const berth_str_pair* pairs, uint64_t count) noexcept {
  std::string line = std::to_string(level) + " " + std::string(Str(message));
  for (uint64_t i = 0; i < count; ++i) {
    line += " " + std::string(Str(pairs[i].key)) + "=" + std::string(Str(pairs[i].value));
  }
  Of(host).log.push_back(line);
}
inline berth_id Intern(const berth_host* host, berth_str text) noexcept {
  return Of(host).Id(Str(text));
}
inline void ReleaseId(const berth_host* host, berth_id id) noexcept {
  Of(host).released.push_back(id);
}
inline berth_id Find(const berth_host* host, berth_str text) noexcept {
  const auto& texts = Of(host).texts;
  const auto found = std::find(texts.begin(), texts.end(), Str(text));
  return found == texts.end() ? 0 : static_cast<berth_id>(found - texts.begin() + 1);
}
inline berth_str Text(const berth_host* host, berth_id id) noexcept {
  return Str(std::string_view(Of(host).texts[id - 1]));
}
// Returns BERTH_TYPE_*; 0 if the host has no such column.
inline uint32_t ColumnType(std::string_view name) {
  if (name.find("unknown") != std::string_view::npos) return 0;
  if (name.starts_with("label:")) return BERTH_TYPE_ID;
  if (name.starts_with("annotation:")) return BERTH_TYPE_STR;
  if (name.starts_with("object:")) return BERTH_TYPE_OBJECT;
  if (name == "taints") return BERTH_TYPE_ARRAY;
  if (name == "taints.hard") return BERTH_TYPE_U32;
  return name == "unschedulable" ? BERTH_TYPE_U8 : BERTH_TYPE_I64;
}
inline berth_code BindColumn(const berth_host* host, const berth_cycle* /*cycle*/,
                             const berth_column_request* request, uint32_t* index) noexcept {
  if (request->struct_size != sizeof(*request) || request->flags != 0) return BERTH_BUG;
  const uint32_t type = ColumnType(request->name);
  if (type == 0) return BERTH_NOT_FOUND;
  if (type != request->type) return BERTH_BAD_ARGUMENT;
  auto& bound = Of(host).bound_columns;
  const auto found = std::find(bound.begin(), bound.end(), request->name);
  *index = Of(host).own_columns + static_cast<uint32_t>(found - bound.begin());
  if (found == bound.end()) bound.emplace_back(request->name);
  return BERTH_SUCCESS;
}
inline void Complete(berth_done done, const berth_outcome* outcome) noexcept {
  assert(outcome->struct_size == sizeof(*outcome));
  std::string reasons;
  for (uint32_t i = 0; i < outcome->reasons.count; ++i) {
    const berth_str reason = *BERTH_AT(berth_str, outcome->reasons, i);
    reasons += (i == 0 ? "" : ", ") + std::string(Str(reason));
  }
  reinterpret_cast<RecordedCompletion*>(done.id)->answers.emplace_back(outcome->code, reasons);
}
inline berth_code ApiBind(const berth_host* host, const berth_binding* binding,
                          berth_done done) noexcept {
  if (Of(host).api_code != BERTH_SUCCESS) return Of(host).api_code;
  Of(host).requests.push_back("bind " + std::string(Str(binding->node_name)));
  Of(host).binding_done = done;
  return BERTH_SUCCESS;
}
inline berth_code Send(SmallHost& host, std::string request, berth_api_answer answer, void* to) {
  if (host.api_code != BERTH_SUCCESS) return host.api_code;
  host.requests.push_back(std::move(request));
  host.answer = answer;
  host.answer_to = to;
  return BERTH_SUCCESS;
}
inline berth_code Patch(const berth_host* host, const berth_status_patch* patch,
                        berth_api_answer answer, void* to) noexcept {
  if (patch->struct_size != sizeof(*patch) || patch->flags != 0) return BERTH_BAD_ARGUMENT;
  return Send(Of(host), "patch " + std::string(Str(patch->patch)), answer, to);
}
inline berth_code Evict(const berth_host* host, const berth_eviction* eviction,
                        berth_api_answer answer, void* to) noexcept {
  return Send(Of(host),
              "evict " + std::string(Str(eviction->pod->meta->name)) + " " +
                  std::string(Str(eviction->message)),
              answer, to);
}
inline berth_code PutEvent(const berth_host* host, const berth_api_event* event) noexcept {
  std::string text = "event " + std::to_string(event->regarding->kind);
  if (event->related != nullptr) text += " " + std::to_string(event->related->kind);
  for (const berth_str part : {event->type, event->reason, event->action, event->note}) {
    text += " " + std::string(Str(part));
  }
  Of(host).requests.push_back(text);
  return BERTH_SUCCESS;
}
inline berth_code Request(const berth_host* host, const berth_api_request* request,
                          berth_api_answer answer, void* to) noexcept {
  std::string text;
  for (const berth_str part :
       {request->verb, request->path, request->content_type, request->body}) {
    text += std::string(Str(part)) + " ";
  }
  return Send(Of(host), text + std::to_string(request->timeout_ns), answer, to);
}
inline berth_code Post(const berth_host* host, void (*run)(void* to, berth_code code) noexcept,
                       void* to) noexcept {
  if (Of(host).post_code != BERTH_SUCCESS) return Of(host).post_code;
  Of(host).posted.emplace_back(run, to);
  if (Of(host).runs_posts_at_once) run(to, BERTH_SUCCESS);
  return BERTH_SUCCESS;
}
inline uint64_t NextRandom(const berth_host* host, const berth_cycle* cycle) noexcept {
  return 100 * cycle->id + Of(host).randoms++;
}
inline int64_t Now(const berth_host* /*host*/) noexcept { return 42; }
inline int64_t WallNow(const berth_host* /*host*/) noexcept { return 43; }
inline berth_code StartTimer(const berth_host* host, int64_t /*after_ns*/,
                             void (*fire)(void* to) noexcept, void* to, uint64_t* timer) noexcept {
  Of(host).fire = fire;
  Of(host).fire_to = to;
  *timer = 7;
  return BERTH_SUCCESS;
}
inline berth_code CancelTimer(const berth_host* host, uint64_t /*timer*/) noexcept {
  ++Of(host).timers_cancelled;
  return BERTH_SUCCESS;
}
inline berth_code Hold(const berth_host* host, uint64_t* hold) noexcept {
  if (Of(host).hold_code != BERTH_SUCCESS) return Of(host).hold_code;
  *hold = ++Of(host).last_hold;
  return BERTH_SUCCESS;
}
inline void ReleaseHold(const berth_host* host, uint64_t hold) noexcept {
  Of(host).released_holds.push_back(hold);
}
// The code of calls about a kind, whose name states it.
inline berth_code CodeOfKind(berth_str kind) {
  if (Str(kind) == "v1/Undeclared") return BERTH_BAD_ARGUMENT;
  if (Str(kind) == "v1/WrongWord") return BERTH_CONFLICT;
  if (Str(kind) == "v1/Failed") return BERTH_ERROR;
  return Str(kind) == "v1/NotServed" ? BERTH_UNSUPPORTED : BERTH_SUCCESS;
}
inline berth_code GetObject(const berth_host* host, berth_str kind, berth_str /*ns*/,
                            berth_str name, const berth_object** object) noexcept {
  *object = nullptr;
  Of(host).look_ups.push_back("get " + std::string(Str(kind)) + " " + std::string(Str(name)));
  if (const berth_code code = CodeOfKind(kind); code != BERTH_SUCCESS) return code;
  for (const berth_object* one : Of(host).objects) {
    if (Str(one->meta->name) == Str(name)) return *object = one, BERTH_SUCCESS;
  }
  return BERTH_NOT_FOUND;
}
inline berth_code ListObjects(const berth_host* host, berth_str kind, berth_str /*ns*/,
                              int32_t (*each)(void* to, const berth_object*) noexcept,
                              void* to) noexcept {
  Of(host).look_ups.push_back("list " + std::string(Str(kind)));
  if (const berth_code code = CodeOfKind(kind); code != BERTH_SUCCESS) return code;
  for (const berth_object* object : Of(host).objects) {
    if (each(to, object) == 0) break;
  }
  return BERTH_SUCCESS;
}
inline berth_code IsServed(const berth_host* /*host*/, berth_str kind) noexcept {
  return CodeOfKind(kind);
}
inline berth_code WatchObjects(const berth_host* host, berth_str /*kind*/,
                               void (*change)(void* to, const berth_object_change* change) noexcept,
                               void* to) noexcept {
  Of(host).changed = change;
  Of(host).changed_to = to;
  return BERTH_SUCCESS;
}
inline berth_code Retain(const berth_host* host, berth_tagged object) noexcept {
  if (object.object == Of(host).no_object) return BERTH_BAD_ARGUMENT;
  Of(host).retained.insert({object.kind, object.object});
  return BERTH_SUCCESS;
}
inline void Release(const berth_host* host, berth_tagged object) noexcept {
  auto& retained = Of(host).retained;
  const auto found = retained.find({object.kind, object.object});
  if (found != retained.end()) retained.erase(found);
}
inline berth_code DefineMetric(const berth_host* /*host*/, const berth_metric* metric,
                               uint32_t* index) noexcept {
  *index = metric->kind;
  return BERTH_SUCCESS;
}
inline berth_code SeriesOf(const berth_host* host, uint32_t metric, const berth_str* /*labels*/,
                           uint64_t* series) noexcept {
  *series = 10 + metric;
  return Of(host).series_code;
}
template <class T>
inline void ReleaseOwned(const berth_host* host, const T* owned) noexcept {
  Of(host).released_values.push_back(owned);
}
inline void Observe(const berth_host* host, uint64_t series, double value) noexcept {
  Of(host).observed.emplace_back(series, value);
}

}  // namespace small

inline berth_code SmallHost::GetService(const berth_host* host, const char* id,
                                        const void** service) noexcept {
  static const berth_strings strings = {
      sizeof(strings), 0, &small::Intern, &small::Find, &small::Text, &small::ReleaseId};
  static const berth_refs refs = {sizeof(refs), 0, &small::Retain, &small::Release};
  static const berth_random random = {sizeof(random), 0, &small::NextRandom};
  static const berth_columns columns = {sizeof(columns), 0, &small::BindColumn};
  static const berth_completion completion = {sizeof(completion), 0, &small::Complete};
  static const berth_api api = {
      sizeof(api),    0, &small::ApiBind, &small::Patch, &small::Evict, &small::PutEvent,
      &small::Request};
  static const berth_timer timer = {sizeof(timer),      0,
                                    &small::Now,        &small::WallNow,
                                    &small::StartTimer, &small::CancelTimer,
                                    &small::Post,       &small::Hold,
                                    &small::ReleaseHold};
  static const berth_objects objects = {sizeof(objects),   0,
                                        &small::GetObject, &small::ListObjects,
                                        &small::IsServed,  &small::WatchObjects};
  static const berth_metrics metrics = {sizeof(metrics), 0, &small::DefineMetric, &small::SeriesOf,
                                        &small::Observe};
  static const berth_values values = [] {
    berth_values table = {};
    table.struct_size = sizeof(table);
    table.release = &small::ReleaseOwned<berth_value>;
    return table;
  }();
  static const berth_selectors selectors = [] {
    berth_selectors table = {};
    table.struct_size = sizeof(table);
    table.release = &small::ReleaseOwned<berth_selector>;
    table.release_node = &small::ReleaseOwned<berth_node_selector>;
    return table;
  }();
  static thread_local berth_log log = {};
  SmallHost& self = Of(host);
  log = {sizeof(log), 0, &self.level, &small::Log};
  const std::pair<std::string_view, const void*> served[] = {
      {BERTH_SERVICE_LOG, &log},         {BERTH_SERVICE_STRINGS, &strings},
      {BERTH_SERVICE_COLUMNS, &columns}, {BERTH_SERVICE_COMPLETION, &completion},
      {BERTH_SERVICE_API, &api},         {BERTH_SERVICE_TIMER, &timer},
      {BERTH_SERVICE_OBJECTS, &objects}, {BERTH_SERVICE_METRICS, &metrics},
      {BERTH_SERVICE_REFS, &refs},       {BERTH_SERVICE_RANDOM, &random},
      {BERTH_SERVICE_VALUES, &values},   {BERTH_SERVICE_SELECTORS, &selectors}};
  const auto& missing = self.missing_services;
  if (std::find(missing.begin(), missing.end(), id) != missing.end()) return BERTH_UNSUPPORTED;
  for (const auto& [name, found] : served) {
    if (name == id) return *service = found, BERTH_SUCCESS;
  }
  return BERTH_NOT_FOUND;
}

// One instance of the first plugin of an entry.
class SmallInstance {
 public:
  SmallInstance(const berth_entry& entry, SmallHost& host) : info_(entry.plugins[0]) {
    const berth_str points[] = {Str(std::string_view(BERTH_POINT_PRE_FILTER)),
                                Str(std::string_view(BERTH_POINT_FILTER))};
    berth_instance_request request = {};
    request.struct_size = sizeof(request);
    request.name = Str(std::string_view(info_->name));
    request.profile = Str(std::string_view("default-scheduler"));
    request.points = {points, 2, sizeof(points[0])};
    request.deadline_ns = 5'000'000'000;
    request.emulated_version = BERTH_KUBE_VERSION(1, 37);
    code = entry.create(host.abi(), &request, &plugin_, recorded.abi());
  }
  SmallInstance(const SmallInstance&) = delete;
  SmallInstance& operator=(const SmallInstance&) = delete;
  ~SmallInstance() {
    if (plugin_ != nullptr) plugin_->destroy(plugin_);
  }

  berth_plugin& abi() { return *plugin_; }
  void* self() { return plugin_->self; }
  const berth_plugin_info& info() const { return *info_; }
  template <class T>
  const T* Point(const char* id) {
    return static_cast<const T*>(plugin_->get_point(plugin_, id));
  }

  berth_code code = BERTH_SUCCESS;
  RecordedStatus recorded;

 private:
  const berth_plugin_info* info_;
  berth_plugin* plugin_ = nullptr;
};

// An empty pod, a cycle for it, and a slot with a State.
template <class State>
struct SmallCycle {
  SmallCycle() {
    meta.struct_size = sizeof(meta);
    meta.name = Str(std::string_view("p"));
    meta.uid = Str(std::string_view("uid-p"));
    pod.struct_size = sizeof(pod);
    pod.meta = &meta;
    pod.request = &request;
    pod.affinity = &affinity;
    cycle = {sizeof(cycle), 0, 1, &pod, slots, &cancel, 0, nullptr};
    state.Emplace();
    binding = {
        sizeof(binding), 0, &pod, Str(std::string_view("a")), Str(std::string_view("uid-a")), slots,
        &cancel,         0, 0};
  }

  berth_meta meta = {};
  berth_resources request = {};
  berth_affinity affinity = {};
  berth_pod pod = {};
  ::berth::internal::StateSlot<State> state;  // has a State
  void* slots[1] = {&state};
  uint32_t cancel = 0;
  berth_cycle cycle = {};
  berth_binding binding = {};
};

}  // namespace berth::testing

#endif  // BERTH_TESTS_SDK_SMALL_HOST_H_
