#include "host/cluster/kubernetes/access/exec_credential.h"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/base64.h"
#include "host/base/json_text.h"
#include "host/base/time.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

void SetVariable(std::vector<std::string>& variables, const std::string& name,
                 const std::string& value) {
  const std::string prefix = name + "=";
  std::erase_if(variables, [&](const std::string& other) { return other.starts_with(prefix); });
  variables.push_back(prefix + value);
}

// Returns a member of `status`; empty if it is absent or null.
Result<std::string> TextOf(const Json& status, const char* key) {
  const auto found = status.find(key);
  if (found == status.end() || found->is_null()) return std::string();
  if (found->is_string()) return found->get<std::string>();
  return Status::InvalidArgument(std::string("status.") + key +
                                 ": expected a string, found another value");
}

Status CheckType(const Json& json, const ExecConfig& config) {
  const auto is_text = [&](const char* key, const std::string& expected) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() && found->get<std::string>() == expected;
  };
  if (!is_text("kind", "ExecCredential")) {
    return Status::InvalidArgument("kind: expected ExecCredential, found another value");
  }
  if (is_text("apiVersion", config.api_version)) return Status::Ok();
  return Status::InvalidArgument("apiVersion: expected " + config.api_version +
                                 " as in the kubeconfig, found another value");
}

}  // namespace

std::string ExecInfo(const ExecConfig& config, const Endpoint& endpoint) {
  Json spec = Json::object();
  if (config.provide_cluster_info) {
    Json cluster = {{"server", endpoint.server.ToString()}};
    const TlsSettings& tls = endpoint.tls;
    if (!tls.server_name.empty()) cluster["tls-server-name"] = tls.server_name;
    if (tls.insecure) cluster["insecure-skip-tls-verify"] = true;
    if (!tls.ca_pem.empty()) cluster["certificate-authority-data"] = EncodeBase64(tls.ca_pem);
    if (endpoint.proxy) cluster["proxy-url"] = endpoint.proxy->ToString();
    spec["cluster"] = std::move(cluster);
  }
  spec["interactive"] = false;
  const Json info = {
      {"kind", "ExecCredential"}, {"apiVersion", config.api_version}, {"spec", std::move(spec)}};
  return DumpJson(info);
}

Subprocess ExecCommand(const ExecConfig& config, const Endpoint& endpoint,
                       std::span<const std::string> variables) {
  Subprocess what;
  what.program = config.command;
  const bool is_relative =
      config.command.find('/') != std::string::npos && config.command[0] != '/';
  if (is_relative && !config.directory.empty()) {
    what.program = (std::filesystem::path(config.directory) / config.command).string();
  }
  what.arguments = config.args;
  what.environment.assign(variables.begin(), variables.end());
  for (const auto& [name, value] : config.environment) SetVariable(what.environment, name, value);
  SetVariable(what.environment, "KUBERNETES_EXEC_INFO", ExecInfo(config, endpoint));
  what.limit_ns = kExecLimitNs;
  return what;
}

Result<ExecCredential> ReadExecCredential(std::string_view output, const ExecConfig& config) {
  const Result<Json> json = ParseBody(output);
  if (!json.ok()) {
    return Status::InvalidArgument("expected an ExecCredential as JSON, found other text");
  }
  Status type = CheckType(*json, config);
  if (!type.ok()) return type;
  const auto status = json->find("status");
  if (status == json->end() || !status->is_object()) {
    return Status::InvalidArgument("status: expected an object, found none");
  }
  ExecCredential credential;
  Result<std::string> token = TextOf(*status, "token");
  Result<std::string> chain = TextOf(*status, "clientCertificateData");
  Result<std::string> key = TextOf(*status, "clientKeyData");
  const Result<std::string> expires = TextOf(*status, "expirationTimestamp");
  for (const Result<std::string>* text :
       std::initializer_list<const Result<std::string>*>{&token, &chain, &key, &expires}) {
    if (!text->ok()) return text->status();
  }
  if (chain->empty() != key->empty()) {
    return Status::InvalidArgument(
        "status: expected clientCertificateData and clientKeyData, found only one of them");
  }
  if (token->empty() && chain->empty()) {
    return Status::InvalidArgument("status: expected a token or a client certificate, found none");
  }
  credential.token = Secret(*std::move(token));
  credential.certificate = {*std::move(chain), Secret(*std::move(key))};
  if (expires->empty()) return credential;
  const Result<int64_t> time = ParseTime(*expires);
  if (!time.ok()) {
    return Status::InvalidArgument(
        "status.expirationTimestamp: expected a time such as 2026-01-10T08:00:00Z, found other "
        "text");
  }
  // 0 would be a credential that never expires.
  credential.expires_ns = std::max<int64_t>(*time, 1);
  return credential;
}

}  // namespace berth::host
