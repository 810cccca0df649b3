// Fuzzes the reader of kubeconfigs: two files, which the first byte 0 separates.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/assert.h"
#include "host/cluster/kubernetes/access/kubeconfig.h"

namespace berth::host {
namespace {

void CheckUrl(std::string_view text) {
  const Result<ServerUrl> url = ServerUrl::Parse(text, "server");
  if (!url.ok()) return;
  BERTH_ASSERT(!url->host.empty() && url->port != 0);
  const Result<ServerUrl> again = ServerUrl::Parse(url->ToString(), "server");
  BERTH_ASSERT(again.ok() && again->ToString() == url->ToString());
  BERTH_ASSERT(again->user.empty() && again->password.empty());
}

void CheckAccess(const std::vector<KubeconfigFile>& files, const AccessRequest& request) {
  const Result<ClusterAccess> access = ReadKubeconfigs(files, request);
  if (!access.ok()) {
    BERTH_ASSERT(!access.status().message().empty());
    return;
  }
  BERTH_ASSERT(CheckEndpoint(access->endpoint, request.allow_plain_http).ok());
  BERTH_ASSERT(!access->ns.empty());
  BERTH_ASSERT(!access->auth.exec || !access->auth.exec->command.empty());
  CheckUrl(access->endpoint.server.ToString());
}

void RunKubeconfig(std::string_view text) {
  CheckUrl(text.substr(0, text.find('\n')));
  const size_t end = text.find('\0');
  std::vector<KubeconfigFile> files = {{"/etc/a/config", std::string(text.substr(0, end))}};
  if (end != std::string_view::npos) {
    files.push_back({"/etc/b/config", std::string(text.substr(end + 1))});
  }
  CheckAccess(files, {});
  CheckAccess(files, {.context = "b", .allow_plain_http = true});
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::RunKubeconfig({reinterpret_cast<const char*>(data), size});
  return 0;
}
