#include "host/cluster/kubernetes/access/kubeconfig_entry.h"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "host/base/base64.h"
#include "host/base/text.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

std::string_view TypeName(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null: return "null";
    case Json::value_t::boolean: return "a boolean";
    case Json::value_t::string: return "a string";
    case Json::value_t::array: return "a list";
    case Json::value_t::object: return "a mapping";
    default: return "a number; write it between quotes if it is a text";
  }
}

// Escapes a key of a JSON pointer. (RFC 6901)
std::string PointerPart(std::string_view key) {
  std::string part = "/";
  for (const char c : key) {
    if (c == '~') {
      part += "~0";
    } else if (c == '/') {
      part += "~1";
    } else {
      part += c;
    }
  }
  return part;
}

KubeconfigPlace ElementOf(const KubeconfigPlace& list, size_t index) {
  const std::string number = std::to_string(index);
  return {list.file, list.pointer + "/" + number, list.key + "[" + number + "]"};
}

// ---- Users --------------------------------------------------------------------------------------

constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";

void ReadCertificate(const KubeconfigEntry& entry, const std::string& path, AuthConfig& auth) {
  auth.certificate_file = ResolveKubeconfigPath(path, entry.String("client-certificate"));
  auth.certificate_pem = entry.Base64("client-certificate-data");
  auth.key_file = ResolveKubeconfigPath(path, entry.String("client-key"));
  auth.key_pem = Secret(entry.Base64("client-key-data"));
  if (!auth.certificate_file.empty() && !auth.certificate_pem.empty()) {
    entry.Fail("client-certificate-data",
               "expected either client-certificate or client-certificate-data, found both");
  }
  if (!auth.key_file.empty() && !auth.key_pem.empty()) {
    entry.Fail("client-key-data", "expected either client-key or client-key-data, found both");
  }
  const bool has_certificate = !auth.certificate_file.empty() || !auth.certificate_pem.empty();
  const bool has_key = !auth.key_file.empty() || !auth.key_pem.empty();
  if (has_certificate && !has_key) {
    entry.Fail("", "expected client-key or client-key-data with the client certificate");
  }
  if (has_key && !has_certificate) {
    entry.Fail("", "expected client-certificate or client-certificate-data with the client key");
  }
}

void CheckInteractiveMode(const KubeconfigEntry& entry, std::string_view api_version) {
  const std::string mode = entry.String("interactiveMode");
  if (mode == "Always") {
    return entry.Fail("interactiveMode",
                      "the plugin requires a terminal, which a scheduler does not have");
  }
  const bool may_be_empty = api_version != kExecV1;
  if (mode == "Never" || mode == "IfAvailable" || (mode.empty() && may_be_empty)) return;
  entry.Fail("interactiveMode", "expected Never, IfAvailable or Always, found " + Quoted(mode));
}

ExecConfig ReadExec(const KubeconfigEntry& entry, const std::string& path) {
  entry.WarnOfOtherKeys({"apiVersion", "command", "args", "env", "installHint",
                         "provideClusterInfo", "interactiveMode"});
  ExecConfig exec;
  exec.api_version = entry.String("apiVersion");
  if (exec.api_version != kExecV1 && exec.api_version != kExecV1Beta1) {
    entry.Fail("apiVersion", std::string("expected ")
                                 .append(kExecV1)
                                 .append(" or ")
                                 .append(kExecV1Beta1)
                                 .append(", found ")
                                 .append(Quoted(exec.api_version)));
  }
  exec.command = entry.String("command");
  if (exec.command.empty()) entry.Fail("command", "expected a program, found none");
  exec.args = entry.Strings("args");
  for (const KubeconfigEntry& variable : entry.Objects("env")) {
    std::string name = variable.String("name");
    if (name.empty() || name.find('=') != std::string::npos) {
      variable.Fail("name", "expected the name of a variable, found " + Quoted(name));
    }
    exec.environment.emplace_back(std::move(name), variable.String("value"));
  }
  exec.install_hint = entry.String("installHint");
  exec.provide_cluster_info = entry.Bool("provideClusterInfo");
  exec.directory = std::filesystem::path(path).parent_path().string();
  CheckInteractiveMode(entry, exec.api_version);
  return exec;
}

void ReadImpersonation(const KubeconfigEntry& entry, AuthConfig& auth) {
  auth.as = entry.String("as");
  auth.as_uid = entry.String("as-uid");
  auth.as_groups = entry.Strings("as-groups");
  if (const std::optional<KubeconfigEntry> extra = entry.Object("as-user-extra")) {
    for (const std::string& key : extra->Keys()) {
      for (std::string& value : extra->Strings(key.c_str())) {
        auth.as_extra.emplace_back(key, std::move(value));
      }
    }
  }
  const bool has_more = !auth.as_uid.empty() || !auth.as_groups.empty() || !auth.as_extra.empty();
  if (has_more && auth.as.empty()) {
    entry.Fail("as",
               "expected the user to impersonate, because as-uid, as-groups or "
               "as-user-extra is set");
  }
}

}  // namespace

KubeconfigPlace KubeconfigEntry::PlaceOf(const std::string& key) const {
  if (key.empty()) return place_;
  const std::string prefix = place_.key.empty() ? "" : place_.key + ".";
  return {place_.file, place_.pointer + PointerPart(key), prefix + key};
}

const Json* KubeconfigEntry::Find(const char* key, bool (Json::*is_type)() const,
                                  std::string_view expected) const {
  const auto found = json_->find(key);
  if (found == json_->end() || found->is_null()) return nullptr;
  if (((*found).*is_type)()) return &*found;
  FailType(PlaceOf(key), expected, *found);
  return nullptr;
}

void KubeconfigEntry::FailType(const KubeconfigPlace& place, std::string_view expected,
                               const Json& found) const {
  problems_->errors.push_back(
      {place,
       std::string("expected ").append(expected).append(", found ").append(TypeName(found))});
}

std::string KubeconfigEntry::String(const char* key) const {
  const Json* const value = Find(key, &Json::is_string, "a string");
  return value == nullptr ? "" : value->get<std::string>();
}

bool KubeconfigEntry::Bool(const char* key) const {
  const Json* const value = Find(key, &Json::is_boolean, "true or false");
  return value != nullptr && value->get<bool>();
}

std::string KubeconfigEntry::Base64(const char* key) const {
  std::optional<std::string> bytes = DecodeBase64(String(key));
  if (bytes) return *std::move(bytes);
  Fail(key, "expected base64, found other text");
  return "";
}

std::vector<std::string> KubeconfigEntry::Strings(const char* key) const {
  std::vector<std::string> texts;
  const Json* const value = Find(key, &Json::is_array, "a list of strings");
  if (value == nullptr) return texts;
  for (size_t i = 0; i < value->size(); ++i) {
    const Json& element = (*value)[i];
    if (element.is_string()) {
      texts.push_back(element.get<std::string>());
    } else {
      FailType(ElementOf(PlaceOf(key), i), "a string", element);
    }
  }
  return texts;
}

std::optional<KubeconfigEntry> KubeconfigEntry::Object(const char* key) const {
  const Json* const value = Find(key, &Json::is_object, "a mapping");
  if (value == nullptr) return std::nullopt;
  return KubeconfigEntry(*value, PlaceOf(key), *problems_);
}

std::vector<KubeconfigEntry> KubeconfigEntry::Objects(const char* key) const {
  std::vector<KubeconfigEntry> entries;
  const Json* const value = Find(key, &Json::is_array, "a list");
  if (value == nullptr) return entries;
  for (size_t i = 0; i < value->size(); ++i) {
    const Json& element = (*value)[i];
    const KubeconfigPlace place = ElementOf(PlaceOf(key), i);
    if (element.is_object()) {
      entries.emplace_back(element, place, *problems_);
    } else {
      FailType(place, "a mapping", element);
    }
  }
  return entries;
}

std::vector<std::string> KubeconfigEntry::Keys() const {
  std::vector<std::string> keys;
  for (const auto& member : json_->items()) keys.push_back(member.key());
  return keys;
}

void KubeconfigEntry::WarnOfOtherKeys(std::initializer_list<std::string_view> known) const {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string& key : Keys()) {
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    // A suggestion for a long key would take long to find.
    const bool is_short = key.size() <= kMaxQuotedBytes;
    Warn("", "the key " + Quoted(key) + " is not read" +
                 (is_short ? DidYouMean(key, names) : std::string()));
  }
}

// ---- Users --------------------------------------------------------------------------------------

std::string ResolveKubeconfigPath(const std::string& file, const std::string& path) {
  if (path.empty() || path[0] == '/') return path;
  return (std::filesystem::path(file).parent_path() / path).string();
}

AuthConfig ReadKubeconfigUser(const KubeconfigEntry& entry, const std::string& path) {
  entry.WarnOfOtherKeys({"client-certificate", "client-certificate-data", "client-key",
                         "client-key-data", "token", "tokenFile", "as", "as-uid", "as-groups",
                         "as-user-extra", "username", "password", "auth-provider", "exec",
                         "extensions"});
  AuthConfig auth;
  ReadCertificate(entry, path, auth);
  auth.token = Secret(entry.String("token"));
  auth.token_file = ResolveKubeconfigPath(path, entry.String("tokenFile"));
  auth.user_name = entry.String("username");
  auth.password = Secret(entry.String("password"));
  const bool has_token = !auth.token.empty() || !auth.token_file.empty();
  const bool has_basic = !auth.user_name.empty() || !auth.password.empty();
  if (has_token && has_basic) {
    entry.Fail("", "expected either a token or username and password, found both");
  }
  if (has_basic && auth.user_name.find(':') != std::string::npos) {
    entry.Fail("username", "expected a name without a colon");  // RFC 7617, section 2.
  }
  if (entry.Object("auth-provider")) {
    entry.Fail("auth-provider",
               "this kind of credentials is not supported; use an exec credential plugin");
  }
  if (const auto exec = entry.Object("exec")) auth.exec = ReadExec(*exec, path);
  if (auth.exec && (has_token || has_basic)) {
    entry.Warn("exec", "the plugin is not used, because the user has other credentials");
    auth.exec.reset();
  }
  ReadImpersonation(entry, auth);
  return auth;
}

}  // namespace berth::host
