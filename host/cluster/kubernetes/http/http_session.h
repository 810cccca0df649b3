// The state that the requests of one HttpTransport share.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_SESSION_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "host/base/executor.h"
#include "host/base/log.h"
#include "host/base/split_mix.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/http/byte_stream.h"
#include "host/cluster/kubernetes/http/connection_pool.h"
#include "host/cluster/kubernetes/http/credential_source.h"
#include "host/cluster/kubernetes/http/endpoint.h"
#include "host/cluster/kubernetes/http/rate_limit.h"
#include "host/cluster/kubernetes/http/response_reader.h"
#include "host/cluster/kubernetes/http/transport.h"

namespace berth::host {

struct HttpOptions {
  ConnectionPool::Limits pool = {};
  DialOptions dial = {};
  // `body_bytes` does not apply to streams, whose receivers have limits of their own.
  ResponseReader::Limits limits = {.body_bytes = size_t{64} << 20};
  int64_t timeout_ns = 34'000'000'000;  // The API server's own limit of a request.
  double qps = 0;                       // 0: no limit.
  uint32_t burst = 0;
  std::string user_agent = {};  // "berth/0.1.0 (linux/amd64)"
  uint64_t seed = 0;            // For the jitter of pauses; 0: the time of the executor.
};

// Threading: the executor's thread.
class HttpSession {
 public:
  HttpSession(Executor& executor, Dialer dial, Endpoint endpoint, CredentialSource& credentials,
              HttpOptions options, TransportObserver& observer, Log log);
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;

  Executor& executor() { return executor_; }
  const Dialer& dial() const { return dial_; }
  const CredentialSource& credentials() const { return credentials_; }
  const HttpOptions& options() const { return options_; }
  TransportObserver& observer() { return observer_; }
  ConnectionPool& pool() { return pool_; }
  RateLimit& rate_limit() { return rate_limit_; }
  const std::string& host() const { return host_; }

  // Returns the bytes of the request. REQUIRES: CheckRequest() is Ok.
  std::string Write(const HttpRequest& request, const Credential& credential) const;
  // Logs the warnings of an answer, each text once.
  void LogWarnings(const HttpHead& head);
  // Delays all requests that have not been sent: the server has answered 429 with Retry-After;
  // see LimitRetryAfterNs().
  void Pause(int64_t retry_after_ns);
  // Calls CredentialSource::Renew(). `done` is called on the executor's thread, never within the
  // call, and not at all after Close().
  void Renew(uint64_t generation, std::function<void(Status status)> done);
  // Closes the pool.
  void Close();

 private:
  // Posts the results of renewals, as long as the session is open.
  class Gate;

  Executor& executor_;
  const Dialer dial_;
  const Endpoint endpoint_;
  CredentialSource& credentials_;
  const HttpOptions options_;
  TransportObserver& observer_;
  const Log log_;
  const std::string host_;
  RateLimit rate_limit_;
  SplitMix64 random_;
  std::set<std::string> logged_warnings_;
  const std::shared_ptr<Gate> gate_;
  ConnectionPool pool_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_HTTP_HTTP_SESSION_H_
