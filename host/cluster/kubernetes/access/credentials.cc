#include "host/cluster/kubernetes/access/credentials.h"

#include <pthread.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/base64.h"
#include "host/base/child_process.h"
#include "host/base/hash.h"
#include "host/base/json_text.h"
#include "host/base/mask.h"
#include "host/base/saturating.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"
#include "host/cluster/json_body.h"
#include "host/http/pacing.h"

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

constexpr int64_t kReadEveryNs = kMinute;
constexpr int64_t kExecAheadNs = 10 * kSecond;
constexpr int64_t kExecEveryNs = 10 * kSecond;
// How much of a plugin's standard error a message contains.
constexpr size_t kMaxPluginErrorBytes = 300;

bool IsHeaderValue(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && c != '\t') || byte == 0x7F;
  });
}

// client-go: transport/round_trippers.go, headerKeyEscape. "%" may be in the name of a header, but
// begins an escape here. (RFC 9110, section 5.6.2)
std::string EscapeHeaderName(std::string_view key) { return PercentEncode(key, "!#$&'*+-.^_`|~"); }

// Returns why the plugin's status is no success, with the beginning of its standard error, in which
// secrets are masked.
Status ExitError(const SubprocessResult& result) {
  std::string text =
      WIFSIGNALED(result.status)
          ? "the program was ended by " + SignalText(WTERMSIG(result.status))
          : "the program ended with status " + std::to_string(WEXITSTATUS(result.status));
  const std::string errors = MaskSecrets(TrimSpace(result.errors));
  if (!errors.empty()) text.append(": ").append(Quoted(errors, kMaxPluginErrorBytes));
  return Status::Unavailable(std::move(text));
}

// Returns the error of a plugin as kUnavailable, unless it cannot be started: one that exists and
// ran may print a credential the next time.
Status RunError(const Status& status) {
  const bool is_final =
      status.code() == ErrorCode::kNotFound || status.code() == ErrorCode::kPermissionDenied;
  return is_final ? status : Status::Unavailable(std::string(status.message()));
}

bool HasOwnCertificate(const AuthConfig& auth) {
  return !auth.certificate_file.empty() || !auth.certificate_pem.empty();
}

void KeepFirst(Status& first, Status next) {
  if (first.ok()) first = std::move(next);
}

// Returns the answer to a call of Renew() after a refresh that brought no newer credential.
Status NoNewer(const Status& refreshed) {
  if (!refreshed.ok()) return refreshed;
  return Status::PermissionDenied(
      "the server refused the credentials, and there are no newer ones");
}

}  // namespace

// ---- Exec credential plugins --------------------------------------------------------------------

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

// ---- Reading ------------------------------------------------------------------------------------

Result<Secret> CredentialHeaders(const AuthConfig& auth, const Secret& token) {
  std::string text;
  std::string problem;
  const auto add = [&](const std::string& name, std::string_view value) {
    if (!IsHeaderValue(value) && problem.empty()) {
      problem = name + ": expected a text without line ends and other control characters";
    }
    text.append(name).append(": ").append(value).append("\r\n");
  };
  const Secret& bearer = token.empty() ? auth.token : token;
  if (!bearer.empty()) {
    add("Authorization", std::string("Bearer ").append(bearer.Reveal()));
  } else if (!auth.user_name.empty() || !auth.password.empty()) {
    const std::string pair = std::string(auth.user_name).append(":").append(auth.password.Reveal());
    add("Authorization", "Basic " + EncodeBase64(pair));
  }
  if (!auth.as.empty()) add("Impersonate-User", auth.as);
  if (!auth.as_uid.empty()) add("Impersonate-Uid", auth.as_uid);
  for (const std::string& group : auth.as_groups) add("Impersonate-Group", group);
  for (const auto& [key, value] : auth.as_extra) {
    add("Impersonate-Extra-" + EscapeHeaderName(key), value);
  }
  Secret lines(std::move(text));
  if (!problem.empty()) return Status::InvalidArgument(std::move(problem));
  return lines;
}

CredentialLoader::CredentialLoader(ClusterAccess access, CredentialEnvironment environment,
                                   MakeTls make_tls, Log log)
    : access_(std::move(access)),
      environment_(std::move(environment)),
      make_tls_(std::move(make_tls)),
      log_(log) {}

Status CredentialLoader::Refresh(bool after_401) {
  Contents contents = contents_;
  Status first;
  KeepFirst(first, ReadToken(contents));
  KeepFirst(first, ReadCa(contents));
  KeepFirst(first, ReadCertificate(contents));
  KeepFirst(first, RunExec(after_401, contents));
  const bool is_start = current_ == nullptr;
  if (!is_start || first.ok()) KeepFirst(first, Publish(std::move(contents)));
  SetNext();
  if (!first.ok() && !is_start) {
    log_.Warning("Cannot refresh the credentials; the old ones stay",
                 {{"source", access_.source}, {"cause", first.message()}});
  }
  return first;
}

Result<std::string> CredentialLoader::ReadFile(std::string_view what,
                                               const std::string& path) const {
  Result<std::string> text = environment_.read_file(path);
  if (!text.ok()) return text.status().Annotate(std::string(what).append(" ").append(path));
  return text;
}

Status CredentialLoader::ReadToken(Contents& contents) const {
  if (access_.auth.token_file.empty()) return Status::Ok();
  const Result<std::string> text = ReadFile("the token file", access_.auth.token_file);
  if (!text.ok()) return text.status();
  const std::string_view token = TrimSpace(*text);
  if (token.empty()) {
    return Status::InvalidArgument(access_.auth.token_file + ": the token file is empty");
  }
  contents.token = Secret(std::string(token));
  return Status::Ok();
}

Status CredentialLoader::ReadCa(Contents& contents) const {
  const TlsSettings& tls = access_.endpoint.tls;
  contents.ca_pem = tls.ca_file.empty() ? tls.ca_pem : contents.ca_pem;
  if (tls.ca_file.empty()) return Status::Ok();
  Result<std::string> text = ReadFile("the CA file", tls.ca_file);
  if (!text.ok()) return text.status();
  // Without a certificate in the file, the system's certificates would be trusted.
  if (TrimSpace(*text).empty()) return Status::InvalidArgument(tls.ca_file + ": the file is empty");
  contents.ca_pem = *std::move(text);
  return Status::Ok();
}

Status CredentialLoader::ReadCertificate(Contents& contents) const {
  const AuthConfig& auth = access_.auth;
  // The plugin may return one; see RunExec().
  if (auth.exec && !HasOwnCertificate(auth)) return Status::Ok();
  ClientCertificate read = {auth.certificate_pem, auth.key_pem};
  if (!auth.certificate_file.empty()) {
    Result<std::string> text = ReadFile("the client certificate", auth.certificate_file);
    if (!text.ok()) return text.status();
    read.chain_pem = *std::move(text);
  }
  if (!auth.key_file.empty()) {
    Result<std::string> text = ReadFile("the client key", auth.key_file);
    if (!text.ok()) return text.status();
    read.key_pem = Secret(*std::move(text));
  }
  contents.certificate = std::move(read);
  return Status::Ok();
}

bool CredentialLoader::IsExecDue(bool after_401) const {
  if (!access_.auth.exec) return false;
  if (current_ == nullptr || after_401) return true;
  return contents_.expires_ns != 0 &&
         SubtractTimes(contents_.expires_ns, environment_.wall_ns()) <= kExecAheadNs;
}

Status CredentialLoader::RunExec(bool after_401, Contents& contents) {
  if (!IsExecDue(after_401)) return Status::Ok();
  const int64_t now_ns = environment_.steady_ns();
  if (current_ != nullptr && now_ns - *exec_ran_ns_ < kExecEveryNs) {
    // The refresh that is due after the expiry comes again; a 401 has an answer now.
    if (!after_401) return Status::Ok();
    return Status::Unavailable(access_.auth.exec->command +
                               ": the credential plugin was run less than 10s ago");
  }
  exec_ran_ns_ = now_ns;
  Result<ExecCredential> credential = CallPlugin(contents);
  if (!credential.ok()) {
    std::string message = access_.auth.exec->command + ": ";
    message.append(credential.status().message());
    const std::string& hint = access_.auth.exec->install_hint;
    const bool is_missing = credential.status().code() == ErrorCode::kNotFound;
    if (is_missing && !hint.empty()) message.append("\n").append(MaskSecrets(hint));
    return {credential.status().code(), std::move(message)};
  }
  contents.token = std::move(credential->token);
  // client-go: transport/transport.go, TLSConfigFor: that of the kubeconfig has precedence.
  if (!HasOwnCertificate(access_.auth)) contents.certificate = std::move(credential->certificate);
  contents.expires_ns = credential->expires_ns;
  return Status::Ok();
}

Result<ExecCredential> CredentialLoader::CallPlugin(const Contents& contents) const {
  const ExecConfig& config = *access_.auth.exec;
  Endpoint endpoint = access_.endpoint;
  endpoint.tls.ca_pem = contents.ca_pem;
  Result<SubprocessResult> result =
      environment_.run(ExecCommand(config, endpoint, environment_.variables));
  if (!result.ok()) return RunError(result.status());
  const Secret output(std::move(result->output));
  if (result->status != 0) return ExitError(*result);
  Result<ExecCredential> credential = ReadExecCredential(output.Reveal(), config);
  if (!credential.ok()) return RunError(credential.status());
  return credential;
}

// A part that cannot be used, such as a new certificate whose key is not written yet, leaves the
// TLS settings as they are.
Status CredentialLoader::Publish(Contents contents) {
  if (current_ != nullptr && contents == contents_) return Status::Ok();
  Result<Secret> headers = CredentialHeaders(access_.auth, contents.token);
  if (!headers.ok()) return headers.status();
  auto next = std::make_shared<Credential>();
  next->generation = current_ == nullptr ? 1 : current_->generation + 1;
  next->headers = *std::move(headers);
  next->expires_ns = contents.expires_ns;
  const bool keeps_tls = current_ != nullptr && contents.ca_pem == contents_.ca_pem &&
                         contents.certificate == contents_.certificate;
  if (keeps_tls) {
    next->tls = current_->tls;
  } else if (access_.endpoint.server.scheme == ServerUrl::Scheme::kHttps) {
    TlsSettings settings = access_.endpoint.tls;
    settings.ca_pem = contents.ca_pem;
    Result<std::shared_ptr<const TlsContext>> tls =
        make_tls_(settings, access_.endpoint.server.host, contents.certificate);
    if (!tls.ok()) {
      if (current_ == nullptr) return tls.status();
      // The token may have rotated as well.
      contents.ca_pem = contents_.ca_pem;
      contents.certificate = contents_.certificate;
      static_cast<void>(Publish(std::move(contents)));
      return tls.status();
    }
    next->tls = *std::move(tls);
  }
  current_ = std::move(next);
  contents_ = std::move(contents);
  return Status::Ok();
}

void CredentialLoader::SetNext() {
  const int64_t now_ns = environment_.steady_ns();
  next_ns_ = now_ns + kReadEveryNs;
  if (!exec_ran_ns_ || contents_.expires_ns == 0) return;
  const int64_t left_ns = std::clamp(SubtractTimes(contents_.expires_ns, environment_.wall_ns()),
                                     int64_t{0}, kExecAheadNs + kReadEveryNs) -
                          kExecAheadNs;
  const int64_t exec_ns = std::max(now_ns + left_ns, *exec_ran_ns_ + kExecEveryNs);
  next_ns_ = std::min(next_ns_, exec_ns);
}

// ---- Renewal ------------------------------------------------------------------------------------

Result<std::unique_ptr<Credentials>> Credentials::Load(const ClusterAccess& access,
                                                       Environment environment, Log log,
                                                       const WaitAfterFailure& wait) {
  const std::function<int64_t()> steady_ns = environment.steady_ns;
  auto loader =
      std::make_unique<CredentialLoader>(access, std::move(environment), &TlsContext::Create, log);
  RetryDelay delay({.first_ns = kSecond}, HashBytes(access.source));
  Status status = loader->Refresh(/*after_401=*/false);
  while (status.code() == ErrorCode::kUnavailable && wait) {
    wait(status, delay.NextNs(steady_ns()));
    status = loader->Refresh(/*after_401=*/false);
  }
  if (!status.ok()) return status;
  return std::unique_ptr<Credentials>(new Credentials(std::move(loader), steady_ns));
}

Credentials::Credentials(std::unique_ptr<CredentialLoader> loader,
                         std::function<int64_t()> steady_ns)
    : loader_(std::move(loader)),
      steady_ns_(std::move(steady_ns)),
      current_(loader_->current()),
      thread_([this] { Run(); }) {}

Credentials::~Credentials() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

std::shared_ptr<const Credential> Credentials::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void Credentials::Renew(uint64_t generation, std::function<void(Status status)> done) {
  {
    const std::lock_guard lock(mutex_);
    if (current_->generation <= generation) {
      waiting_.push_back({generation, std::move(done)});
      wake_.notify_all();
      return;
    }
  }
  done(Status::Ok());
}

void Credentials::Run() {
  ::pthread_setname_np(::pthread_self(), "berth-creds");
  for (;;) {
    std::vector<Waiting> waiting;
    const bool goes_on = Wait(waiting);
    if (!goes_on) {
      for (const Waiting& call : waiting) {
        call.done(Status::Unavailable("the credentials are not read any more"));
      }
      return;
    }
    const Status refreshed = loader_->Refresh(/*after_401=*/!waiting.empty());
    const uint64_t generation = loader_->current()->generation;
    {
      const std::lock_guard lock(mutex_);
      current_ = loader_->current();
    }
    for (const Waiting& call : waiting) {
      call.done(call.generation < generation ? Status::Ok() : NoNewer(refreshed));
    }
  }
}

bool Credentials::Wait(std::vector<Waiting>& waiting) {
  std::unique_lock lock(mutex_);
  const auto has_work = [this] { return is_stopping_ || !waiting_.empty(); };
  const int64_t left_ns = std::max<int64_t>(loader_->next_ns() - steady_ns_(), 0);
  wake_.wait_for(lock, std::chrono::nanoseconds(left_ns), has_work);
  waiting = std::exchange(waiting_, {});
  return !is_stopping_;
}

}  // namespace berth::host
