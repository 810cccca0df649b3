#include "host/cluster/kubernetes/lease/leader_elector.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cluster/kubernetes/answers/api_error.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {
namespace {

// client-go: leaderelection.JitterFactor.
constexpr double kElectionJitter = 1.2;
// The time between two tries to release the lease.
constexpr int64_t kReleaseRetryNs = 200 * kMillisecond;

Status BadElectionOption(std::string_view key, const std::string& expected,
                         const std::string& found) {
  return Status::InvalidArgument("[leaderElection] " + std::string(key) + ": expected " + expected +
                                 ", found " + found);
}

// Returns the duration as the record has it.
int64_t RecordedSeconds(int64_t lease_ns) { return lease_ns / kSecond; }

// Adds the rules that are missing to the server's refusal of a request for the lease.
Status WithMissingRules(Status status, const ElectionOptions& options) {
  const bool is_refusal = status.code() == ErrorCode::kPermissionDenied &&
                          status.message().find("User \"") != std::string_view::npos;
  if (!is_refusal) return status;
  std::string text(status.message());
  text.append(". Add these rules to a role of the namespace ").append(options.ns);
  text.append(": {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]} and ");
  text.append("{apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [");
  return Status::PermissionDenied(text.append(options.name).append("], verbs: [get, update]}"));
}

// Returns whether the leases have the same record. The resourceVersion is not part of it: a change
// of a label is no renewal.
bool IsSameRecord(const Lease& a, const Lease& b) {
  const auto parts = [](const Lease& lease) {
    return std::tie(lease.holder_identity, lease.duration_seconds, lease.transitions,
                    lease.acquire_ns, lease.renew_ns);
  };
  return parts(a) == parts(b);
}

}  // namespace

// ---- LeaseRequests ------------------------------------------------------------------------------

LeaseRequests::LeaseRequests(Transport& transport, std::string ns, std::string name)
    : transport_(transport), ns_(std::move(ns)), name_(std::move(name)) {
  BERTH_ASSERT(!name_.empty());
}

void LeaseRequests::Get(int64_t timeout_ns, LeaseCallback answer) {
  Send({.verb = "GET", .target = LeasePath(ns_, name_), .timeout_ns = timeout_ns},
       std::move(answer));
}

void LeaseRequests::Create(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) {
  Lease created = lease;
  created.resource_version.clear();
  Send({.verb = "POST",
        .target = LeasePath(ns_),
        .body = LeaseBody(created),
        .content_type = kJson,
        .timeout_ns = timeout_ns},
       std::move(answer));
}

void LeaseRequests::Update(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) {
  const bool is_stored = lease.resource_version == stored_version_;
  Send({.verb = "PUT",
        .target = LeasePath(ns_, name_),
        .body = LeaseBody(lease, is_stored ? stored_text_ : std::string_view()),
        .content_type = kJson,
        .timeout_ns = timeout_ns},
       std::move(answer));
}

void LeaseRequests::Send(HttpRequest request, LeaseCallback answer) {
  request.priority = 0;
  transport_.Send(std::move(request),
                  [this, answer = std::move(answer)](const HttpResponse& response) {
                    Result<Lease> lease = Read(response);
                    if (answer) answer(std::move(lease));
                  });
}

Result<Lease> LeaseRequests::Read(const HttpResponse& response) {
  if (Status status = StatusOf(response); !status.ok()) return status;
  Result<Lease> lease = ReadLease(response.body);
  if (lease.ok()) {
    stored_version_ = lease->resource_version;
    stored_text_ = response.body;
  }
  return lease;
}

// ---- LeaderElector ------------------------------------------------------------------------------

Status CheckElectionOptions(const ElectionOptions& options) {
  const std::pair<const char*, int64_t> durations[] = {{"leaseDuration", options.lease_ns},
                                                       {"renewDeadline", options.renew_deadline_ns},
                                                       {"retryPeriod", options.retry_ns}};
  for (const auto& [key, value] : durations) {
    if (value <= 0) return BadElectionOption(key, "more than 0s", FormatDuration(value));
  }
  const std::pair<const char*, const std::string&> names[] = {{"resourceNamespace", options.ns},
                                                              {"resourceName", options.name}};
  for (const auto& [key, value] : names) {
    if (value.empty()) return BadElectionOption(key, "a name", Quoted(value));
  }
  BERTH_ASSERT(!options.identity.empty());
  const std::string lease = FormatDuration(options.lease_ns);
  const int64_t seconds = RecordedSeconds(options.lease_ns);
  if (seconds > std::numeric_limits<int32_t>::max()) {
    return BadElectionOption("leaseDuration", "at most 2147483647s", lease);
  }
  if (seconds * kSecond <= options.renew_deadline_ns) {
    return BadElectionOption("leaseDuration",
                             "whole seconds of more than renewDeadline (" +
                                 FormatDuration(options.renew_deadline_ns) + ")",
                             lease);
  }
  // Without a product, which could be out of range.
  if (options.renew_deadline_ns - options.retry_ns <= options.retry_ns / 5) {
    return BadElectionOption(
        "renewDeadline",
        "more than 1.2 times retryPeriod (" + FormatDuration(options.retry_ns) + ")",
        FormatDuration(options.renew_deadline_ns));
  }
  return {};
}

LeaderElector::LeaderElector(LeaseStore& store, Executor& executor, const Clock& wall,
                             BindFence& fence, ElectionOptions options, Callbacks callbacks,
                             Log log)
    : store_(store),
      executor_(executor),
      wall_(wall),
      fence_(fence),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      log_(log),
      random_(options_.seed),
      timer_(executor),
      deadline_(executor) {
  BERTH_ASSERT(CheckElectionOptions(options_).ok());
}

LeaderElector::~LeaderElector() = default;

void LeaderElector::Start() { Try(); }

std::optional<int64_t> LeaderElector::SinceRenewalNs() const {
  if (!leads_) return std::nullopt;
  return fence_.NowNs() - renewal_sent_ns_;
}

// ---- Requests -----------------------------------------------------------------------------------

void LeaderElector::Try() {
  if (ended_) return;
  BERTH_ASSERT(!is_busy_);
  if (leads_ && IsPastDeadline()) return Lose(NotRenewed());
  if (const int64_t stalled_ns = StalledNs(); stalled_ns > 0) {
    const std::string why = "the scheduling loop has made no progress for ";
    if (leads_) return Lose(why + FormatDuration(stalled_ns / kSecond * kSecond));
    // The text stays the same, so that it is logged once.
    return Fail(Status::Unavailable(why + "more than " + FormatDuration(options_.stall_limit_ns)));
  }
  if (leads_ && !must_read_) return Write();
  if (leads_ && callbacks_.on_slow_path) callbacks_.on_slow_path();
  Read();
}

LeaseCallback LeaderElector::Guard(LeaseCallback callback) const {
  return
      [alive = std::weak_ptr<bool>(alive_), callback = std::move(callback)](Result<Lease> lease) {
        if (!alive.expired()) callback(std::move(lease));
      };
}

int64_t LeaderElector::RequestTimeoutNs() const {
  const int64_t timeout_ns = std::max(kSecond, options_.renew_deadline_ns / 2);
  if (release_until_ns_ == 0) return timeout_ns;
  return std::clamp(release_until_ns_ - fence_.NowNs(), kMillisecond, timeout_ns);
}

void LeaderElector::Read() {
  is_busy_ = true;
  store_.Get(RequestTimeoutNs(), Guard([this](Result<Lease> lease) {
               is_busy_ = false;
               OnRead(std::move(lease));
             }));
}

void LeaderElector::OnRead(Result<Lease> lease) {
  if (release_done_) return OnReleaseRead(lease);
  if (ended_) return;
  if (leads_ && IsPastDeadline()) return Lose(NotRenewed());
  if (!lease.ok()) {
    if (lease.status().code() != ErrorCode::kNotFound) return Fail(lease.status());
    observed_.reset();
    return Write();
  }
  Observe(*lease);
  must_read_ = false;
  if (leads_ && !IsMine(*observed_)) {
    return Lose("another process holds the lease: " + Quoted(observed_->holder_identity));
  }
  if (IsHeldByOther()) {
    error_ = {};
    return TryLater();
  }
  Write();
}

void LeaderElector::Write() {
  const int64_t now_ns = wall_.NowNs();
  Lease lease;
  if (observed_) {
    lease = *observed_;
    if (!IsMine(lease)) {
      lease.acquire_ns = now_ns;
      if (lease.transitions < std::numeric_limits<int32_t>::max()) ++lease.transitions;
    }
  } else {
    lease.ns = options_.ns;
    lease.name = options_.name;
    lease.acquire_ns = now_ns;
  }
  lease.holder_identity = options_.identity;
  lease.duration_seconds = static_cast<int32_t>(RecordedSeconds(options_.lease_ns));
  lease.renew_ns = now_ns;
  is_busy_ = true;
  may_hold_ = true;
  const int64_t sent_ns = fence_.NowNs();
  LeaseCallback answer = Guard([this, sent_ns](Result<Lease> written) {
    is_busy_ = false;
    OnWritten(std::move(written), sent_ns);
  });
  if (observed_) {
    store_.Update(lease, RequestTimeoutNs(), std::move(answer));
  } else {
    store_.Create(lease, RequestTimeoutNs(), std::move(answer));
  }
}

void LeaderElector::OnWritten(Result<Lease> lease, int64_t sent_ns) {
  must_read_ = !lease.ok();
  if (lease.ok() && (!ended_ || release_done_)) Observe(*lease);
  if (release_done_) return ReleaseStep();
  if (ended_) return;
  // A renewal that is answered after the deadline does not count: requests may have been refused
  // meanwhile.
  if (leads_ && IsPastDeadline()) return Lose(NotRenewed());
  if (!lease.ok()) return Fail(lease.status());
  if (!IsMine(*lease)) {
    must_read_ = true;
    return Fail(Status::Internal("the server stored another holder than it was sent: " +
                                 Quoted(lease->holder_identity)));
  }
  if (fence_.NowNs() - sent_ns >= options_.renew_deadline_ns) {
    return Fail(Status::Unavailable("the answer came after the time to renew the lease"));
  }
  renewal_sent_ns_ = sent_ns;
  last_error_.clear();
  error_ = {};
  fence_.OpenUntil(sent_ns + options_.renew_deadline_ns);
  const bool is_first = !leads_;
  leads_ = true;
  StartDeadline();
  TryLater();
  if (is_first) Lead();
}

void LeaderElector::Fail(Status status) {
  status = WithMissingRules(std::move(status), options_);
  // Another process was quicker.
  const bool is_lost_race =
      status.code() == ErrorCode::kConflict || status.code() == ErrorCode::kAlreadyExists;
  error_ = is_lost_race ? Status() : status;
  std::string text(status.message());
  if (text != last_error_) {
    log_.Error(leads_ ? "Cannot renew the lease" : "Cannot acquire the lease", text,
               {{"lease", options_.ns + "/" + options_.name}});
    last_error_ = std::move(text);
  }
  TryLater();
}

void LeaderElector::TryLater() {
  auto delay_ns = options_.retry_ns;
  if (!leads_) {
    const double random = static_cast<double>(random_.Next() >> 11) * 0x1p-53;
    delay_ns += static_cast<int64_t>(static_cast<double>(delay_ns) * kElectionJitter * random);
  }
  timer_.StartAfter(delay_ns, [this] { Try(); });
}

// ---- State --------------------------------------------------------------------------------------

void LeaderElector::Observe(const Lease& lease) {
  const int64_t now_ns = fence_.NowNs();
  if (!observed_ || !IsSameRecord(*observed_, lease)) observed_ns_ = now_ns;
  const bool is_other_holder = !observed_ || observed_->holder_identity != lease.holder_identity;
  observed_ = lease;
  if (IsMine(lease)) return;
  may_hold_ = false;
  if (lease.holder_identity.empty()) {
    other_since_ns_.reset();
  } else if (!other_since_ns_) {
    other_since_ns_ = now_ns;
  }
  if (!is_other_holder) return;
  if (!leads_ && !lease.holder_identity.empty()) {
    log_.Info("Waiting for the lease",
              {{"lease", options_.ns + "/" + options_.name}, {"holder", lease.holder_identity}});
  }
  if (callbacks_.on_new_leader) callbacks_.on_new_leader(lease.holder_identity);
}

bool LeaderElector::IsHeldByOther() const {
  if (observed_->holder_identity.empty() || IsMine(*observed_)) return false;
  // A record without a duration is not one that a process wrote which takes part in elections.
  const int64_t duration_ns = observed_->duration_seconds > 0
                                  ? int64_t{observed_->duration_seconds} * kSecond
                                  : options_.lease_ns;
  return fence_.NowNs() - observed_ns_ < duration_ns;
}

bool LeaderElector::IsPastDeadline() const {
  return fence_.NowNs() - renewal_sent_ns_ >= options_.renew_deadline_ns;
}

int64_t LeaderElector::StalledNs() const {
  if (options_.stall_limit_ns <= 0 || !callbacks_.last_progress_ns) return 0;
  int64_t since_ns = callbacks_.last_progress_ns();
  if (leads_) since_ns = std::max(since_ns, leading_since_ns_);
  const int64_t stalled_ns = fence_.NowNs() - since_ns;
  return stalled_ns >= options_.stall_limit_ns ? stalled_ns : 0;
}

void LeaderElector::Lead() {
  leading_since_ns_ = fence_.NowNs();
  const int64_t waited_ns = other_since_ns_ ? leading_since_ns_ - *other_since_ns_ : 0;
  other_since_ns_.reset();
  log_.Info("Leading", {{"lease", options_.ns + "/" + options_.name},
                        {"identity", options_.identity},
                        {"transitions", std::to_string(observed_->transitions)}});
  if (callbacks_.on_started) callbacks_.on_started(waited_ns);
}

void LeaderElector::Lose(std::string why) {
  fence_.Close();
  leads_ = false;
  ended_ = true;
  timer_.Stop();
  deadline_.Stop();
  log_.Error("Lost the lease", why, {{"lease", options_.ns + "/" + options_.name}});
  if (callbacks_.on_lost) callbacks_.on_lost(why);
}

void LeaderElector::StartDeadline() {
  const int64_t left_ns = renewal_sent_ns_ + options_.renew_deadline_ns - fence_.NowNs();
  deadline_.StartAfter(std::max<int64_t>(left_ns, 0), [this] {
    if (IsPastDeadline()) return Lose(NotRenewed());
    StartDeadline();
  });
}

std::string LeaderElector::NotRenewed() const {
  return "the lease was not renewed within " + FormatDuration(options_.renew_deadline_ns) + ": " +
         (last_error_.empty()
              ? "no answer came in time, or this process or its machine was stopped meanwhile"
              : last_error_);
}

// ---- Release ------------------------------------------------------------------------------------

void LeaderElector::Release(int64_t limit_ns, std::function<void()> done) {
  BERTH_ASSERT(!release_done_ && done);
  const bool has_lost = ended_;
  fence_.Close();
  leads_ = false;
  ended_ = true;
  timer_.Stop();
  deadline_.Stop();
  if (has_lost || !may_hold_) return executor_.Post(std::move(done));
  release_done_ = std::move(done);
  release_until_ns_ = fence_.NowNs() + limit_ns;
  deadline_.StartAfter(limit_ns, [this] {
    log_.Warning("The lease could not be released in time; it expires by itself",
                 {{"lease", options_.ns + "/" + options_.name}});
    FinishRelease();
  });
  // The answer to a request that is under way continues the release.
  if (!is_busy_) ReleaseStep();
}

void LeaderElector::ReleaseStep() {
  if (!may_hold_) return FinishRelease();
  if (must_read_ || !observed_) return Read();
  Lease lease = *observed_;
  lease.holder_identity.clear();
  lease.duration_seconds = 1;
  lease.acquire_ns = wall_.NowNs();
  lease.renew_ns = lease.acquire_ns;
  is_busy_ = true;
  store_.Update(lease, RequestTimeoutNs(), Guard([this](const Result<Lease>& written) {
                  is_busy_ = false;
                  OnReleaseWritten(written);
                }));
}

void LeaderElector::OnReleaseRead(const Result<Lease>& lease) {
  if (lease.ok()) {
    Observe(*lease);
    must_read_ = false;
    return ReleaseStep();
  }
  if (lease.status().code() == ErrorCode::kNotFound) return FinishRelease();
  RetryRelease();
}

void LeaderElector::OnReleaseWritten(const Result<Lease>& lease) {
  if (!release_done_) return;
  if (lease.ok() || lease.status().code() == ErrorCode::kNotFound) return FinishRelease();
  must_read_ = true;
  if (lease.status().code() == ErrorCode::kConflict) return ReleaseStep();
  RetryRelease();
}

void LeaderElector::RetryRelease() {
  timer_.StartAfter(kReleaseRetryNs, [this] { ReleaseStep(); });
}

void LeaderElector::FinishRelease() {
  timer_.Stop();
  deadline_.Stop();
  executor_.Post(std::exchange(release_done_, nullptr));
}

}  // namespace berth::host
