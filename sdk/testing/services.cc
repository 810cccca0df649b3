#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/testing/answer.h>
#include <berth/testing/call.h>
#include <berth/testing/ids.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/report.h>
#include <berth/testing/scheduling_services.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

Services::Services(Reporter* reporter, Ids* ids)
    : reporter_(*reporter), ids_(*ids), scheduling_(reporter) {
  host_.struct_size = sizeof host_;
  host_.abi_major = BERTH_ABI_MAJOR;
  host_.abi_minor = BERTH_ABI_MINOR;
  host_.impl = this;
  host_.name = ToAbi("berth::testing");
  host_.version = ToAbi("1");
  host_.get_service = &GetService;
  host_.fault = &NoteFault;
}

Services::~Services() {
  if (!refs_.empty()) {
    reporter_.Fail(Check::kLeaks,
                   "keeps " + std::to_string(refs_.size()) + " retained objects after destroy");
  }
  for (const ObjectHandle* ref : refs_) delete ref;
}

void Services::Advance(int64_t ns) {
  const int64_t until = now_ns_ + ns;
  while (true) {
    const auto due =
        std::min_element(timers_.begin(), timers_.end(),
                         [](const auto& a, const auto& b) { return a.due_ns < b.due_ns; });
    if (due == timers_.end() || due->due_ns > until) break;
    const Timer timer = *due;
    timers_.erase(due);
    now_ns_ = std::max<int64_t>(now_ns_, timer.due_ns);
    const CallScope scope(&reporter_, "a timer", kEvent);
    timer.fire(timer.to);
  }
  now_ns_ = until;
}

void Services::ReplayObjects() {
  for (const Watch& watch : watches_) {
    for (const ObjectHandle& object : objects_) {
      if (object.spec().kind != watch.kind) continue;
      const CallScope scope(&reporter_, "an object's watcher", kEvent);
      watch.change(watch.to, nullptr, object.get());
    }
  }
}

void Services::ChangeObject(const ObjectHandle* old, const ObjectHandle* now) {
  std::erase_if(objects_,
                [old](const ObjectHandle& o) { return old != nullptr && o.get() == old->get(); });
  if (now != nullptr) objects_.push_back(*now);
  const std::string& kind = (now != nullptr ? now : old)->spec().kind;
  const auto watchers = watches_;
  for (const Watch& watch : watchers) {
    if (watch.kind != kind) continue;
    const CallScope scope(&reporter_, "an object's watcher", kEvent);
    watch.change(watch.to, old != nullptr ? old->get() : nullptr,
                 now != nullptr ? now->get() : nullptr);
  }
}

const ObjectHandle* Services::FindObject(std::string_view kind, std::string_view ns,
                                         std::string_view name) const {
  for (const ObjectHandle& object : objects_) {
    const ObjectSpec& spec = object.spec();
    if (spec.kind == kind && spec.ns == ns && spec.name == name) return &object;
  }
  return nullptr;
}

bool Services::Expect(const berth_host* host, const char* service, uint32_t words) {
  return ExpectWord(Of(host).reporter_, service, words);
}

berth_code Services::GetService(const berth_host* host, const char* id,
                                const void** service) noexcept {
  if (!Expect(host, "get_service", kLoad)) return BERTH_BAD_ARGUMENT;
  const Services& self = Of(host);
  if (self.scripted_ != nullptr) {
    if (const auto found = self.scripted_->find(id); found != self.scripted_->end()) {
      return *service = found->second, BERTH_SUCCESS;
    }
  }
  for (const auto& [name, own] : kOwn) {
    if (std::strcmp(id, name) == 0) return *service = own, BERTH_SUCCESS;
  }
  if (const void* found = SchedulingServices::Find(id)) return *service = found, BERTH_SUCCESS;
  if (std::strcmp(id, BERTH_SERVICE_API) == 0) return BERTH_UNSUPPORTED;
  return BERTH_NOT_FOUND;
}

void Services::NoteFault(const berth_host* host, berth_str what) noexcept {
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  self.faults_.emplace_back(FromAbi(what));
}

void Services::Log(const berth_host* host, uint32_t level, berth_str message,
                   const berth_str_pair* pairs, uint64_t count) noexcept {
  Services& self = Of(host);
  LogLine line{level, std::string(FromAbi(message)), {}};
  for (uint64_t i = 0; i < count; ++i) {
    line.pairs[std::string(FromAbi(pairs[i].key))] = FromAbi(pairs[i].value);
  }
  const std::lock_guard lock(self.mutex_);
  self.log_.push_back(std::move(line));
}

berth_id Services::Intern(const berth_host* host, berth_str text) noexcept {
  return Of(host).ids_.Intern(FromAbi(text));
}

berth_id Services::Find(const berth_host* host, berth_str text) noexcept {
  return Of(host).ids_.Find(FromAbi(text));
}

berth_str Services::Text(const berth_host* host, berth_id id) noexcept {
  return ToAbi(Of(host).ids_.Text(id));
}

berth_code Services::Bind(const berth_host* host, const berth_cycle* cycle, berth_str name,
                          uint32_t* index) noexcept {
  if (!Expect(host, "columns.bind", kCycle)) return BERTH_CONFLICT;
  const std::string_view point = CallScope::current()->point();
  if (point != "PreFilter" && point != "PreScore") {
    Of(host).reporter_.Fail(Check::kThreads,
                            "calls columns.bind from " + std::string(point) +
                                ", but it may be called only from PreFilter and PreScore");
    return BERTH_CONFLICT;
  }
  if (ColumnType(FromAbi(name)) == 0) return BERTH_NOT_FOUND;
  auto& columns = static_cast<ColumnBinder*>(const_cast<void*>(cycle->host))->columns;
  const auto found = std::find_if(columns.begin(), columns.end(), [name](const ColumnName& column) {
    return column.name == FromAbi(name);
  });
  *index = static_cast<uint32_t>(found - columns.begin());
  if (found == columns.end()) columns.push_back({std::string(FromAbi(name)), false});
  return BERTH_SUCCESS;
}

berth_code Services::Define(const berth_host* host, const berth_metric* metric,
                            uint32_t* index) noexcept {
  if (!Expect(host, "metrics.define", kLoad)) return BERTH_BAD_ARGUMENT;
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  const auto [at, fresh] = self.metrics_.try_emplace(std::string(FromAbi(metric->name)));
  if (!fresh) return BERTH_CONFLICT;
  at->second.kind = metric->kind;
  at->second.help = FromAbi(metric->help);
  at->second.buckets.assign(metric->buckets, metric->buckets + metric->n_buckets);
  for (uint64_t i = 0; i < metric->n_labels; ++i)
    at->second.label_names.emplace_back(FromAbi(metric->label_names[i]));
  self.metric_order_.push_back(&at->second);
  *index = static_cast<uint32_t>(self.metric_order_.size() - 1);
  return BERTH_SUCCESS;
}

void Services::Observe(const berth_host* host, uint32_t index, const berth_str* label_values,
                       double value) noexcept {
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  if (index >= self.metric_order_.size()) {
    self.reporter_.Fail(Check::kShape,
                        "observes metric " + std::to_string(index) + ", which it did not define");
    return;
  }
  Metric& metric = *self.metric_order_[index];
  std::vector<std::string> labels;
  for (size_t i = 0; i < metric.label_names.size(); ++i)
    labels.emplace_back(FromAbi(label_values[i]));
  metric.observations.emplace_back(std::move(labels), value);
}

bool Services::Declared(std::string_view kind) const {
  for (const char* const* at = kinds_; at != nullptr && *at != nullptr; ++at) {
    if (kind == *at) return true;
  }
  reporter_.Fail(Check::kShape, "asks for objects of kind " + std::string(kind) +
                                    ", which its berth_plugin_info.kinds does not name");
  return false;
}

const berth_object* Services::GetObject(const berth_host* host, berth_str kind, berth_str ns,
                                        berth_str name) noexcept {
  if (!Expect(host, "objects.get", kObjectWords) || !Of(host).Declared(FromAbi(kind)))
    return nullptr;
  const auto* found = Of(host).FindObject(FromAbi(kind), FromAbi(ns), FromAbi(name));
  return found != nullptr ? found->get() : nullptr;
}

berth_code Services::ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                                 int32_t (*each)(void*, const berth_object*), void* to) noexcept {
  if (!Expect(host, "objects.list", kObjectWords) || !Of(host).Declared(FromAbi(kind)))
    return BERTH_NOT_FOUND;
  std::vector<ObjectHandle> sorted = Of(host).objects_;
  std::sort(sorted.begin(), sorted.end(), [](const ObjectHandle& a, const ObjectHandle& b) {
    return std::pair(a.spec().ns, a.spec().name) < std::pair(b.spec().ns, b.spec().name);
  });
  for (const ObjectHandle& object : sorted) {
    if (object.spec().kind != FromAbi(kind)) continue;
    if (ns.len != 0 && object.spec().ns != FromAbi(ns)) continue;
    if (each(to, object.get()) == 0) break;
  }
  return BERTH_SUCCESS;
}

berth_code Services::WatchObjects(const berth_host* host, berth_str kind,
                                  void (*change)(void*, const berth_object*, const berth_object*),
                                  void* to) noexcept {
  if (!Expect(host, "objects.watch", kLoad) || !Of(host).Declared(FromAbi(kind))) {
    return BERTH_NOT_FOUND;
  }
  Of(host).watches_.push_back({std::string(FromAbi(kind)), change, to});
  return BERTH_SUCCESS;
}

berth_object_ref* Services::Retain(const berth_host* host, const berth_object* object) noexcept {
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  for (const ObjectHandle& known : self.objects_) {
    if (known.get() != object) continue;
    auto* ref = new ObjectHandle(known);
    self.refs_.insert(ref);
    return reinterpret_cast<berth_object_ref*>(ref);
  }
  self.reporter_.Fail(Check::kShape, "retains an object that the host does not hold");
  return nullptr;
}

const berth_object* Services::ViewOf(const berth_object_ref* ref) noexcept {
  return reinterpret_cast<const ObjectHandle*>(ref)->get();
}

void Services::Release(const berth_host* host, berth_object_ref* ref) noexcept {
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  auto* handle = reinterpret_cast<ObjectHandle*>(ref);
  if (self.refs_.erase(handle) == 0) {
    self.reporter_.Fail(Check::kShape, "releases a reference that it does not hold");
    return;
  }
  delete handle;
}

berth_code Services::StartTimer(const berth_host* host, int64_t after_ns, void (*fire)(void*),
                                void* to, uint64_t* timer) noexcept {
  if (!Expect(host, "timer.start", kTimerWords)) return BERTH_BAD_ARGUMENT;
  Services& self = Of(host);
  self.timers_.push_back({++self.last_timer_, self.now_ns_ + after_ns, fire, to});
  *timer = self.last_timer_;
  return BERTH_SUCCESS;
}

berth_code Services::CancelTimer(const berth_host* host, uint64_t timer) noexcept {
  if (!Expect(host, "timer.cancel", kTimerWords)) return BERTH_BAD_ARGUMENT;
  const auto gone =
      std::erase_if(Of(host).timers_, [timer](const Timer& t) { return t.id == timer; });
  return gone != 0 ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

void Services::Complete(berth_done* done, berth_code code, berth_str reason) noexcept {
  auto& completion = *reinterpret_cast<Completion*>(done);
  const std::lock_guard lock(completion.mutex);
  if (completion.completed) {
    completion.reporter->Fail(Check::kShape, "completes a call twice");
    return;
  }
  completion.completed = true;
  completion.answer = MakeAnswer(code);
  if (reason.len != 0) completion.answer.reasons.emplace_back(FromAbi(reason));
}

}  // namespace berth::testing
