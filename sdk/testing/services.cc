#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/selectors.h>
#include <berth/testing/argument.h>
#include <berth/testing/call.h>
#include <berth/testing/ids.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/parsed_data.h>
#include <berth/testing/part_hash.h>
#include <berth/testing/report.h>
#include <berth/testing/scheduling_services.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>
#include <berth/testing/views.h>

namespace berth::testing {

Services::Services(Reporter* reporter, Ids* ids)
    : reporter_(*reporter),
      ids_(*ids),
      metrics_(reporter),
      promises_(&host_, reporter),
      parsed_(reporter, ids),
      scheduling_(reporter) {
  host_.struct_size = sizeof host_;
  host_.abi_major = BERTH_ABI_MAJOR;
  host_.abi_minor = BERTH_ABI_MINOR;
  host_.impl = this;
  host_.name = ToAbi("berth::testing");
  host_.version = ToAbi("1");
  host_.get_service = &GetService;
  host_.fault = &NoteFault;
  host_.hash_key[0] = kHashKey[0];
  host_.hash_key[1] = kHashKey[1];
}

Services::~Services() {
  for (const auto& [id, count] : interned_) ids_.Release(id);
}

berth_code Services::DoLater(LaterKind kind, Later later) {
  const std::lock_guard lock(mutex_);
  if (closed_) return BERTH_CANCELLED;
  size_t& waiting = kind == LaterKind::kPost ? posts_ : requests_;
  if (kind != LaterKind::kFollowUp && waiting >= kMostWaiting) return BERTH_CONFLICT;
  ++waiting;
  later_.push_back({kind, std::move(later)});
  return BERTH_SUCCESS;
}

bool Services::DoWhatIsDue() {
  std::vector<Due> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(later_);
    posts_ = requests_ = 0;
  }
  std::stable_partition(due.begin(), due.end(),
                        [](const Due& one) { return one.kind != LaterKind::kRequest; });
  for (const Due& one : due) one.run(false);
  return !due.empty();
}

void Services::DoAllThatIsDue() {
  // A plugin that sends a request in each answer would not let time pass otherwise.
  constexpr int kMostRounds = 16;
  for (int round = 0; round < kMostRounds && DoWhatIsDue(); ++round) {
  }
}

void Services::Close() {
  std::vector<Due> rest;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    holds_.clear();
    rest.swap(later_);
  }
  timers_.clear();
  watches_.clear();
  std::stable_partition(rest.begin(), rest.end(),
                        [](const Due& one) { return one.kind == LaterKind::kPost; });
  for (const Due& one : rest) one.run(true);
}

bool Services::is_closed() {
  const std::lock_guard lock(mutex_);
  return closed_;
}

size_t Services::held_ids() {
  const std::lock_guard lock(mutex_);
  return interned_.size();
}

size_t Services::holds() {
  const std::lock_guard lock(mutex_);
  return holds_.size();
}

Holdings Services::holdings() {
  const std::lock_guard lock(mutex_);
  return {interned_.size(), held_.size(), parsed_.values(), parsed_.selectors()};
}

void Services::ForgetRecords() {
  {
    const std::lock_guard lock(mutex_);
    log_.clear();
  }
  metrics_.ForgetObservations();
  api_.ForgetRecords();
  http_.ForgetRecords();
  scheduling_.ForgetRecords();
}

void Services::Advance(int64_t ns) {
  DoAllThatIsDue();
  const int64_t until = now_ns_ + ns;
  while (!timers_.empty() && timers_.begin()->first.first <= until) {
    const auto [key, timer] = *timers_.begin();
    timers_.erase(timers_.begin());
    now_ns_ = std::max<int64_t>(now_ns_, key.first);
    {
      const CallScope scope(&reporter_, "a timer", kEvent);
      timer.fire(timer.to);
    }
    DoAllThatIsDue();
  }
  now_ns_ = until;
}

void Services::Report(const Watch& watch, uint32_t flags, const berth_object* old,
                      const berth_object* now) {
  const berth_object_change change = {
      sizeof(change), flags, (now != nullptr ? now : old)->kind, 0, old, now};
  const CallScope scope(&reporter_, "an object's watcher", kEvent);
  watch.change(watch.to, &change);
}

void Services::ReportAll(const Watch& watch, const std::string& kind, bool as_added) {
  for (const ObjectHandle& object : objects_) {
    if (object.spec().kind != kind) continue;
    Report(watch, as_added ? uint32_t{BERTH_OBJECT_FLAG_REPLAY} : 0,
           as_added ? nullptr : object.get(), as_added ? object.get() : nullptr);
  }
}

void Services::ReplayObjects() {
  for (const Watch& watch : watches_) ReportAll(watch, Used(watch.kind), true);
}

void Services::ChangeObject(const ObjectHandle* old, const ObjectHandle* now) {
  std::erase_if(objects_,
                [old](const ObjectHandle& o) { return old != nullptr && o.get() == old->get(); });
  if (now != nullptr) objects_.push_back(*now);
  const std::string& kind = (now != nullptr ? now : old)->spec().kind;
  const auto watchers = watches_;
  for (const Watch& watch : watchers) {
    if (Used(watch.kind) != kind) continue;
    Report(watch, 0, old != nullptr ? old->get() : nullptr, now != nullptr ? now->get() : nullptr);
  }
}

void Services::ChangeServed(std::set<std::string> not_served) {
  const std::set<std::string> before = std::exchange(not_served_, std::move(not_served));
  for (const Watch& watch : watches_) {
    const std::string old = UsedKind(watch.kind, before);
    const std::string now = Used(watch.kind);
    if (old == now) continue;
    ReportAll(watch, old, false);
    ReportAll(watch, now, true);
  }
}

bool Services::MayUseColumn(std::string_view column) const {
  const std::string_view kind = ObjectKindOf(column);
  return kind.empty() || IsDeclared(kind);
}

bool Services::Expect(const berth_host* host, const char* service, uint32_t words) {
  return ExpectWord(Of(host).reporter_, service, words);
}

berth_code Services::GetService(const berth_host* host, const char* id,
                                const void** service) noexcept {
  if (!Expect(host, "get_service", kLoad)) return BERTH_CONFLICT;
  const Services& self = Of(host);
  if (self.scripted_ != nullptr) {
    if (const auto found = self.scripted_->find(id); found != self.scripted_->end()) {
      *service = found->second;
      return found->second != nullptr ? BERTH_SUCCESS : BERTH_UNSUPPORTED;
    }
  }
  for (const auto& [name, own] : kOwn) {
    if (std::strcmp(id, name) == 0) return *service = own, BERTH_SUCCESS;
  }
  if (const void* found = SchedulingServices::Find(id)) return *service = found, BERTH_SUCCESS;
  return BERTH_NOT_FOUND;
}

void Services::NoteFault(const berth_host* host, berth_str what) noexcept {
  const CallScope* call = CallScope::current();
  const std::string where = call != nullptr ? call->point() : "a thread of the plugin";
  Of(host).reporter_.Fail(Check::kFaults,
                          where + " reports a fault: " + std::string(FromAbi(what)));
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
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  const berth_id id = self.ids_.Intern(FromAbi(text));
  if (self.interned_[id]++ != 0) self.ids_.Release(id);  // The instance is one use of the id.
  return id;
}

void Services::ReleaseId(const berth_host* host, berth_id id) noexcept {
  Services& self = Of(host);
  if (id == BERTH_ID_NONE) return;
  const std::lock_guard lock(self.mutex_);
  const auto found = self.interned_.find(id);
  if (found == self.interned_.end()) {
    const std::optional<std::string> dropped = self.ids_.DroppedText(id);
    const std::string text = dropped ? " of \"" + *dropped + "\"" : "";
    self.reporter_.Fail(Check::kShape,
                        "releases id " + std::to_string(id) + text + ", which it does not hold");
    return;
  }
  if (--found->second != 0) return;
  self.interned_.erase(found);
  self.ids_.Release(id);
}

void Services::ReportStale(const std::string& use, berth_id id) {
  const std::optional<std::string> dropped = ids_.DroppedText(id);
  reporter_.Fail(Check::kShape,
                 use + " id " + std::to_string(id) +
                     (dropped ? ", which was dropped; its text was \"" + *dropped + "\""
                              : ", which means no text"));
}

berth_code Services::Retain(const berth_host* host, berth_tagged object) noexcept {
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  std::shared_ptr<const void> owner = self.ids_.views().Find(object);
  if (owner == nullptr) {
    self.reporter_.Fail(Check::kShape, "retains something that is no object of the host");
    return BERTH_BAD_ARGUMENT;
  }
  Held& held = self.held_[object.object];
  held.owner = std::move(owner);
  held.kind = object.kind;
  ++held.count;
  return BERTH_SUCCESS;
}

void Services::Release(const berth_host* host, berth_tagged object) noexcept {
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  const auto found = self.held_.find(object.object);
  if (found == self.held_.end() || found->second.kind != object.kind) {
    self.reporter_.Fail(Check::kShape, "releases an object that it does not retain");
    return;
  }
  if (--found->second.count == 0) self.held_.erase(found);
}

berth_id Services::Find(const berth_host* host, berth_str text) noexcept {
  if (!Expect(host, "strings.find", kSchedulingThread)) return BERTH_ID_NONE;
  return Of(host).ids_.Find(FromAbi(text));
}

berth_str Services::Text(const berth_host* host, berth_id id) noexcept {
  Services& self = Of(host);
  if (id != BERTH_ID_NONE && !self.ids_.Knows(id)) self.ReportStale("asks for the text of", id);
  return ToAbi(self.ids_.Text(id));
}

berth_code Services::Bind(const berth_host* host, const berth_cycle* cycle,
                          const berth_column_request* request, uint32_t* index) noexcept {
  if (!Expect(host, "columns.bind", kCycle)) return BERTH_CONFLICT;
  Reporter& reporter = Of(host).reporter_;
  if (!ExpectPoint(reporter, "columns.bind", {"PreFilter", "PreScore"}) ||
      !ExpectCycle(reporter, "columns.bind", cycle)) {
    return BERTH_CONFLICT;
  }
  constexpr size_t kFirstSize = BERTH_TESTING_FIRST_SIZE(berth_column_request, reserved);
  if (!ExpectReadable(Of(host).reporter_, "columns.bind", *request, kFirstSize,
                      BERTH_COLUMN_OPTIONAL) ||
      request->name == nullptr) {
    return BERTH_BAD_ARGUMENT;
  }
  const std::string name = request->name;
  const bool optional = (request->flags & BERTH_COLUMN_OPTIONAL) != 0;
  const std::string_view kind = ObjectKindOf(name);
  const bool is_declared =
      kind.empty() || Of(host).IsDeclared(kind) || (!optional && Of(host).Declared(kind));
  const uint32_t type = is_declared ? ColumnType(name) : 0;
  if (type == 0 && !optional) return BERTH_NOT_FOUND;
  if (type != 0 && type != request->type) return BERTH_BAD_ARGUMENT;
  *index = static_cast<ColumnBinder*>(const_cast<void*>(cycle->host))
               ->Bind({name, optional, is_declared});
  return BERTH_SUCCESS;
}

bool Services::IsDeclared(std::string_view kind) const {
  for (const char* const* at = kinds_; at != nullptr && *at != nullptr; ++at) {
    if (kind == *at) return true;
  }
  return false;
}

bool Services::Declared(std::string_view kind) const {
  if (IsDeclared(kind)) return true;
  reporter_.Fail(Check::kShape, "asks for objects of kind " + std::string(kind) +
                                    ", which its berth_plugin_info.kinds does not name");
  return false;
}

berth_code Services::GetObject(const berth_host* host, berth_str kind, berth_str ns, berth_str name,
                               const berth_object** object) noexcept {
  *object = nullptr;
  if (!Expect(host, "objects.get", kObjectWords)) return BERTH_CONFLICT;
  if (!Of(host).Declared(FromAbi(kind))) return BERTH_BAD_ARGUMENT;
  const std::string used = Of(host).Used(FromAbi(kind));
  if (used.empty()) return BERTH_UNSUPPORTED;
  const auto* found = FindObject(Of(host).objects_, used, FromAbi(ns), FromAbi(name));
  if (found == nullptr) return BERTH_NOT_FOUND;
  *object = found->get();
  return BERTH_SUCCESS;
}

berth_code Services::ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                                 int32_t (*each)(void*, const berth_object*) noexcept,
                                 void* to) noexcept {
  if (!Expect(host, "objects.list", kObjectWords)) return BERTH_CONFLICT;
  if (!Of(host).Declared(FromAbi(kind))) return BERTH_BAD_ARGUMENT;
  const std::string used = Of(host).Used(FromAbi(kind));
  if (used.empty()) return BERTH_UNSUPPORTED;
  std::vector<ObjectHandle> sorted = Of(host).objects_;
  std::sort(sorted.begin(), sorted.end(), [](const ObjectHandle& a, const ObjectHandle& b) {
    return std::pair(a.spec().ns, a.spec().name) < std::pair(b.spec().ns, b.spec().name);
  });
  for (const ObjectHandle& object : sorted) {
    if (object.spec().kind != used) continue;
    if (ns.len != 0 && object.spec().ns != FromAbi(ns)) continue;
    if (each(to, object.get()) == 0) break;
  }
  return BERTH_SUCCESS;
}

berth_code Services::IsServed(const berth_host* host, berth_str kind) noexcept {
  if (!Expect(host, "objects.served", kObjectWords)) return BERTH_CONFLICT;
  if (!Of(host).Declared(FromAbi(kind))) return BERTH_BAD_ARGUMENT;
  return Of(host).Used(FromAbi(kind)).empty() ? BERTH_UNSUPPORTED : BERTH_SUCCESS;
}

berth_code Services::WatchObjects(const berth_host* host, berth_str kind,
                                  void (*change)(void*, const berth_object_change*) noexcept,
                                  void* to) noexcept {
  if (Of(host).is_closed()) return BERTH_CANCELLED;
  if (!Expect(host, "objects.watch", kLoad)) return BERTH_CONFLICT;
  if (!Of(host).Declared(FromAbi(kind))) return BERTH_BAD_ARGUMENT;
  if (change == nullptr) return BERTH_BAD_ARGUMENT;
  Of(host).watches_.push_back({std::string(FromAbi(kind)), change, to});
  return BERTH_SUCCESS;
}

berth_code Services::StartTimer(const berth_host* host, int64_t after_ns,
                                void (*fire)(void*) BERTH_NOEXCEPT, void* to,
                                uint64_t* timer) noexcept {
  Services& self = Of(host);
  if (self.is_closed()) return BERTH_CANCELLED;
  if (!Expect(host, "timer.start", kTimerWords)) return BERTH_CONFLICT;
  if (fire == nullptr) return BERTH_BAD_ARGUMENT;
  if (self.timers_.size() >= kMostWaiting) return BERTH_CONFLICT;
  const int64_t now = self.now_ns_;
  const int64_t after = std::clamp<int64_t>(after_ns, 0, INT64_MAX - now);
  self.timers_[{now + after, ++self.last_timer_}] = {fire, to};
  *timer = self.last_timer_;
  return BERTH_SUCCESS;
}

berth_code Services::CancelTimer(const berth_host* host, uint64_t timer) noexcept {
  if (!Expect(host, "timer.cancel", kTimerWords)) return BERTH_CONFLICT;
  const auto gone =
      std::erase_if(Of(host).timers_, [timer](const auto& t) { return t.first.second == timer; });
  return gone != 0 ? BERTH_SUCCESS : BERTH_NOT_FOUND;
}

berth_code Services::Post(const berth_host* host, void (*run)(void*, berth_code) BERTH_NOEXCEPT,
                          void* to) noexcept {
  Services& self = Of(host);
  if (run == nullptr) {
    self.reporter_.Fail(Check::kShape, "calls timer.post without a function");
    return BERTH_BAD_ARGUMENT;
  }
  return self.DoLater(LaterKind::kPost, [&self, run, to](bool cancelled) {
    const CallScope scope(&self.reporter_, "a posted function", kEvent);
    run(to, cancelled ? BERTH_CANCELLED : BERTH_SUCCESS);
  });
}

berth_code Services::Hold(const berth_host* host, uint64_t* hold) noexcept {
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  if (self.closed_) return BERTH_CANCELLED;
  if (self.holds_.size() >= kMostWaiting) return BERTH_CONFLICT;
  *hold = ++self.last_hold_;
  self.holds_.insert(*hold);
  return BERTH_SUCCESS;
}

void Services::ReleaseHold(const berth_host* host, uint64_t hold) noexcept {
  Services& self = Of(host);
  const std::lock_guard lock(self.mutex_);
  if (self.holds_.erase(hold) != 0 || self.closed_) return;
  self.reporter_.Fail(Check::kShape,
                      "releases hold " + std::to_string(hold) + ", which it does not have");
}

// SplitMix64, as in the host.
uint64_t Services::NextRandom(const berth_host* host, const berth_cycle* cycle) noexcept {
  if (!Expect(host, "random.next", kCycle)) return 0;
  if (!ExpectCycle(Of(host).reporter_, "random.next", cycle)) return 0;
  const auto& binder = *static_cast<const ColumnBinder*>(cycle->host);
  if (binder.owner != &Of(host)) {
    Of(host).reporter_.Fail(Check::kShape, "calls random.next with the cycle of another instance");
    return 0;
  }
  uint64_t mixed = *binder.random += 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

}  // namespace berth::testing
