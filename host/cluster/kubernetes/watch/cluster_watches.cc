#include "host/cluster/kubernetes/watch/cluster_watches.h"

#include <utility>

#include "host/base/assert.h"
#include "host/base/executor.h"
#include "host/base/hash.h"
#include "host/cluster/kubernetes/watch/list_and_watch.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "host/cluster/kubernetes/watch/unreadable_objects.h"

namespace berth::host {
namespace {

// The objects of a watch that are named to users as examples of those that cannot be read.
constexpr size_t kMaxExamples = 3;

}  // namespace

// ---- EventMailbox -------------------------------------------------------------------------------

size_t EventMailbox::Item::size() const {
  const auto* events = std::get_if<std::vector<WatchEvent>>(&content);
  return events == nullptr ? 1 : events->size();
}

EventMailbox::EventMailbox(std::function<void()> wake, size_t limit, std::function<void()> on_room)
    : wake_(std::move(wake)), limit_(limit), on_room_(std::move(on_room)) {}

EventMailbox::WatchId EventMailbox::Add(WatchSink& sink) {
  sinks_.emplace(++last_, &sink);
  return last_;
}

void EventMailbox::Remove(WatchId watch) { sinks_.erase(watch); }

bool EventMailbox::PutEvents(WatchId watch, std::vector<WatchEvent> events) {
  return !events.empty() && Put({watch, std::move(events)});
}

void EventMailbox::PutError(WatchId watch, Status status) { Put({watch, std::move(status)}); }

void EventMailbox::PutTask(std::function<void()> task) { Put({0, std::move(task)}); }

bool EventMailbox::Put(Item item) {
  bool was_empty = false;
  bool is_full = false;
  {
    const std::scoped_lock lock(mutex_);
    was_empty = items_.empty();
    waiting_ += item.size();
    items_.push_back(std::move(item));
    is_full = waiting_ >= limit_;
    was_full_ = was_full_ || is_full;
  }
  if (was_empty && wake_) wake_();
  return is_full;
}

size_t EventMailbox::Deliver() {
  BERTH_ASSERT(!is_delivering_);
  std::vector<Item> items;
  size_t count = 0;
  bool was_full = false;
  {
    const std::scoped_lock lock(mutex_);
    items.swap(items_);
    count = std::exchange(waiting_, 0);
    was_full = std::exchange(was_full_, false);
  }
  is_delivering_ = true;
  for (Item& item : items) {
    // The content is destroyed when it was delivered: a large batch does not wait for the others.
    Item current = std::move(item);
    DeliverOne(current);
  }
  is_delivering_ = false;
  if (was_full) on_room_();
  return count;
}

void EventMailbox::DeliverOne(Item& item) {
  if (const auto* task = std::get_if<std::function<void()>>(&item.content)) {
    (*task)();
    return;
  }
  // Each item looks up its sink, because the sinks may add and remove watches.
  const auto sink = sinks_.find(item.watch);
  if (sink == sinks_.end()) return;
  if (auto* events = std::get_if<std::vector<WatchEvent>>(&item.content)) {
    sink->second->OnEvents(*events);
  } else {
    sink->second->OnWatchError(std::get<Status>(item.content));
  }
}

size_t EventMailbox::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiting_;
}

namespace {

// Puts a task into a mailbox when the last watch that it waits for has released it.
class RefreshEnd {
 public:
  RefreshEnd(std::shared_ptr<EventMailbox> mailbox, std::function<void()> done)
      : mailbox_(std::move(mailbox)), done_(std::move(done)) {}
  ~RefreshEnd() { mailbox_->PutTask(std::move(done_)); }
  RefreshEnd(const RefreshEnd&) = delete;
  RefreshEnd& operator=(const RefreshEnd&) = delete;

 private:
  const std::shared_ptr<EventMailbox> mailbox_;
  std::function<void()> done_;
};

}  // namespace

// ---- The thread of the reads --------------------------------------------------------------------

// Everything that is used on the thread of the reads.
class ClusterWatches::Reads : public std::enable_shared_from_this<Reads> {
 public:
  using WatchId = EventMailbox::WatchId;

  Reads(Interner& interner, Options options, Log log)
      : options_(std::move(options)),
        log_(log),
        mailbox_(std::make_shared<EventMailbox>(
            options_.wake, options_.max_waiting,
            [this] { Post([](Reads& reads) { reads.SetPaused(false); }); })),
        timer_(*options_.channel.executor),
        reader_(interner, options_.decode),
        discovery_(std::make_unique<Discovery>(*options_.channel.transport,
                                               *options_.channel.executor, options_.seed, log)) {}

  // Runs `task(*this)` on the thread, unless Stop() ran there before. Threading: any.
  template <class Task>
  void Post(Task task) {
    options_.channel.executor->Post([self = shared_from_this(), task = std::move(task)] {
      if (self->discovery_) task(*self);
    });
  }

  void Add(WatchId watch, const std::string& kind) {
    Reflector::Options options = options_.reflector;
    options.kind = kind;
    options.field_selector = kind == kPodKind ? kActivePods : std::string_view();
    options.seed = options_.seed ^ HashBytes(kind) ^ watch;
    Entry& entry =
        *entries_.emplace(watch, std::make_unique<Entry>(*this, watch, kind)).first->second;
    entry.Start(Reflector::Create(*options_.channel.transport, executor(), *discovery_, reader_,
                                  entry, std::move(options), log_));
    entry.reflector().SetPaused(is_paused_);
    if (timer_.is_running()) return;
    released_ns_ = executor().NowNs();
    timer_.StartAfter(kReportNs, [this] { Report(); });
  }

  void Remove(WatchId watch) {
    entries_.erase(watch);
    if (entries_.empty()) timer_.Stop();
  }

  void Refresh(const std::vector<WatchId>& watches, const std::shared_ptr<RefreshEnd>& end) {
    for (const WatchId watch : watches) {
      const auto entry = entries_.find(watch);
      // The reflector releases `end` when it has called or dropped the function.
      if (entry != entries_.end()) {
        entry->second->reflector().Refresh(options_.refresh_patience_ns, [end] {});
      }
    }
  }

  // The mailbox is full, or has room again.
  void SetPaused(bool is_paused) {
    if (std::exchange(is_paused_, is_paused) == is_paused) return;
    log_.Debug(is_paused ? "The watches pause, because many events wait" : "The watches go on",
               {{"waiting", std::to_string(mailbox_->waiting())}});
    for (const auto& [watch, entry] : entries_) entry->reflector().SetPaused(is_paused);
  }

  // Destroys all reflectors and what they use.
  void Stop() {
    timer_.Stop();
    entries_.clear();
    discovery_.reset();
    reader_.ReleaseIds();
  }

  const std::shared_ptr<EventMailbox>& mailbox() const { return mailbox_; }
  Executor& executor() const { return *options_.channel.executor; }
  Discovery& discovery() { return *discovery_; }

  // ---- Any thread
  void AddState(WatchId watch, std::string kind) {
    const std::scoped_lock lock(mutex_);
    states_[watch].kind = std::move(kind);
  }

  void RemoveState(WatchId watch) {
    const std::scoped_lock lock(mutex_);
    states_.erase(watch);
  }

  // Does nothing for a watch that RemoveState() was called for.
  void SetState(WatchId watch, WatchState state) {
    const std::scoped_lock lock(mutex_);
    const auto at = states_.find(watch);
    if (at != states_.end()) at->second = std::move(state);
  }

  std::vector<WatchState> States() const {
    const std::scoped_lock lock(mutex_);
    std::vector<WatchState> states;
    for (const auto& [watch, state] : states_) states.push_back(state);
    return states;
  }

 private:
  // One watch.
  class Entry final : public ReflectorSink {
   public:
    Entry(Reads& reads, WatchId watch, std::string kind)
        : reads_(reads), watch_(watch), kind_(std::move(kind)) {}

    // Called once, before the other methods.
    void Start(std::unique_ptr<Reflector> reflector) {
      reflector_ = std::move(reflector);
      reflector_->Start();
    }
    Reflector& reflector() { return *reflector_; }

    // Reports an error of the discovery, which the reflector does not report, and the state. Called
    // every kReportNs.
    void Report() {
      reflector_->RenewConnection();
      const bool is_discovering = reflector_->state() == Reflector::State::kDiscovering;
      if (is_discovering || is_discovery_error_) {
        Report(is_discovering ? reads_.discovery().LastError(kind_) : Status(), true);
      }
      Publish();
    }

   private:
    void OnEvents(std::vector<WatchEvent> events) override {
      // The kind can be read again.
      if (is_discovery_error_) Report(Status(), true);
      if (reads_.mailbox()->PutEvents(watch_, std::move(events))) reads_.SetPaused(true);
      Publish();
    }
    void OnWatchError(const Status& status) override {
      Report(status, false);
      Publish();
    }

    void Report(const Status& status, bool is_discovery) {
      is_discovery_error_ = is_discovery && !status.ok();
      if (status == error_) return;
      error_ = status;
      reads_.mailbox()->PutError(watch_, status);
    }
    void Publish() {
      const ReflectorCounts& counts = reflector_->counts();
      const int64_t last_ns = counts.last_event_ns;
      reads_.SetState(watch_, {.kind = kind_,
                               .state = reflector_->state(),
                               .is_synced = reflector_->is_synced(),
                               .objects = reflector_->objects(),
                               .unreadable = reflector_->unreadable().Read(kMaxExamples),
                               .counts = counts,
                               .silence_ns = last_ns == 0 ? 0 : reads_.executor().NowNs() - last_ns,
                               .error = error_});
    }

    Reads& reads_;
    const WatchId watch_;
    const std::string kind_;
    Status error_;                     // The last one that was reported.
    bool is_discovery_error_ = false;  // error_ is that of the discovery.
    std::unique_ptr<Reflector> reflector_;
  };

  void Report() {
    for (const auto& [watch, entry] : entries_) entry->Report();
    const int64_t now_ns = executor().NowNs();
    if (now_ns - released_ns_ >= kReleaseNs) {
      reader_.ReleaseIds();
      released_ns_ = now_ns;
    }
    timer_.StartAfter(kReportNs, [this] { Report(); });
  }

  const Options options_;
  const Log log_;
  const std::shared_ptr<EventMailbox> mailbox_;
  OwnedTimer timer_;
  int64_t released_ns_ = 0;  // When the reader released its ids last.
  ObjectReader reader_;
  std::unique_ptr<Discovery> discovery_;  // Null after Stop().
  bool is_paused_ = false;
  std::map<WatchId, std::unique_ptr<Entry>> entries_;
  mutable std::mutex mutex_;
  std::map<WatchId, WatchState> states_;  // Guarded by mutex_.
};

// ---- The scheduling thread ----------------------------------------------------------------------

class ClusterWatches::Handle final : public Watch {
 public:
  Handle(ClusterWatches& watches, EventMailbox::WatchId watch) : watches_(watches), watch_(watch) {}
  ~Handle() override { watches_.End(watch_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  ClusterWatches& watches_;
  const EventMailbox::WatchId watch_;
};

ClusterWatches::ClusterWatches(Interner& interner, Options options, Log log)
    : reads_(std::make_shared<Reads>(interner, std::move(options), log)) {}

ClusterWatches::~ClusterWatches() {
  BERTH_ASSERT_MSG(kinds_.empty(), "a watch outlives its client");
  BERTH_ASSERT_MSG(is_stopped_, "Stop() was not called");
}

std::unique_ptr<Watch> ClusterWatches::Start(std::string_view kind, WatchSink& sink) {
  const EventMailbox::WatchId watch = reads_->mailbox()->Add(sink);
  const std::string& name = kinds_.emplace(watch, kind).first->second;
  if (!is_stopped_) {
    reads_->AddState(watch, name);
    reads_->Post([watch, name](Reads& reads) { reads.Add(watch, name); });
  }
  return std::make_unique<Handle>(*this, watch);
}

void ClusterWatches::End(EventMailbox::WatchId watch) {
  kinds_.erase(watch);
  reads_->mailbox()->Remove(watch);
  reads_->RemoveState(watch);
  if (!is_stopped_) reads_->Post([watch](Reads& reads) { reads.Remove(watch); });
}

void ClusterWatches::Refresh(std::span<const std::string_view> kinds, std::function<void()> done) {
  BERTH_ASSERT(done != nullptr);
  if (is_stopped_) return;
  std::vector<EventMailbox::WatchId> watches;
  for (const std::string_view kind : kinds) {
    const size_t before = watches.size();
    for (const auto& [watch, its_kind] : kinds_) {
      if (its_kind == kind) watches.push_back(watch);
    }
    BERTH_ASSERT_MSG(watches.size() > before, "%s is not watched", std::string(kind).c_str());
  }
  auto end = std::make_shared<RefreshEnd>(reads_->mailbox(), std::move(done));
  reads_->Post([watches = std::move(watches), end = std::move(end)](Reads& reads) {
    reads.Refresh(watches, end);
  });
}

size_t ClusterWatches::Deliver() {
  if (is_stopped_) return 0;
  is_delivering_ = true;
  const size_t delivered = reads_->mailbox()->Deliver();
  is_delivering_ = false;
  return delivered;
}

void ClusterWatches::Stop(std::shared_ptr<void> end) {
  BERTH_ASSERT(!is_stopped_ && !is_delivering_);
  is_stopped_ = true;
  reads_->executor().Post([reads = reads_, end = std::move(end)]() mutable {
    reads->Stop();
    // The owner may destroy everything when `end` is released.
    reads.reset();
    end.reset();
  });
}

std::vector<WatchState> ClusterWatches::States() const { return reads_->States(); }

size_t ClusterWatches::waiting() const { return reads_->mailbox()->waiting(); }

}  // namespace berth::host
