// Fuzzes the reader of what exec credential plugins print.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "host/base/assert.h"
#include "host/cluster/kubernetes/access/credentials.h"

namespace berth::host {
namespace {

// A text that a plugin may print and that no message may repeat.
constexpr std::string_view kCanary = "c4n4ry";

void RunOutput(std::string_view output) {
  for (const char* version :
       {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    ExecConfig config;
    config.api_version = version;
    config.command = "plugin";
    const Result<ExecCredential> credential = ReadExecCredential(output, config);
    if (!credential.ok()) {
      BERTH_ASSERT(credential.status().code() == ErrorCode::kInvalidArgument);
      BERTH_ASSERT(credential.status().message().find(kCanary) == std::string_view::npos);
      continue;
    }
    BERTH_ASSERT(!credential->token.empty() || !credential->certificate.empty());
    BERTH_ASSERT(credential->certificate.empty() == credential->certificate.key_pem.empty());
  }
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::RunOutput({reinterpret_cast<const char*>(data), size});
  return 0;
}
