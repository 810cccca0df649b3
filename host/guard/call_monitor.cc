#include "host/guard/call_monitor.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/base/assert.h"
#include "host/base/hash.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

// A word consists of the call's number (32 bits), may_block (1), the callee (23) and the point (8).
constexpr uint32_t kPointBits = 8;
constexpr uint32_t kCalleeBits = 23;
constexpr uint32_t kMayBlockAt = kPointBits + kCalleeBits;
constexpr uint32_t kNumberAt = kMayBlockAt + 1;

static_assert(CallMonitor::kMaxCallees < (1U << kCalleeBits));
static_assert(kPointCount < (1U << kPointBits));

// Appends text to a buffer as far as it fits.
class Line {
 public:
  explicit Line(std::span<char> out) : out_(out) {}

  Line& operator<<(std::string_view text) {
    const size_t fits = std::min(text.size(), out_.size() - size_);
    std::copy_n(text.data(), fits, out_.data() + size_);
    size_ += fits;
    return *this;
  }
  size_t size() const { return size_; }

 private:
  std::span<char> out_;
  size_t size_ = 0;
};

}  // namespace

CallMonitor::~CallMonitor() {
  BERTH_ASSERT_MSG(cancel_ == nullptr, "an attempt outlives its monitor");
}

// ---- Callees ------------------------------------------------------------------------------------

CallMonitor::CalleeId CallMonitor::Register(Callee callee) {
  auto owned = std::make_shared<const Callee>(std::move(callee));
  const std::scoped_lock lock(mutex_);
  CalleeId id = 0;
  if (!free_.empty()) {
    id = free_.back();
    free_.pop_back();
  } else if (owned_.size() < kMaxCallees) {
    owned_.emplace_back();
    id = static_cast<CalleeId>(owned_.size());
  } else {
    return 0;
  }
  owned_[id - 1] = std::move(owned);
  callees_[id - 1].store(owned_[id - 1].get(), std::memory_order_release);
  return id;
}

void CallMonitor::Unregister(CalleeId id) {
  if (id == 0) return;
  const std::scoped_lock lock(mutex_);
  callees_[id - 1].store(nullptr, std::memory_order_release);
  owned_[id - 1].reset();
  free_.push_back(id);
}

// ---- Calls --------------------------------------------------------------------------------------

std::span<CallSlot> CallMonitor::Slots() const {
  const size_t used = threads_->used_slots.load(std::memory_order_acquire);
  return std::span(threads_->slots).first(std::min(used, kMaxThreads));
}

CallSlot* CallMonitor::FindSlot() const {
  const auto self = static_cast<uint64_t>(pthread_self());
  for (CallSlot& slot : Slots()) {
    if (slot.thread.load(std::memory_order_relaxed) == self) return &slot;
  }
  return nullptr;
}

CallSlot* CallMonitor::SlotOfThisThread() {
  if (CallSlot* slot = FindSlot()) return slot;
  const size_t mine = threads_->used_slots.fetch_add(1, std::memory_order_acq_rel);
  if (mine >= kMaxThreads) {
    threads_->used_slots.store(kMaxThreads, std::memory_order_release);
    return nullptr;
  }
  CallSlot& slot = threads_->slots[mine];
  slot.thread.store(static_cast<uint64_t>(pthread_self()), std::memory_order_relaxed);
  return &slot;
}

Point CallMonitor::PointOnThisThread(CalleeId callee) const {
  const CallSlot* slot = callee == 0 ? nullptr : FindSlot();
  const CallWord call = slot == nullptr ? 0 : slot->innermost.load(std::memory_order_relaxed);
  return call != 0 && CalleeOf(call) == callee ? PointOf(call) : kNoCall;
}

CallWord CallMonitor::NextWord(CallSlot& slot, CalleeId callee, Point point, bool may_block) {
  // The highest bit is set, so that the word of a call without a callee is not 0 either.
  const uint64_t number = (++slot.calls & UINT32_MAX) | 1U << 31;
  return number << kNumberAt | uint64_t{may_block} << kMayBlockAt | uint64_t{callee} << kPointBits |
         static_cast<uint64_t>(point);
}

Point CallMonitor::PointOf(CallWord call) {
  return static_cast<Point>(call & ((1U << kPointBits) - 1));
}

bool CallMonitor::MayBlock(CallWord call) { return (call >> kMayBlockAt & 1) != 0; }

uint32_t CallMonitor::CalleeOf(CallWord call) {
  return static_cast<uint32_t>(call >> kPointBits & ((1U << kCalleeBits) - 1));
}

// ---- Attempts -----------------------------------------------------------------------------------

void CallMonitor::BeginAttempt(uint32_t* cancel, const berth_pod* pod) {
  const std::scoped_lock lock(mutex_);
  __atomic_store_n(cancel, 0U, __ATOMIC_RELAXED);
  cancel_ = cancel;
  late_.reset();
  attempt_pod_.store(pod, std::memory_order_relaxed);
}

void CallMonitor::EndAttempt(const uint32_t* cancel) {
  const std::scoped_lock lock(mutex_);
  if (cancel_ != cancel) return;
  cancel_ = nullptr;
  attempt_pod_.store(nullptr, std::memory_order_relaxed);
}

std::optional<LateCall> CallMonitor::LateCallOfAttempt() const {
  const std::scoped_lock lock(mutex_);
  return late_;
}

uint64_t CallMonitor::PodOfAttempt() const {
  const berth_pod* pod = attempt_pod_.load(std::memory_order_relaxed);
  // The lowest bit keeps 0 for "none".
  return pod == nullptr ? 0 : HashBytes(Text(pod->meta->uid)) | 1;
}

// ---- The watchdog -------------------------------------------------------------------------------

bool CallMonitor::InAttempt(Point point) {
  return point >= Point::kPreFilter && point <= Point::kPermit;
}

std::vector<CallMonitor::ThreadCalls> CallMonitor::Snapshot() const {
  std::vector<ThreadCalls> seen;
  const std::scoped_lock lock(mutex_);
  for (const CallSlot& slot : Slots()) {
    const CallWord innermost = slot.innermost.load(std::memory_order_relaxed);
    const CallWord outermost = slot.outermost.load(std::memory_order_relaxed);
    seen.push_back({innermost, outermost, OwnDeadlineOf(innermost), OwnDeadlineOf(outermost)});
  }
  return seen;
}

// If the call has ended, another callee may have its id. The next snapshot then has another call.
int64_t CallMonitor::OwnDeadlineOf(CallWord call) const {
  const uint32_t callee = CalleeOf(call);
  if (callee == 0 || owned_[callee - 1] == nullptr) return 0;
  return owned_[callee - 1]->deadline_ns;
}

// The pod of the attempt lives as long as the lock is held: EndAttempt() takes it, too.
CallMonitor::Overdue CallMonitor::MarkOverdue(size_t slot, CallWord call, int64_t deadline_ns) {
  CallSlot& at = threads_->slots[slot];
  const std::scoped_lock lock(mutex_);
  if (at.innermost.load(std::memory_order_relaxed) != call &&
      at.outermost.load(std::memory_order_relaxed) != call) {
    return {};
  }
  at.overdue.store(call, std::memory_order_relaxed);
  if (at.cancel != nullptr) __atomic_store_n(at.cancel, 1U, __ATOMIC_RELAXED);
  const uint32_t id = CalleeOf(call);
  Overdue overdue{.callee = id == 0 ? nullptr : owned_[id - 1]};
  if (!InAttempt(PointOf(call)) || cancel_ == nullptr) return overdue;
  __atomic_store_n(cancel_, 1U, __ATOMIC_RELAXED);
  overdue.pod = PodOfAttempt();
  if (overdue.callee != nullptr && !late_.has_value()) {
    late_ = {overdue.callee->plugin, PointOf(call), deadline_ns};
  }
  return overdue;
}

// A call that ends at the moment at which it is found late may leave its attempt cancelled.
void CallMonitor::EndOverdue(CallSlot& slot) {
  const std::scoped_lock lock(mutex_);
  slot.overdue.store(0, std::memory_order_relaxed);
  if (cancel_ == nullptr) return;
  const bool is_other_overdue = std::ranges::any_of(threads_->slots, [](const CallSlot& other) {
    return other.overdue.load(std::memory_order_relaxed) != 0;
  });
  if (!is_other_overdue) __atomic_store_n(cancel_, 0U, __ATOMIC_RELAXED);
}

void CallMonitor::BeginCancellable(CallSlot& slot, uint32_t* cancel) {
  const std::scoped_lock lock(mutex_);
  slot.cancel = cancel;
  slot.cancel_before = __atomic_load_n(cancel, __ATOMIC_RELAXED);
}

void CallMonitor::EndCancellable(CallSlot& slot) {
  const std::scoped_lock lock(mutex_);
  __atomic_store_n(slot.cancel, slot.cancel_before, __ATOMIC_RELAXED);
  slot.cancel = nullptr;
}

int64_t CallMonitor::DeadlineNs(Point point, int64_t own_ns, int64_t now_ns) const {
  const CallDeadlines* deadlines = watched_.load(std::memory_order_acquire);
  if (deadlines == nullptr) return 0;
  const int64_t deadline_ns = own_ns != 0 ? own_ns : deadlines->of(point);
  return now_ns + std::min(deadline_ns, INT64_MAX - now_ns);
}

// ---- Crash report -------------------------------------------------------------------------------

size_t CallMonitor::Describe(std::span<char> out) const {
  Line line(out);
  const CallSlot* slot = FindSlot();
  const CallWord call = slot == nullptr ? 0 : slot->innermost.load(std::memory_order_relaxed);
  if (call == 0) return (line << "outside any plugin call").size();
  const uint32_t id = CalleeOf(call);
  const Callee* callee = id == 0 ? nullptr : callees_[id - 1].load(std::memory_order_acquire);
  if (callee != nullptr) {
    line << "in plugin " << callee->plugin << " (" << callee->library << ")";
  } else {
    line << "in a plugin";
  }
  line << " at " << NameOf(PointOf(call));
  const berth_pod* pod = slot->pod.load(std::memory_order_relaxed);
  if (pod == nullptr && InAttempt(PointOf(call))) {
    pod = attempt_pod_.load(std::memory_order_relaxed);
  }
  if (pod == nullptr) return line.size();
  line << ", pod " << interner_.Text(pod->meta->ns) << "/" << Text(pod->meta->name);
  return line.size();
}

// ---- MonitoredCall ------------------------------------------------------------------------------

MonitoredCall::MonitoredCall(CallMonitor* monitor, CallMonitor::CalleeId callee, Point point,
                             const CallTerms& terms)
    : monitor_(monitor) {
  if (monitor_ == nullptr) return;
  slot_ = monitor_->SlotOfThisThread();
  if (slot_ == nullptr) return;
  outer_ = slot_->innermost.load(std::memory_order_relaxed);
  outer_pod_ = slot_->pod.load(std::memory_order_relaxed);
  call_ = CallMonitor::NextWord(*slot_, callee, point, terms.may_block);
  slot_->pod.store(terms.pod, std::memory_order_relaxed);
  slot_->innermost.store(call_, std::memory_order_relaxed);
  if (outer_ == 0) slot_->outermost.store(call_, std::memory_order_relaxed);
  // A signal handler of this thread observes the stores in this order.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  is_cancellable_ = terms.cancel != nullptr;
  if (is_cancellable_) monitor_->BeginCancellable(*slot_, terms.cancel);
}

void MonitoredCall::RestoreSlot() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  slot_->innermost.store(outer_, std::memory_order_relaxed);
  slot_->pod.store(outer_pod_, std::memory_order_relaxed);
  if (outer_ == 0) slot_->outermost.store(0, std::memory_order_relaxed);
}

void MonitoredCall::Detach() {
  if (slot_ != nullptr) RestoreSlot();
  slot_ = nullptr;
}

MonitoredCall::~MonitoredCall() {
  if (slot_ == nullptr) return;
  if (is_cancellable_) monitor_->EndCancellable(*slot_);
  RestoreSlot();
  if (slot_->overdue.load(std::memory_order_relaxed) == call_) monitor_->EndOverdue(*slot_);
}

}  // namespace berth::host
