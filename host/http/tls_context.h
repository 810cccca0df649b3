// The TLS settings of connections, with OpenSSL.
#ifndef BERTH_HOST_HTTP_TLS_CONTEXT_H_
#define BERTH_HOST_HTTP_TLS_CONTEXT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/secret.h"
#include "host/base/status.h"
#include "host/http/endpoint.h"

struct ssl_ctx_st;  // SSL_CTX of OpenSSL.
struct ssl_st;      // SSL of OpenSSL.
struct x509_st;     // X509 of OpenSSL.

namespace berth::host {

// The certificate that a client presents.
struct ClientCertificate {
  std::string chain_pem = {};
  Secret key_pem = {};

  bool empty() const { return chain_pem.empty(); }
  friend bool operator==(const ClientCertificate&, const ClientCertificate&) = default;
};

// TLS 1.2 or newer, with verification of the chain and of the server's name (RFC 6125, without the
// common name, as Go does), ALPN "http/1.1", and no renegotiation. As in client-go, every
// certificate of the CA file is a trust anchor. Immutable, apart from the session that the next
// connection may resume: a rotated certificate or CA is a new context, which resumes no session of
// the old one. Connections of the old one are closed when they are idle, and those of watches soon;
// see Reflector::RenewConnection().
//
// Threading: any.
class TlsContext {
 public:
  // Reads no file: `settings.ca_pem` has the content of `settings.ca_file`, which is only named in
  // errors. If ca_pem is empty, the certificates of the system are trusted.
  // `host`: that of the URL; see TlsSettings::server_name.
  // Errors: kInvalidArgument with the file or the key of the kubeconfig: no certificate in the PEM,
  //         a key that does not belong to the certificate, an encrypted key.
  static Result<std::shared_ptr<const TlsContext>> Create(const TlsSettings& settings,
                                                          std::string_view host,
                                                          const ClientCertificate& certificate);
  ~TlsContext();

  ssl_ctx_st* context() const;
  // The name or the address to verify. A name is also sent as SNI.
  const std::string& server_name() const { return server_name_; }
  bool is_insecure() const { return is_insecure_; }
  // Returns whether the settings name a CA; otherwise the CAs of the system are trusted.
  bool has_own_ca() const { return has_own_ca_; }
  const TlsTerms& terms() const { return terms_; }
  // Lets the connection resume the last session of this context if it is younger than
  // kMaxSessionSeconds: the server then proves that it holds the secret of that session, instead of
  // showing its certificate again, which is most of the cost of a new connection. Otherwise, or if
  // the server refuses, the handshake is a full one.
  // The context keeps the sessions of these connections only, because a resumed handshake verifies
  // no certificate: a session stands for server_name(), and not for a proxy.
  // Called: before the handshake, for a connection that verifies server_name().
  void ResumeSession(ssl_st* ssl) const;
  // Lets the next handshake be a full one.
  void ForgetSession() const;

  // A session that is older is not resumed, so that a certificate of the server that has expired or
  // was replaced is found. The connections themselves may live longer.
  static constexpr int64_t kMaxSessionSeconds = 600;

  // Returns the end of the client certificate's validity, in nanoseconds since 1970; nullopt if the
  // client has no certificate.
  std::optional<int64_t> client_expiry_ns() const;

 private:
  class Impl;
  TlsContext(std::unique_ptr<Impl> impl, std::string server_name, const TlsSettings& settings);

  const std::unique_ptr<Impl> impl_;
  const std::string server_name_;
  const bool is_insecure_;
  const bool has_own_ca_;
  const TlsTerms terms_;
};

// Lets a connection verify this name or address instead of TlsContext::server_name(), and sends a
// name as SNI. Used before the handshake.
void SetPeerName(ssl_st* ssl, const std::string& name);

// Returns whether an error of ERR_get_error() is an alert with which the server refuses the client
// certificate, or demands one. (RFC 8446, section 6.2)
bool IsCredentialAlert(unsigned long openssl_error);

// Returns a text for a failed handshake that states what is wrong and what to do: "the certificate
// is not signed by the CA of the kubeconfig", "the certificate is valid for kubernetes and
// 10.96.0.1, not for 10.0.0.1; set tls-server-name in the kubeconfig", "the certificate expired at
// 2026-01-10T08:00:00Z". TlsTerms has the names of the settings. The text begins with `peer`: the
// server, or a proxy, which tls-server-name does not concern. `name`: the one that was verified.
// `openssl_error`: of ERR_get_error(). `verify_result`: X509_V_OK if the verification did not fail.
// `certificate`: the one that failed; null if there is none.
std::string DescribeTlsError(unsigned long openssl_error, long verify_result, x509_st* certificate,
                             const TlsContext& context, const ServerUrl& peer,
                             const std::string& name);

}  // namespace berth::host

#endif  // BERTH_HOST_HTTP_TLS_CONTEXT_H_
