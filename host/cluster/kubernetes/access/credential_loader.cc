#include "host/cluster/kubernetes/access/credential_loader.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "host/base/base64.h"
#include "host/base/child_process.h"
#include "host/base/text.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

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

// Returns whether the byte may be in the name of a header. "%" may, but it begins an escape here.
// (RFC 9110, section 5.6.2)
bool IsHeaderNameByte(char c) {
  constexpr std::string_view kMarks = "!#$&'*+-.^_`|~";
  return IsLetter(c) || IsDigit(c) || kMarks.find(c) != std::string_view::npos;
}

// client-go: transport/round_trippers.go, headerKeyEscape.
std::string EscapeHeaderName(std::string_view key) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string name;
  for (const char c : key) {
    if (IsHeaderNameByte(c)) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name.append(1, '%').append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
  }
  return name;
}

// Collects the lines of a request's head.
class HeaderLines {
 public:
  void Add(const std::string& name, std::string_view value) {
    if (!IsHeaderValue(value) && problem_.empty()) {
      problem_ = name + ": expected a text without line ends and other control characters";
    }
    text_.append(name).append(": ").append(value).append("\r\n");
  }
  Result<Secret> Take() && {
    Secret lines(std::move(text_));
    if (!problem_.empty()) return Status::InvalidArgument(std::move(problem_));
    return lines;
  }

 private:
  std::string text_;
  std::string problem_;
};

// Returns why the plugin's status is no success, with the beginning of its standard error.
Status ExitError(const SubprocessResult& result) {
  std::string text =
      WIFSIGNALED(result.status)
          ? "the program was ended by " + SignalText(WTERMSIG(result.status))
          : "the program ended with status " + std::to_string(WEXITSTATUS(result.status));
  const std::string_view errors = TrimSpace(result.errors);
  if (!errors.empty()) text.append(": ").append(Quoted(errors, kMaxPluginErrorBytes));
  return Status::Unavailable(std::move(text));
}

bool HasOwnCertificate(const AuthConfig& auth) {
  return !auth.certificate_file.empty() || !auth.certificate_pem.empty();
}

void KeepFirst(Status& first, Status next) {
  if (first.ok()) first = std::move(next);
}

}  // namespace

Result<Secret> CredentialHeaders(const AuthConfig& auth, const Secret& token) {
  HeaderLines lines;
  const Secret& bearer = token.empty() ? auth.token : token;
  if (!bearer.empty()) {
    lines.Add("Authorization", std::string("Bearer ").append(bearer.Reveal()));
  } else if (!auth.user_name.empty() || !auth.password.empty()) {
    const std::string pair = std::string(auth.user_name).append(":").append(auth.password.Reveal());
    lines.Add("Authorization", "Basic " + EncodeBase64(pair));
  }
  if (!auth.as.empty()) lines.Add("Impersonate-User", auth.as);
  if (!auth.as_uid.empty()) lines.Add("Impersonate-Uid", auth.as_uid);
  for (const std::string& group : auth.as_groups) lines.Add("Impersonate-Group", group);
  for (const auto& [key, value] : auth.as_extra) {
    lines.Add("Impersonate-Extra-" + EscapeHeaderName(key), value);
  }
  return std::move(lines).Take();
}

CredentialLoader::CredentialLoader(ClusterAccess access, Credentials::Environment environment,
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

Result<std::string> CredentialLoader::ReadFile(const std::string& path) const {
  Result<std::string> text = environment_.read_file(path);
  if (!text.ok()) return text.status().Annotate(path);
  return text;
}

Status CredentialLoader::ReadToken(Contents& contents) const {
  if (access_.auth.token_file.empty()) return Status::Ok();
  const Result<std::string> text = ReadFile(access_.auth.token_file);
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
  Result<std::string> text = ReadFile(tls.ca_file);
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
    Result<std::string> text = ReadFile(auth.certificate_file);
    if (!text.ok()) return text.status();
    read.chain_pem = *std::move(text);
  }
  if (!auth.key_file.empty()) {
    Result<std::string> text = ReadFile(auth.key_file);
    if (!text.ok()) return text.status();
    read.key_pem = Secret(*std::move(text));
  }
  contents.certificate = std::move(read);
  return Status::Ok();
}

bool CredentialLoader::IsExecDue(bool after_401) const {
  if (!access_.auth.exec) return false;
  if (current_ == nullptr || after_401) return true;
  return contents_.expires_ns != 0 && environment_.wall_ns() >= contents_.expires_ns - kExecAheadNs;
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
    if (is_missing && !hint.empty()) message.append("\n").append(hint);
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
  if (!result.ok()) return result.status();
  const Secret output(std::move(result->output));
  if (result->status != 0) return ExitError(*result);
  return ReadExecCredential(output.Reveal(), config);
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
  const int64_t left_ns = contents_.expires_ns - kExecAheadNs - environment_.wall_ns();
  const int64_t exec_ns = std::max(now_ns + left_ns, *exec_ran_ns_ + kExecEveryNs);
  next_ns_ = std::min(next_ns_, exec_ns);
}

}  // namespace berth::host
