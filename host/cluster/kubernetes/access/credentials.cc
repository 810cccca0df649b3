#include "host/cluster/kubernetes/access/credentials.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/cluster/kubernetes/access/credential_loader.h"

namespace berth::host {
namespace {

// Returns the answer to a call of Renew() after a refresh that brought no newer credential.
Status NoNewer(const Status& refreshed) {
  if (!refreshed.ok()) return refreshed;
  return Status::PermissionDenied(
      "the server refused the credentials, and there are no newer ones");
}

}  // namespace

Result<std::unique_ptr<Credentials>> Credentials::Load(const ClusterAccess& access,
                                                       Environment environment, Log log) {
  const std::function<int64_t()> steady_ns = environment.steady_ns;
  auto loader =
      std::make_unique<CredentialLoader>(access, std::move(environment), &TlsContext::Create, log);
  Status status = loader->Refresh(/*after_401=*/false);
  if (!status.ok()) return status;
  return std::unique_ptr<Credentials>(new Credentials(std::move(loader), steady_ns));
}

Credentials::Credentials(std::unique_ptr<CredentialLoader> loader,
                         std::function<int64_t()> steady_ns)
    : loader_(std::move(loader)),
      steady_ns_(std::move(steady_ns)),
      current_(loader_->current()),
      thread_([this] { Run(); }) {}

Credentials::~Credentials() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<const Credential> Credentials::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void Credentials::Renew(uint64_t generation, std::function<void(Status status)> done) {
  {
    const std::lock_guard lock(mutex_);
    if (current_->generation <= generation) {
      waiting_.push_back({generation, std::move(done)});
      wake_.notify_all();
      return;
    }
  }
  done(Status::Ok());
}

void Credentials::Run() {
  ::pthread_setname_np(::pthread_self(), "berth-creds");
  for (;;) {
    std::vector<Waiting> waiting;
    const bool goes_on = Wait(waiting);
    if (!goes_on) {
      for (const Waiting& call : waiting) {
        call.done(Status::Unavailable("the credentials are not read any more"));
      }
      return;
    }
    const Status refreshed = loader_->Refresh(/*after_401=*/!waiting.empty());
    const uint64_t generation = loader_->current()->generation;
    {
      const std::lock_guard lock(mutex_);
      current_ = loader_->current();
    }
    for (const Waiting& call : waiting) {
      call.done(call.generation < generation ? Status::Ok() : NoNewer(refreshed));
    }
  }
}

bool Credentials::Wait(std::vector<Waiting>& waiting) {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return is_stopping_ || !waiting_.empty(); };
  const int64_t left_ns = std::max<int64_t>(loader_->next_ns() - steady_ns_(), 0);
  wake_.wait_for(lock, std::chrono::nanoseconds(left_ns), has_work);
  waiting = std::exchange(waiting_, {});
  return !is_stopping_;
}

}  // namespace berth::host
