#include "host/process/assemble/cluster_settings.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

namespace berth::host {
namespace {

constexpr size_t kReadBytes = size_t{16} << 10;

// The name that Go, and therefore Kubernetes, has for the processor.
#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "amd64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "arm64";
#else
constexpr std::string_view kArchitecture = "unknown";
#endif

Status CannotRead(int error) {
  const char* const text = std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Status::NotFound(text);
    case EACCES:
    case EPERM: return Status::PermissionDenied(text);
    default: return Status::InvalidArgument(text);
  }
}

}  // namespace

Result<std::string> ReadAccessFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return CannotRead(EISDIR);
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CannotRead(errno);
  std::string text;
  std::vector<char> piece(kReadBytes);
  while (file && text.size() <= kMaxKubeconfigBytes) {
    const size_t left = kMaxKubeconfigBytes + 1 - text.size();
    file.read(piece.data(), static_cast<std::streamsize>(std::min(piece.size(), left)));
    text.append(piece.data(), static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return Status::InvalidArgument("the file cannot be read");
  // The text may be kept for as long as the process runs.
  text.shrink_to_fit();
  return text;
}

AccessRequest WithHostFile(AccessRequest request, const ClusterConfig& config) {
  if (request.kubeconfig.empty()) request.kubeconfig = config.kubeconfig.value_or("");
  return request;
}

Result<ClusterAccess> FindClusterAccess(const ClusterTarget& target, const ClusterConfig& config) {
  return FindClusterAccess(WithHostFile(target.access, config), target.environment);
}

Result<std::unique_ptr<KubernetesConnection>> OpenConnection(const ClusterTarget& target,
                                                             const ClusterAccess& access,
                                                             ConnectionOptions options,
                                                             TransportObserver& observer,
                                                             LogSink& log) {
  options.user_agent = target.user_agent;
  return KubernetesConnection::Open(access, options, target.credentials, observer, log);
}

ElectionOptions ElectionOptionsOf(const ClusterConfig& config) {
  ElectionOptions options;
  options.ns = config.lease_namespace.value_or(options.ns);
  options.name = config.lease_name.value_or(options.name);
  options.lease_ns = config.lease_ns.value_or(kDefaultLeaseNs);
  options.renew_deadline_ns = config.renew_deadline_ns.value_or(kDefaultRenewDeadlineNs);
  options.retry_ns = config.retry_ns.value_or(kDefaultRetryNs);
  options.stall_limit_ns = config.stall_limit_ns.value_or(options.stall_limit_ns);
  return options;
}

size_t MaxOpenBindings(const ClusterConfig& config) {
  constexpr size_t kPerConnection = 2;
  return kPerConnection * config.connections.value_or(ConnectionOptions().write_connections);
}

std::string UserAgentOf(std::string_view version) {
  return std::string("berth/").append(version).append(" (linux/").append(kArchitecture) + ")";
}

}  // namespace berth::host
