// The credentials of an AuthConfig, and their renewal: files, and exec credential plugins.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_CREDENTIALS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_CREDENTIALS_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "host/base/child_process.h"
#include "host/base/log.h"
#include "host/base/secret.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/http/credential_source.h"

namespace berth::host {

// ---- Exec credential plugins --------------------------------------------------------------------
//
// Programs that print a credential. (client-go: pkg/apis/clientauthentication and
// plugin/pkg/client/auth/exec)

// The `status` of an ExecCredential.
struct ExecCredential {
  Secret token;
  ClientCertificate certificate;
  int64_t expires_ns = 0;  // 0: never.
};

// How long a plugin may run.
inline constexpr int64_t kExecLimitNs = 30'000'000'000;

// Returns the value of KUBERNETES_EXEC_INFO, an ExecCredential with `spec`. If the plugin asks for
// cluster information, it contains `endpoint`, with the CA of TlsSettings::ca_pem and without user
// and password of a proxy. `interactive` is always false.
std::string ExecInfo(const ExecConfig& config, const Endpoint& endpoint);

// Returns how the plugin is started. `variables` are those of this process; those of the kubeconfig
// and KUBERNETES_EXEC_INFO replace the ones with the same name.
Subprocess ExecCommand(const ExecConfig& config, const Endpoint& endpoint,
                       std::span<const std::string> variables);

// Reads what the plugin printed.
// Errors: kInvalidArgument: no JSON, another kind or apiVersion than the kubeconfig names, neither
//         a token nor a certificate, a certificate without its key, an expirationTimestamp that is
//         no time. The message never contains a part of the output.
Result<ExecCredential> ReadExecCredential(std::string_view output, const ExecConfig& config);

// ---- Reading ------------------------------------------------------------------------------------

// The parts of the process that credentials are read with. Injected, so that tests own them.
struct CredentialEnvironment {
  std::function<int64_t()> steady_ns;
  std::function<int64_t()> wall_ns;
  std::function<Result<std::string>(const std::string& path)> read_file;
  // Runs an exec plugin: RunSubprocess() in production.
  std::function<Result<SubprocessResult>(const Subprocess& what)> run;
  // The environment of exec plugins: that of this process, as "NAME=value".
  std::vector<std::string> variables;
};

// Returns the lines "Authorization" and "Impersonate-..." of requests, each with its line end.
// `token` replaces the token of `auth` if it is not empty.
// Errors: kInvalidArgument for a line end or another control character in one of the values, which
//         would add headers.
Result<Secret> CredentialHeaders(const AuthConfig& auth, const Secret& token);

// Reads credentials from files and exec plugins. Credentials calls it on a thread of its own.
//
// Threading: one thread at a time. Refresh() blocks on files and on the exec plugin.
class CredentialLoader {
 public:
  // TlsContext::Create() in production.
  using MakeTls = std::function<Result<std::shared_ptr<const TlsContext>>(
      const TlsSettings& settings, const std::string& host, const ClientCertificate& certificate)>;

  CredentialLoader(ClusterAccess access, CredentialEnvironment environment, MakeTls make_tls,
                   Log log);

  // Reads the files again, and runs the exec plugin if that is due. What cannot be read keeps its
  // old content, and is logged, unless this is the first call.
  // Returns: the first error; success if everything was read, whether it has changed or not.
  Status Refresh(bool after_401);

  // Null before the first Refresh() that succeeds.
  const std::shared_ptr<const Credential>& current() const { return current_; }
  // The monotonic time of the next Refresh().
  int64_t next_ns() const { return next_ns_; }

 private:
  // The contents that a credential is made of.
  struct Contents {
    Secret token;  // That of the token file or of the exec plugin.
    std::string ca_pem;
    ClientCertificate certificate;
    int64_t expires_ns = 0;

    friend bool operator==(const Contents&, const Contents&) = default;
  };

  Status ReadToken(Contents& contents) const;
  Status ReadCa(Contents& contents) const;
  Status ReadCertificate(Contents& contents) const;
  // `what` names the file in the error.
  Result<std::string> ReadFile(std::string_view what, const std::string& path) const;
  bool IsExecDue(bool after_401) const;
  Status RunExec(bool after_401, Contents& contents);
  Result<ExecCredential> CallPlugin(const Contents& contents) const;
  Status Publish(Contents contents);
  void SetNext();

  const ClusterAccess access_;
  const CredentialEnvironment environment_;
  const MakeTls make_tls_;
  const Log log_;
  Contents contents_;  // What current_ is made of.
  std::shared_ptr<const Credential> current_;
  std::optional<int64_t> exec_ran_ns_;  // When the plugin was run last, on the monotonic clock.
  int64_t next_ns_ = 0;
};

// ---- Renewal ------------------------------------------------------------------------------------

// Reads the files of an AuthConfig and runs its exec plugin, on a thread of its own, so that a
// plugin that hangs delays neither a request nor the lease: requests go on with the credential that
// they have.
//
//   token file        read again every minute, and after a 401. If it cannot be read, the old token
//                     stays, with a warning. (client-go: transport/token_source.go)
//   certificate, key  read again with the token file. If their content has changed, there is a new
//   and CA files      TlsContext; pools and watches then close the connections of the old one. If
//                     they cannot be used, such as a certificate whose key is not written yet, the
//                     old ones stay, with a warning.
//   exec              run at the start, after a 401, and when the credential expires, ten seconds
//                     ahead. At most once in ten seconds. Its certificate is not used if the
//                     AuthConfig has one.
//
// Threading: any. The destructor waits for an exec plugin that is running, at most its time limit.
class Credentials final : public CredentialSource {
 public:
  using Environment = CredentialEnvironment;

  // Reports why the exec plugin failed, and returns after `delay_ns`.
  using WaitAfterFailure = std::function<void(const Status& status, int64_t delay_ns)>;

  // Reads everything once. An exec plugin that runs and fails, prints something else or takes too
  // long may succeed later, such as when its login service answers again: with `wait`, it is run
  // again until it succeeds, after delays of 1 s that double up to 30 s, each multiplied by a
  // random number from 1 to 2. Without `wait`, and for every other failure, Load() returns an
  // error.
  // Errors: kInvalidArgument, kNotFound, kPermissionDenied, with the file or the plugin and what to
  //         do; for an exec plugin that does not exist, its installHint. kUnavailable without
  //         `wait`: the exec plugin has failed.
  static Result<std::unique_ptr<Credentials>> Load(const ClusterAccess& access,
                                                   Environment environment, Log log,
                                                   const WaitAfterFailure& wait = {});
  ~Credentials() override;

  std::shared_ptr<const Credential> Current() const override;
  void Renew(uint64_t generation, std::function<void(Status status)> done) override;

 private:
  // A call of Renew() that has no answer yet.
  struct Waiting {
    uint64_t generation;
    std::function<void(Status status)> done;
  };

  Credentials(std::unique_ptr<CredentialLoader> loader, std::function<int64_t()> steady_ns);
  void Run();
  // Waits for calls of Renew(), which it moves to `waiting`, for the time of the next refresh, or
  // for the end. Returns false at the end.
  bool Wait(std::vector<Waiting>& waiting);

  const std::unique_ptr<CredentialLoader> loader_;  // Used by the thread alone.
  const std::function<int64_t()> steady_ns_;
  mutable std::mutex mutex_;  // Guards the next three.
  std::shared_ptr<const Credential> current_;
  std::vector<Waiting> waiting_;
  bool is_stopping_ = false;
  std::condition_variable wake_;
  std::thread thread_;  // Last: it uses the others.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_CREDENTIALS_H_
