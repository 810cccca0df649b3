#include "host/process/cluster_settings.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace berth::host {
namespace {

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
  std::string text(kMaxKubeconfigBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Status::InvalidArgument("the file cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

AccessRequest WithHostFile(AccessRequest request, const ClusterConfig& config) {
  if (request.kubeconfig.empty()) request.kubeconfig = config.kubeconfig.value_or("");
  return request;
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

}  // namespace berth::host
