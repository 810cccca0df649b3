#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>
#include <berth/selectors.h>
#include <berth/testing/answer.h>
#include <berth/testing/call.h>
#include <berth/testing/ids.h>
#include <berth/testing/object_spec.h>
#include <berth/testing/report.h>
#include <berth/testing/selector_reader.h>
#include <berth/testing/services.h>
#include <berth/testing/table.h>
#include <berth/testing/values.h>
#include <berth/testing/views.h>

namespace berth::testing {

Services::Services(Reporter* reporter, Ids* ids) : reporter_(*reporter), ids_(*ids) {
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
  if (!values_.empty()) {
    reporter_.Fail(Check::kLeaks,
                   "keeps " + std::to_string(values_.size()) + " parsed values after destroy");
  }
  if (!selectors_.empty()) {
    reporter_.Fail(Check::kLeaks,
                   "keeps " + std::to_string(selectors_.size()) + " selectors after destroy");
  }
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
    Report(watch, as_added ? uint32_t{BERTH_OBJECT_REPLAY} : 0, as_added ? nullptr : object.get(),
           as_added ? object.get() : nullptr);
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
  for (const char* known : {BERTH_SERVICE_WHATIF, BERTH_SERVICE_NOMINATOR, BERTH_SERVICE_ACTIVATE,
                            BERTH_SERVICE_WAITING, BERTH_SERVICE_API}) {
    if (std::strcmp(id, known) == 0) return BERTH_UNSUPPORTED;
  }
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
  if (const auto kind = ObjectKindOf(FromAbi(name)); !kind.empty() && !Of(host).Declared(kind)) {
    return BERTH_NOT_FOUND;
  }
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

const berth_object* Services::GetObject(const berth_host* host, berth_str kind, berth_str ns,
                                        berth_str name) noexcept {
  if (!Expect(host, "objects.get", kObjectWords) || !Of(host).Declared(FromAbi(kind)))
    return nullptr;
  const auto* found =
      FindObject(Of(host).objects_, Of(host).Used(FromAbi(kind)), FromAbi(ns), FromAbi(name));
  return found != nullptr ? found->get() : nullptr;
}

berth_code Services::ListObjects(const berth_host* host, berth_str kind, berth_str ns,
                                 int32_t (*each)(void*, const berth_object*) noexcept,
                                 void* to) noexcept {
  if (!Expect(host, "objects.list", kObjectWords) || !Of(host).Declared(FromAbi(kind)))
    return BERTH_NOT_FOUND;
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
  if (!Of(host).Declared(FromAbi(kind))) return BERTH_NOT_FOUND;
  return Of(host).Used(FromAbi(kind)).empty() ? BERTH_UNSUPPORTED : BERTH_SUCCESS;
}

berth_code Services::WatchObjects(const berth_host* host, berth_str kind,
                                  void (*change)(void*, const berth_object_change*) noexcept,
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

// ---- Values and selectors -----------------------------------------------------------------------

namespace {

void AddReason(berth_status* status, const std::string& why) {
  if (status != nullptr) status->add_reason(status, ToAbi(why));
}

}  // namespace

const berth_value* internal::ParseValue(const berth_host* host, berth_str json,
                                        berth_status* status) noexcept {
  Services& self = Services::Of(host);
  auto value = std::make_unique<ValueSpec>();
  if (const std::string why = TryReadJson(FromAbi(json), value.get()); !why.empty()) {
    AddReason(status, why);
    return nullptr;
  }
  const berth_value* const root = value.get();
  const std::lock_guard lock(self.mutex_);
  self.values_.emplace(root, std::move(value));
  return root;
}

void internal::ReleaseValue(const berth_host* host, const berth_value* value) noexcept {
  Services& self = Services::Of(host);
  const std::lock_guard lock(self.mutex_);
  if (value == nullptr || self.values_.erase(value) != 0) return;
  self.reporter_.Fail(Check::kShape, "releases a value that it did not parse, or released before");
}

template <class T, class Read>
berth_code Services::ReadSelector(const berth_host* host, const T** out, berth_status* status,
                                  const Read& read) {
  Services& self = Of(host);
  auto memory = std::make_unique<internal::ViewMemory>();
  internal::SelectorReader reader(self.ids_, *memory);
  const T* const selector = read(reader);
  if (selector == nullptr) {
    AddReason(status, reader.error());
    return BERTH_BAD_ARGUMENT;
  }
  *out = selector;
  const std::lock_guard lock(self.mutex_);
  self.selectors_.emplace(selector, std::move(memory));
  return BERTH_SUCCESS;
}

berth_code Services::FromValue(const berth_host* host, const berth_value* value,
                               const berth_selector** out, berth_status* status) noexcept {
  return ReadSelector(host, out, status, [value](internal::SelectorReader& reader) {
    return reader.FromValue(static_cast<const ValueSpec*>(value));
  });
}

berth_code Services::FromMap(const berth_host* host, const berth_value* labels,
                             const berth_selector** out, berth_status* status) noexcept {
  return ReadSelector(host, out, status, [labels](internal::SelectorReader& reader) {
    return reader.FromMap(static_cast<const ValueSpec*>(labels));
  });
}

berth_code Services::FromText(const berth_host* host, berth_str text, const berth_selector** out,
                              berth_status* status) noexcept {
  return ReadSelector(host, out, status, [text](internal::SelectorReader& reader) {
    return reader.FromText(FromAbi(text));
  });
}

berth_code Services::FromNodeSelector(const berth_host* host, const berth_value* value,
                                      const berth_node_selector** out,
                                      berth_status* status) noexcept {
  return ReadSelector(host, out, status, [value](internal::SelectorReader& reader) {
    return reader.FromNodeSelector(static_cast<const ValueSpec*>(value));
  });
}

int32_t Services::MatchesLabels(const berth_host* host, const berth_selector* selector,
                                berth_array labels) noexcept {
  return berth::Matches(selector, berth::Labels(labels), Of(host).ids_) ? 1 : 0;
}

int32_t Services::MatchesNode(const berth_host* host, const berth_node_selector* selector,
                              const berth_node* node) noexcept {
  return node != nullptr && berth::Matches(selector, *node, Of(host).ids_) ? 1 : 0;
}

void Services::ReleaseSelector(const void* selector) {
  const std::lock_guard lock(mutex_);
  if (selector == nullptr || selectors_.erase(selector) != 0) return;
  reporter_.Fail(Check::kShape, "releases a selector that it did not read, or released before");
}

}  // namespace berth::testing
