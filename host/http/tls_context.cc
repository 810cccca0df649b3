#include "host/http/tls_context.h"

#include <ctime>
#include <mutex>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "host/base/assert.h"
#include "host/base/text.h"
#include "host/base/time.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

struct OpenSslDeleter {
  void operator()(SSL_CTX* context) const { ::SSL_CTX_free(context); }
  void operator()(BIO* bio) const { ::BIO_free(bio); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(SSL_SESSION* session) const { ::SSL_SESSION_free(session); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(GENERAL_NAMES* names) const { ::GENERAL_NAMES_free(names); }
};
template <class T>
using OpenSslPtr = std::unique_ptr<T, OpenSslDeleter>;

OpenSslPtr<BIO> PemReader(std::string_view text) {
  return OpenSslPtr<BIO>(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// An encrypted key is an error instead of a question on the terminal.
int RefusePassword(char* /*buffer*/, int /*size*/, int /*is_write*/, void* /*user*/) { return -1; }

std::string LastOpenSslError() {
  const char* const reason = ::ERR_reason_error_string(::ERR_peek_last_error());
  ::ERR_clear_error();
  return reason != nullptr ? reason : "unknown error";
}

// Returns the certificates of a PEM text; empty if there is none or if one is malformed.
std::vector<OpenSslPtr<X509>> ReadCertificates(std::string_view pem) {
  constexpr size_t kMaxPemBytes = size_t{64} << 20;
  std::vector<OpenSslPtr<X509>> certificates;
  if (pem.size() > kMaxPemBytes) return certificates;
  const OpenSslPtr<BIO> reader = PemReader(pem);
  while (X509* certificate = ::PEM_read_bio_X509(reader.get(), nullptr, &RefusePassword, nullptr)) {
    certificates.emplace_back(certificate);
  }
  // The end of the text is the error "no start line".
  const bool is_end = ERR_GET_REASON(::ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ::ERR_clear_error();
  if (!is_end) certificates.clear();
  return certificates;
}

Status TrustCa(SSL_CTX* context, const TlsSettings& settings) {
  if (settings.ca_pem.empty()) {
    if (::SSL_CTX_set_default_verify_paths(context) == 1) return Status::Ok();
    return Status::Internal("cannot read the certificates of the system: " + LastOpenSslError());
  }
  const std::string what =
      settings.ca_file.empty() ? "certificate-authority-data" : settings.ca_file;
  const std::vector<OpenSslPtr<X509>> certificates = ReadCertificates(settings.ca_pem);
  if (certificates.empty()) {
    return Status::InvalidArgument(what + ": expected certificates in PEM, found other text");
  }
  X509_STORE* const store = ::SSL_CTX_get_cert_store(context);
  for (const OpenSslPtr<X509>& certificate : certificates) {
    if (::X509_STORE_add_cert(store, certificate.get()) != 1) {
      return Status::InvalidArgument(what + ": " + LastOpenSslError());
    }
  }
  return Status::Ok();
}

bool IsAddress(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  return ::inet_pton(AF_INET, host.c_str(), &v4) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &v6) == 1;
}

// Sets what the certificate of the peer must be valid for. Returns false if `name` is neither a
// name nor an address.
bool SetVerifiedName(X509_VERIFY_PARAM* rules, const std::string& name) {
  if (IsAddress(name)) {
    return ::X509_VERIFY_PARAM_set1_host(rules, nullptr, 0) == 1 &&
           ::X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1;
  }
  return ::X509_VERIFY_PARAM_set1_ip(rules, nullptr, 0) == 1 &&
         ::X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) == 1;
}

Status VerifyName(SSL_CTX* context, const std::string& name, const TlsTerms& terms) {
  X509_VERIFY_PARAM* const rules = ::SSL_CTX_get0_param(context);
  ::X509_VERIFY_PARAM_set_hostflags(
      rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  // As in Go, every certificate of the CA file is trusted, also an intermediate one.
  ::X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_PARTIAL_CHAIN);
  if (SetVerifiedName(rules, name)) return Status::Ok();
  return Status::InvalidArgument(terms.server_name + ": expected a name or an address, found " +
                                 Quoted(name));
}

Status UseCertificate(SSL_CTX* context, const ClientCertificate& certificate,
                      const TlsTerms& terms) {
  if (certificate.empty()) return Status::Ok();
  const std::vector<OpenSslPtr<X509>> chain = ReadCertificates(certificate.chain_pem);
  if (chain.empty()) {
    return Status::InvalidArgument(terms.certificate +
                                   ": expected certificates in PEM, found other text");
  }
  const OpenSslPtr<BIO> reader = PemReader(certificate.key_pem.Reveal());
  const OpenSslPtr<EVP_PKEY> key(
      ::PEM_read_bio_PrivateKey(reader.get(), nullptr, &RefusePassword, nullptr));
  ::ERR_clear_error();
  if (key == nullptr) {
    const bool is_encrypted =
        certificate.key_pem.Reveal().find("ENCRYPTED") != std::string_view::npos;
    return Status::InvalidArgument(terms.key +
                                   (is_encrypted ? ": the key is encrypted; decrypt the file first"
                                                 : ": expected a key in PEM, found other text"));
  }
  if (::SSL_CTX_use_certificate(context, chain.front().get()) != 1) {
    return Status::InvalidArgument(terms.certificate + ": " + LastOpenSslError());
  }
  for (size_t i = 1; i < chain.size(); ++i) {
    if (::SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1) {
      return Status::InvalidArgument(terms.certificate + ": " + LastOpenSslError());
    }
  }
  if (::SSL_CTX_use_PrivateKey(context, key.get()) != 1 ||
      ::SSL_CTX_check_private_key(context) != 1) {
    ::ERR_clear_error();
    return Status::InvalidArgument(terms.key +
                                   ": the key does not belong to the client certificate");
  }
  return Status::Ok();
}

Status Configure(SSL_CTX* context, const TlsSettings& settings, const std::string& name,
                 const ClientCertificate& certificate) {
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  ::SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // TlsContext keeps the sessions itself.
  ::SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  // The head of a record and its content are one call of the system.
  ::SSL_CTX_set_read_ahead(context, 1);
  // A connection that waits in the pool needs no buffers.
  ::SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  constexpr unsigned char kAlpn[] = "\x08http/1.1";
  ::SSL_CTX_set_alpn_protos(context, kAlpn, sizeof(kAlpn) - 1);
  ::SSL_CTX_set_verify(context, settings.insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  Status status = UseCertificate(context, certificate, settings.terms);
  if (!status.ok() || settings.insecure) return status;
  status = TrustCa(context, settings);
  return status.ok() ? VerifyName(context, name, settings.terms) : status;
}

// Returns the name of a certificate's extension "subject alternative name"; empty for other kinds
// of names.
std::string NameText(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) {
    const auto* const text = ::ASN1_STRING_get0_data(name.d.dNSName);
    const auto size = static_cast<size_t>(::ASN1_STRING_length(name.d.dNSName));
    return {reinterpret_cast<const char*>(text), size};
  }
  if (name.type != GEN_IPADD) return "";
  const int size = ::ASN1_STRING_length(name.d.iPAddress);
  if (size != 4 && size != 16) return "";
  char text[INET6_ADDRSTRLEN] = {};
  const int family = size == 4 ? AF_INET : AF_INET6;
  const char* const found =
      ::inet_ntop(family, ::ASN1_STRING_get0_data(name.d.iPAddress), text, sizeof text);
  return found != nullptr ? found : "";
}

// Returns "kubernetes, api.example.com and 10.96.0.1"; at most eight names.
std::string NamesOf(X509* certificate) {
  constexpr size_t kMaxNames = 8;
  const OpenSslPtr<GENERAL_NAMES> names(static_cast<GENERAL_NAMES*>(
      ::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> texts;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    std::string text = NameText(*sk_GENERAL_NAME_value(names.get(), i));
    if (!text.empty() && texts.size() < kMaxNames) texts.push_back(std::move(text));
  }
  if (texts.empty()) return "no name";
  const std::string last = std::move(texts.back());
  texts.pop_back();
  return texts.empty() ? last : Join(texts, ", ") + " and " + last;
}

std::optional<int64_t> TimeOf(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ::ASN1_TIME_to_tm(time, &parts) != 1) return std::nullopt;
  return int64_t{::timegm(&parts)} * kSecond;
}

std::string TimeText(const ASN1_TIME* time) {
  const std::optional<int64_t> time_ns = TimeOf(time);
  return time_ns.has_value() ? FormatTime(*time_ns) : "an unknown time";
}

std::string DescribeVerifyError(long verify_result, X509* certificate, const TlsContext& context,
                                const std::string& name) {
  const TlsTerms& terms = context.terms();
  const bool can_set_name = name == context.server_name() && !terms.set_name.empty();
  switch (verify_result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the certificate is valid for " +
             (certificate != nullptr ? NamesOf(certificate) : "other names") + ", not for " + name +
             (can_set_name ? "; " + terms.set_name : "");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the certificate expired at " +
             TimeText(certificate != nullptr ? ::X509_get0_notAfter(certificate) : nullptr);
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the certificate is not valid before " +
             TimeText(certificate != nullptr ? ::X509_get0_notBefore(certificate) : nullptr) +
             "; check the clock of this machine";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "the certificate is not signed by " +
             (context.has_own_ca() ? terms.own_ca : "a CA of this system; " + terms.set_ca);
    default:
      return std::string("the certificate cannot be verified: ") +
             ::X509_verify_cert_error_string(verify_result);
  }
}

std::string DescribeHandshakeError(unsigned long openssl_error) {
  switch (ERR_GET_REASON(openssl_error)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
      return "expected TLS, found an answer without TLS: the server seems to speak plain HTTP; use "
             "http:// in its URL, or its port for TLS";
    case SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
      return "expected HTTP/1.1 over TLS, which the server refuses: it seems to speak HTTP/2 "
             "alone; "
             "use an address where the server speaks HTTP/1.1";
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return "the server does not support TLS 1.2 or a newer version";
    default: break;
  }
  if (IsCredentialAlert(openssl_error)) return "the server refused the client certificate";
  const char* const reason = ::ERR_reason_error_string(openssl_error);
  return std::string("the TLS handshake failed: ") + (reason != nullptr ? reason : "unknown error");
}

}  // namespace

// Connections refer to the context until they are closed, so that it receives their sessions.
class TlsContext::Impl {
 public:
  Impl() {
    BERTH_ASSERT(context != nullptr);
    SSL_CTX_set_app_data(context.get(), this);
    ::SSL_CTX_sess_set_new_cb(context.get(), [](SSL* ssl, SSL_SESSION* session) {
      auto* const self = static_cast<Impl*>(SSL_CTX_get_app_data(::SSL_get_SSL_CTX(ssl)));
      // A handshake that resumed a session has not verified the certificate: the session that it
      // leads to would be younger than the verification.
      const bool is_kept = ::SSL_get_ex_data(ssl, ConnectionIndex()) == self;
      if (is_kept && ::SSL_session_reused(ssl) == 0) {
        self->KeepSession(OpenSslPtr<SSL_SESSION>(::SSL_SESSION_dup(session)));
      }
      return 0;  // OpenSSL keeps its reference.
    });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void KeepSession(OpenSslPtr<SSL_SESSION> session) {
    const std::lock_guard lock(mutex_);
    session_ = std::move(session);
  }

  void ResumeSession(SSL* ssl) {
    ::SSL_set_ex_data(ssl, ConnectionIndex(), this);
    const std::lock_guard lock(mutex_);
    if (session_ == nullptr) return;
    const int64_t age_seconds = int64_t{::time(nullptr)} - ::SSL_SESSION_get_time(session_.get());
    if (age_seconds < 0 || age_seconds >= kMaxSessionSeconds) return session_.reset();
    // A copy, because a handshake writes to the session.
    const OpenSslPtr<SSL_SESSION> copy(::SSL_SESSION_dup(session_.get()));
    if (copy == nullptr || ::SSL_set_session(ssl, copy.get()) != 1) ::ERR_clear_error();
  }

  const OpenSslPtr<SSL_CTX> context{::SSL_CTX_new(::TLS_client_method())};

 private:
  // The context of a connection that may resume a session.
  static int ConnectionIndex() {
    static const int kIndex = ::SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return kIndex;
  }

  std::mutex mutex_;
  OpenSslPtr<SSL_SESSION> session_;  // Guarded by mutex_. The last one; null: none.
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl, std::string server_name,
                       const TlsSettings& settings)
    : impl_(std::move(impl)),
      server_name_(std::move(server_name)),
      is_insecure_(settings.insecure),
      has_own_ca_(!settings.ca_pem.empty()),
      terms_(settings.terms) {}

TlsContext::~TlsContext() = default;

ssl_ctx_st* TlsContext::context() const { return impl_->context.get(); }

void TlsContext::ResumeSession(ssl_st* ssl) const { impl_->ResumeSession(ssl); }

void TlsContext::ForgetSession() const { impl_->KeepSession(nullptr); }

std::optional<int64_t> TlsContext::client_expiry_ns() const {
  const X509* const certificate = ::SSL_CTX_get0_certificate(impl_->context.get());
  return certificate == nullptr ? std::nullopt : TimeOf(::X509_get0_notAfter(certificate));
}

Result<std::shared_ptr<const TlsContext>> TlsContext::Create(const TlsSettings& settings,
                                                             std::string_view host,
                                                             const ClientCertificate& certificate) {
  std::string name(settings.server_name.empty() ? host : settings.server_name);
  auto impl = std::make_unique<Impl>();
  Status status = Configure(impl->context.get(), settings, name, certificate);
  if (!status.ok()) return status;
  return std::shared_ptr<const TlsContext>(
      new TlsContext(std::move(impl), std::move(name), settings));
}

void SetPeerName(ssl_st* ssl, const std::string& name) {
  const bool is_set = SetVerifiedName(::SSL_get0_param(ssl), name);
  // Create() has checked the name of a server, and ServerUrl::Parse() that of a proxy.
  BERTH_ASSERT_MSG(is_set || ::SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE, "%s", name.c_str());
  if (!IsAddress(name)) SSL_set_tlsext_host_name(ssl, name.c_str());
}

bool IsCredentialAlert(unsigned long openssl_error) {
  if (ERR_GET_LIB(openssl_error) != ERR_LIB_SSL) return false;
  switch (ERR_GET_REASON(openssl_error)) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return true;
    default: return false;
  }
}

std::string DescribeTlsError(unsigned long openssl_error, long verify_result, x509_st* certificate,
                             const TlsContext& context, const ServerUrl& peer,
                             const std::string& name) {
  const std::string text = verify_result == X509_V_OK
                               ? DescribeHandshakeError(openssl_error)
                               : DescribeVerifyError(verify_result, certificate, context, name);
  return peer.ToString() + ": " + text;
}

}  // namespace berth::host
