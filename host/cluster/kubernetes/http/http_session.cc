#include "host/cluster/kubernetes/http/http_session.h"

#include <mutex>
#include <utility>

#include "host/base/time.h"
#include "host/cluster/kubernetes/http/retry_delay.h"

namespace berth::host {
namespace {

constexpr size_t kMaxLoggedWarnings = 100;

}  // namespace

class HttpSession::Gate {
 public:
  explicit Gate(Executor& executor) : executor_(&executor) {}

  void Post(Executor::Task task) {
    const std::lock_guard lock(mutex_);
    if (executor_ != nullptr) executor_->Post(std::move(task));
  }
  void Close() {
    const std::lock_guard lock(mutex_);
    executor_ = nullptr;
  }

 private:
  std::mutex mutex_;
  Executor* executor_;
};

HttpSession::HttpSession(Executor& executor, Dialer dial, Endpoint endpoint,
                         CredentialSource& credentials, HttpOptions options,
                         TransportObserver& observer, Log log)
    : executor_(executor),
      dial_(std::move(dial)),
      endpoint_(std::move(endpoint)),
      credentials_(credentials),
      options_(std::move(options)),
      observer_(observer),
      log_(log),
      host_(endpoint_.server.HostAndPort()),
      rate_limit_(options_.qps, options_.burst),
      random_(options_.seed != 0 ? options_.seed : static_cast<uint64_t>(executor.NowNs())),
      gate_(std::make_shared<Gate>(executor)),
      pool_(executor, dial_, credentials, options_.pool, observer) {}

std::string HttpSession::Write(const HttpRequest& request, const Credential& credential) const {
  std::string headers;
  if (!options_.user_agent.empty()) headers = "User-Agent: " + options_.user_agent + "\r\n";
  headers.append(credential.headers.Reveal());
  return WriteRequest(request, endpoint_.server.path, host_, headers);
}

void HttpSession::LogWarnings(const HttpHead& head) {
  for (const std::string& warning : head.warnings) {
    if (logged_warnings_.size() >= kMaxLoggedWarnings) return;
    if (!logged_warnings_.insert(warning).second) continue;
    log_.Warning("The API server sent a warning", {{"warning", warning}});
  }
}

void HttpSession::Pause(int64_t retry_after_ns) {
  const int64_t now_ns = executor_.NowNs();
  const int64_t base_ns = LimitRetryAfterNs(retry_after_ns);
  // Clients that were refused together must not return together.
  const auto jitter_ns =
      static_cast<int64_t>(random_.Next() % (static_cast<uint64_t>(base_ns) / 10 + 1));
  if (rate_limit_.PauseLeftNs(now_ns) == 0) {
    log_.Info("The API server asks for a pause",
              {{"server", host_}, {"pause", FormatDuration(base_ns + jitter_ns)}});
  }
  rate_limit_.PauseUntil(now_ns + base_ns + jitter_ns);
}

void HttpSession::Renew(uint64_t generation, std::function<void(Status status)> done) {
  credentials_.Renew(generation, [gate = gate_, done = std::move(done)](Status status) {
    gate->Post([done, status = std::move(status)] { done(status); });
  });
}

void HttpSession::Close() {
  gate_->Close();
  pool_.Close();
}

}  // namespace berth::host
