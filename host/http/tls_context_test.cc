#include "host/http/tls_context.h"

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "host/base/time.h"
#include "tests/harness/api_server/test_certificates.h"

namespace berth::host {
namespace {

Result<std::shared_ptr<const TlsContext>> Make(const TlsSettings& settings,
                                               const std::string& host = "127.0.0.1",
                                               const ClientCertificate& certificate = {}) {
  return TlsContext::Create(settings, host, certificate);
}

TlsSettings WithCa(const std::string& ca_pem = Certificates().ca_pem) {
  TlsSettings settings;
  settings.ca_pem = ca_pem;
  return settings;
}

ClientCertificate ClientWith(const std::string& chain_pem, const std::string& key_pem) {
  return {.chain_pem = chain_pem, .key_pem = Secret(key_pem)};
}

// The result of a handshake in memory between a client with a TlsContext and a server.
struct Handshake {
  bool is_complete = false;
  std::string error;   // The text of DescribeTlsError().
  std::string client;  // The subject of the client's certificate, as the server received it.
  std::string protocol;
  std::string alpn;
};

struct Side {
  explicit Side(SSL_CTX* context) : ssl(::SSL_new(context)) {}
  ~Side() { ::SSL_free(ssl); }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  SSL* const ssl;
};

// The certificate that the client refused, which is stored with the client's SSL.
struct Refused {
  ~Refused() { ::X509_free(certificate); }

  X509* certificate = nullptr;
};

int RecordFailure(int is_ok, X509_STORE_CTX* store) {
  if (is_ok != 0) return is_ok;
  auto* const ssl = static_cast<SSL*>(
      ::X509_STORE_CTX_get_ex_data(store, ::SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* const refused = static_cast<Refused*>(SSL_get_app_data(ssl));
  ::X509_free(refused->certificate);
  refused->certificate = ::X509_STORE_CTX_get_current_cert(store);
  ::X509_up_ref(refused->certificate);
  return is_ok;
}

int SelectHttp(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
               unsigned int in_size, void*) {
  *out = in + 1;
  *size = in[0];
  return in_size > 0 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// A server that speaks HTTP/2 alone.
int RefuseHttp1(SSL*, const unsigned char**, unsigned char*, const unsigned char*, unsigned int,
                void*) {
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

struct ServerSide {
  std::string certificate_pem = Certificates().server_pem;
  std::string key_pem = Certificates().server_key_pem;
  int max_version = 0;
  bool requests_certificate = false;
  bool speaks_http1 = true;
};

std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> ServerContext(const ServerSide& side) {
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(::SSL_CTX_new(::TLS_server_method()),
                                                       &::SSL_CTX_free);
  BIO* const certificate = ::BIO_new_mem_buf(side.certificate_pem.data(), -1);
  BIO* const key = ::BIO_new_mem_buf(side.key_pem.data(), -1);
  X509* const x509 = ::PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
  EVP_PKEY* const pkey = ::PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
  EXPECT_EQ(::SSL_CTX_use_certificate(context.get(), x509), 1);
  EXPECT_EQ(::SSL_CTX_use_PrivateKey(context.get(), pkey), 1);
  ::X509_free(x509);
  ::EVP_PKEY_free(pkey);
  ::BIO_free(certificate);
  ::BIO_free(key);
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  ::SSL_CTX_set_max_proto_version(context.get(), side.max_version);
  ::SSL_CTX_set_security_level(context.get(), 0);  // Permits TLS 1.1.
  ::SSL_CTX_set_alpn_select_cb(context.get(), side.speaks_http1 ? &SelectHttp : &RefuseHttp1,
                               nullptr);
  if (side.requests_certificate) {
    ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
  }
  return context;
}

Handshake Connect(const TlsContext& context, const ServerSide& side = {}) {
  const auto server_context = ServerContext(side);
  Side client(context.context());
  Side server(server_context.get());
  Refused refused;
  SSL_set_app_data(client.ssl, &refused);
  ::SSL_set_verify(client.ssl, ::SSL_get_verify_mode(client.ssl), &RecordFailure);
  BIO* client_bio = nullptr;
  BIO* server_bio = nullptr;
  ::BIO_new_bio_pair(&client_bio, 1 << 16, &server_bio, 1 << 16);
  ::SSL_set_bio(client.ssl, client_bio, client_bio);
  ::SSL_set_bio(server.ssl, server_bio, server_bio);
  ::SSL_set_connect_state(client.ssl);
  ::SSL_set_accept_state(server.ssl);
  Handshake result;
  ::ERR_clear_error();
  for (int round = 0; round < 10; ++round) {
    const int done = ::SSL_do_handshake(client.ssl);
    const int error = ::SSL_get_error(client.ssl, done);
    if (done != 1 && error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      result.error = DescribeTlsError(
          ::ERR_get_error(), ::SSL_get_verify_result(client.ssl), refused.certificate, context,
          *ServerUrl::Parse("https://127.0.0.1:6443", "server"), context.server_name());
      ::ERR_clear_error();
      return result;
    }
    const int accepted = ::SSL_do_handshake(server.ssl);
    ::ERR_clear_error();
    result.is_complete = done == 1 && accepted == 1;
    if (result.is_complete) break;
  }
  if (X509* const peer = ::SSL_get1_peer_certificate(server.ssl)) {
    char name[64] = {};
    ::X509_NAME_get_text_by_NID(::X509_get_subject_name(peer), NID_commonName, name, sizeof name);
    result.client = name;
    ::X509_free(peer);
  }
  result.protocol = ::SSL_get_version(client.ssl);
  const unsigned char* alpn = nullptr;
  unsigned int size = 0;
  ::SSL_get0_alpn_selected(client.ssl, &alpn, &size);
  result.alpn.assign(reinterpret_cast<const char*>(alpn), size);
  return result;
}

TEST(TlsContext, ConnectsToAServerOfTheCa) {
  for (const char* host : {"127.0.0.1", "localhost", "kubernetes"}) {
    const auto context = Make(WithCa(), host);
    ASSERT_TRUE(context.ok()) << context.status().message();
    EXPECT_EQ((*context)->server_name(), host);
    const Handshake made = Connect(**context);
    EXPECT_TRUE(made.is_complete) << made.error;
    EXPECT_EQ(made.protocol, "TLSv1.3");
    EXPECT_EQ(made.alpn, "http/1.1");
    EXPECT_EQ(made.client, "");
  }
}

TEST(TlsContext, TheServerNameReplacesTheHost) {
  TlsSettings settings = WithCa();
  settings.server_name = "kubernetes";
  const auto context = Make(settings, "10.0.0.1");
  ASSERT_TRUE(context.ok());
  EXPECT_TRUE(Connect(**context).is_complete);
}

TEST(TlsContext, NeedsTls12) {
  const auto context = *Make(WithCa());
  const Handshake made = Connect(*context, {.max_version = TLS1_2_VERSION});
  EXPECT_TRUE(made.is_complete) << made.error;
  EXPECT_EQ(made.protocol, "TLSv1.2");
  EXPECT_FALSE(Connect(*context, {.max_version = TLS1_1_VERSION}).is_complete);
}

TEST(TlsContext, NamesAServerThatRefusesHttp1) {
  const Handshake made = Connect(**Make(WithCa()), {.speaks_http1 = false});
  EXPECT_FALSE(made.is_complete);
  EXPECT_EQ(made.error,
            "https://127.0.0.1:6443: expected HTTP/1.1 over TLS, which the server refuses: it "
            "seems to speak HTTP/2 alone; use an address where the server speaks HTTP/1.1");
}

TEST(TlsContext, ExplainsACertificateThatItRefuses) {
  const TestCertificates& made = Certificates();
  const struct {
    const char* name;
    TlsSettings settings;
    ServerSide server;
    const char* error;
  } cases[] = {
      {"other CA",
       WithCa(made.other_ca_pem),
       {},
       "the certificate is not signed by the CA of the kubeconfig"},
      {"no CA",
       {},
       {},
       "the certificate is not signed by a CA of this system; set certificate-authority in the "
       "kubeconfig"},
      {"wrong name",
       WithCa(),
       {made.wrong_name_pem, made.wrong_name_key_pem},
       "the certificate is valid for other.example.com, not for 127.0.0.1; set tls-server-name in "
       "the kubeconfig"},
      {"expired",
       WithCa(),
       {made.expired_pem, made.expired_key_pem},
       "the certificate expired at 2020-01-01T00:00:00Z"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Handshake refused = Connect(**Make(c.settings), c.server);
    EXPECT_FALSE(refused.is_complete);
    EXPECT_EQ(refused.error, std::string("https://127.0.0.1:6443: ") + c.error);
  }
  TlsSettings other_name = WithCa();
  other_name.server_name = "example.com";
  EXPECT_EQ(Connect(**Make(other_name)).error,
            "https://127.0.0.1:6443: the certificate is valid for localhost, kubernetes and "
            "127.0.0.1, not for example.com; set tls-server-name in the kubeconfig");
}

TEST(TlsContext, InsecureAcceptsEveryCertificate) {
  TlsSettings settings;
  settings.insecure = true;
  const auto context = *Make(settings);
  EXPECT_TRUE(context->is_insecure());
  EXPECT_TRUE(Connect(*context).is_complete);
  const TestCertificates& made = Certificates();
  EXPECT_TRUE(Connect(*context, {made.expired_pem, made.expired_key_pem}).is_complete);
}

TEST(TlsContext, TrustsEveryCertificateOfTheCaFile) {
  // The certificate of the server itself, between two that have not signed it.
  const TestCertificates& made = Certificates();
  const auto context = Make(WithCa(made.other_ca_pem + "comment\n" + made.server_pem));
  ASSERT_TRUE(context.ok()) << context.status().message();
  const Handshake connected = Connect(**context);
  EXPECT_TRUE(connected.is_complete) << connected.error;
}

TEST(TlsContext, PresentsTheClientCertificate) {
  const TestCertificates& made = Certificates();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const auto context =
        Make(WithCa(), "127.0.0.1", ClientWith(made.client_pem, made.client_key_pem));
    ASSERT_TRUE(context.ok()) << context.status().message();
    const Handshake connected =
        Connect(**context, {.max_version = version, .requests_certificate = true});
    EXPECT_TRUE(connected.is_complete) << connected.error;
    EXPECT_EQ(connected.client, "client");
  }
}

TEST(TlsContext, RejectsOtherFiles) {
  const TestCertificates& made = Certificates();
  const std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const struct {
    TlsSettings settings;
    ClientCertificate certificate;
    const char* error;
  } cases[] = {
      {WithCa("text"),
       {},
       "certificate-authority-data: expected certificates in PEM, found other text"},
      {WithCa(made.ca_pem + broken),
       {},
       "certificate-authority-data: expected certificates in PEM, found other text"},
      {{.ca_file = "/ca.crt", .ca_pem = "text"},
       {},
       "/ca.crt: expected certificates in PEM, found other text"},
      {WithCa(), ClientWith("text", made.client_key_pem),
       "client-certificate: expected certificates in PEM, found other text"},
      {WithCa(), ClientWith(made.client_pem, "text"),
       "client-key: expected a key in PEM, found other text"},
      {WithCa(), ClientWith(made.client_pem, ""),
       "client-key: expected a key in PEM, found other text"},
      {WithCa(), ClientWith(made.client_pem, made.encrypted_key_pem),
       "client-key: the key is encrypted; decrypt the file first"},
      {WithCa(), ClientWith(made.client_pem, made.server_key_pem),
       "client-key: the key does not belong to the client certificate"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Make(c.settings, "127.0.0.1", c.certificate).status(),
              Status::InvalidArgument(c.error));
  }
}

TEST(TlsContextTest, KnowsWhenTheClientCertificateExpires) {
  const auto without = Make(WithCa());
  ASSERT_TRUE(without.ok());
  EXPECT_EQ((*without)->client_expiry_ns(), std::nullopt);

  const TestCertificates& certificates = Certificates();
  const auto expired = Make(WithCa(), "127.0.0.1",
                            ClientWith(certificates.expired_pem, certificates.expired_key_pem));
  ASSERT_TRUE(expired.ok());
  EXPECT_EQ((*expired)->client_expiry_ns(), ParseTime("2020-01-01T00:00:00Z").value());
}

}  // namespace
}  // namespace berth::host
