// The credentials of an AuthConfig, and their renewal.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_CREDENTIALS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_ACCESS_CREDENTIALS_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/base/child_process.h"
#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"
#include "host/cluster/kubernetes/http/credential_source.h"

namespace berth::host {

class CredentialLoader;

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
  struct Environment {
    std::function<int64_t()> steady_ns;
    std::function<int64_t()> wall_ns;
    std::function<Result<std::string>(const std::string& path)> read_file;
    // Runs an exec plugin: RunSubprocess() in production.
    std::function<Result<SubprocessResult>(const Subprocess& what)> run;
    // The environment of exec plugins: that of this process, as "NAME=value".
    std::vector<std::string> variables;
  };

  // Reads everything once.
  // Errors: kInvalidArgument, kNotFound, kPermissionDenied, kUnavailable, with the file or the
  //         plugin and what to do. For an exec plugin that does not exist, its installHint.
  static Result<std::unique_ptr<Credentials>> Load(const ClusterAccess& access,
                                                   Environment environment, Log log);
  ~Credentials() override;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

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
