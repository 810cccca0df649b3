// Elects a leader with a Lease.
//
// client-go: tools/leaderelection/leaderelection.go
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEADER_ELECTOR_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEADER_ELECTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/clock.h"
#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/base/split_mix.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/write/bind_fence.h"
#include "host/cluster/lease.h"
#include "host/http/transport.h"

namespace berth::host {

// Reads and writes one lease.
// Threading: the executor's thread.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;

  // `timeout_ns` is the time for one request. Errors: those of the server. Get(): kNotFound.
  // Create(): kAlreadyExists. Update(): kNotFound; kConflict if `lease.resource_version` is not the
  // current one.
  virtual void Get(int64_t timeout_ns, LeaseCallback answer) = 0;
  virtual void Create(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) = 0;
  virtual void Update(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) = 0;
};

// Reads and writes a lease of coordination.k8s.io/v1 through a transport.
//
// The transport has two connections, which only requests for leases use.
//
// Create() and Update() are for the lease with the namespace and the name of the constructor.
// Update() replaces the whole object on the server. So that labels, annotations and fields of newer
// versions stay, it sends the lease as the server returned it last, with the changed fields; if the
// lease to update is another version of it, it sends the known fields only.
//
// Threading: the executor's thread of the transport.
// Lifetime:  the transport must outlive it, and is closed before this object is destroyed.
class LeaseRequests final : public LeaseStore {
 public:
  // REQUIRES: `name` is not empty.
  LeaseRequests(Transport& transport, std::string ns, std::string name);
  LeaseRequests(const LeaseRequests&) = delete;
  LeaseRequests& operator=(const LeaseRequests&) = delete;

  void Get(int64_t timeout_ns, LeaseCallback answer) override;
  void Create(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) override;
  void Update(const Lease& lease, int64_t timeout_ns, LeaseCallback answer) override;

 private:
  void Send(HttpRequest request, LeaseCallback answer);
  // Returns the error or the lease of an answer, and keeps its text.
  Result<Lease> Read(const HttpResponse& response);

  Transport& transport_;
  const std::string ns_;
  const std::string name_;
  // The lease as the server returned it last.
  std::string stored_version_;
  std::string stored_text_;
};

struct ElectionOptions {
  std::string ns = "kube-system";
  std::string name = "kube-scheduler";
  std::string identity;  // "<host name>_<uuid>"
  int64_t lease_ns = 15'000'000'000;
  int64_t renew_deadline_ns = 10'000'000'000;
  int64_t retry_ns = 2'000'000'000;
  // A process whose scheduling loop has not made progress for this long stops renewing, so that
  // another one takes over. 0: never.
  int64_t stall_limit_ns = 120'000'000'000;
  uint64_t seed = 0;  // The seed of the jitter.
};

// Returns an error unless leaseDuration > renewDeadline > 1.2 * retryPeriod, each is positive, and
// the names are set. The record has whole seconds, so that only those of leaseDuration count.
// Errors: kInvalidArgument with the key of the host file, the expected and the found value.
Status CheckElectionOptions(const ElectionOptions& options);

// Acquire   Every retry period, lengthened by a random part of up to 120 %: reads the lease. If it
//           has no holder, if this process holds it, or if the record has not changed for its
//           leaseDurationSeconds since this process saw it change, writes itself as holder. The
//           times in the record are not compared with this machine's clock, so that clocks need not
//           agree.
// Renew     Every retry period, with the resourceVersion of the last answer; after an error the
//           lease is read first. The time limit of a request is max(1 s, renewDeadline / 2). The
//           fence is extended from the time at which the request was sent.
// Lose      renewDeadline after the last successful renewal was sent, when another holder is read,
//           or on a stall: the fence closes first, then on_lost is called. The elector ends.
// Release   Writes an empty holder with a duration of one second, as client-go does, only after the
//           caller has stopped all work.
//
// Two processes never have an open fence at the same time: a fence is open until renewDeadline
// after a renewal was sent, and another process writes itself as holder leaseDuration after it read
// that renewal at the earliest. This requires that the clocks of the machines run equally fast,
// within leaseDuration / renewDeadline, and that the lease is not deleted.
//
// All times are CLOCK_BOOTTIME, as the fence reads it, except the texts of the record. The timers
// are those of the executor, whose clock may stand still while the machine sleeps: each timer and
// each answer compares with CLOCK_BOOTTIME again.
//
// Threading: the executor's thread, which does nothing else.
// Lifetime:  what the constructor receives must outlive it.
class LeaderElector {
 public:
  struct Callbacks {
    // This process leads: the fence is open. Called once. `waited_ns`: how long another holder was
    // seen before; 0 if there was none or it had released the lease.
    std::function<void(int64_t waited_ns)> on_started;
    // Called once. The process must end. `why`: "the lease was not renewed within 10s: ...".
    std::function<void(std::string_view why)> on_lost;
    // Another process holds the lease now, or none (empty). Called for each change.
    std::function<void(std::string_view identity)> on_new_leader;
    // Returns the CLOCK_BOOTTIME of the last progress of the scheduling loop. Threading: any. May
    // be empty, as each callback; there is no stall limit then.
    std::function<int64_t()> last_progress_ns;
    // This process leads, and has to read the lease before it can renew it. Called each time.
    std::function<void()> on_slow_path = {};
  };

  LeaderElector(LeaseStore& store, Executor& executor, const Clock& wall, BindFence& fence,
                ElectionOptions options, Callbacks callbacks, Log log);
  ~LeaderElector();

  // Begins to acquire the lease. Called once.
  void Start();
  // Ends the election and closes the fence. If this process holds the lease, or may hold it,
  // releases it, for at most `limit_ns`. Then calls `done`, never within the call. on_lost is not
  // called any more. Called once.
  void Release(int64_t limit_ns, std::function<void()> done);

  bool leads() const { return leads_; }
  // The record as it was last read. For doctor and for /readyz.
  const std::optional<Lease>& observed() const { return observed_; }
  // Returns why the last try to acquire the lease failed; Ok if it succeeded, or found that another
  // process holds the lease. A missing permission is named with the rules that grant it.
  const Status& error() const { return error_; }
  // How long ago the last renewal was sent, for /healthz; nullopt if this process does not lead.
  std::optional<int64_t> SinceRenewalNs() const;

 private:
  // ---- Requests. One is under way at most. ----
  void Try();
  void Read();
  void OnRead(Result<Lease> lease);
  void Write();
  void OnWritten(Result<Lease> lease, int64_t sent_ns);
  // Returns a callback that does nothing after the destruction of this object.
  LeaseCallback Guard(LeaseCallback callback) const;
  int64_t RequestTimeoutNs() const;
  // Records the error, and tries again after the retry period.
  void Fail(Status status);
  void TryLater();

  // ---- State ----
  // Records what the server has stored.
  void Observe(const Lease& lease);
  bool IsMine(const Lease& lease) const { return lease.holder_identity == options_.identity; }
  // Returns whether another holder has the lease and its time has not passed.
  bool IsHeldByOther() const;
  bool IsPastDeadline() const;
  // Returns for how long the scheduling loop has made no progress; 0 below the limit.
  int64_t StalledNs() const;
  void Lead();
  void Lose(std::string why);
  void StartDeadline();
  std::string NotRenewed() const;

  // ---- Release ----
  void ReleaseStep();
  void OnReleaseRead(const Result<Lease>& lease);
  void OnReleaseWritten(const Result<Lease>& lease);
  void RetryRelease();
  void FinishRelease();

  LeaseStore& store_;
  Executor& executor_;
  const Clock& wall_;
  BindFence& fence_;
  const ElectionOptions options_;
  const Callbacks callbacks_;
  const Log log_;
  SplitMix64 random_;
  OwnedTimer timer_;     // The next try.
  OwnedTimer deadline_;  // The end of the time to renew; during a release, of its limit.
  std::optional<Lease> observed_;
  int64_t observed_ns_ = 0;                // When the record last changed, by this machine's clock.
  std::optional<int64_t> other_since_ns_;  // Since when another holder is seen.
  int64_t renewal_sent_ns_ = 0;            // When the last successful renewal was sent.
  int64_t leading_since_ns_ = 0;
  std::string last_error_;
  Status error_;
  bool leads_ = false;
  bool ended_ = false;
  bool is_busy_ = false;   // A request is under way.
  bool must_read_ = true;  // The resourceVersion in observed_ may be old.
  bool may_hold_ = false;  // This process has written itself, and has seen no other holder since.
  std::function<void()> release_done_;
  int64_t release_until_ns_ = 0;
  // Expires when this object is destroyed.
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_LEASE_LEADER_ELECTOR_H_
