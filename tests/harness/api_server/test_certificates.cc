#include "tests/harness/api_server/test_certificates.h"

#include <cstring>  // EVP_EC_gen() is a macro with strstr().
#include <ctime>
#include <memory>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "host/base/assert.h"

namespace berth::host {
namespace {

struct CertificateDeleter {
  void operator()(BIO* bio) const { ::BIO_free(bio); }
  void operator()(X509* certificate) const { ::X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { ::EVP_PKEY_free(key); }
  void operator()(X509_EXTENSION* extension) const { ::X509_EXTENSION_free(extension); }
};
template <class T>
using CertificatePtr = std::unique_ptr<T, CertificateDeleter>;

struct Issued {
  CertificatePtr<X509> certificate;
  CertificatePtr<EVP_PKEY> key;
};

struct Wanted {
  std::string common_name;
  std::string names = {};  // "DNS:a,IP:10.0.0.1"; empty: none.
  bool is_ca = false;
  time_t from = 1'577'750'400;   // 2019-12-31T00:00:00Z
  time_t until = 4'102'444'800;  // 2100-01-01T00:00:00Z
};

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

std::string PemOf(X509* certificate) {
  const CertificatePtr<BIO> bio(::BIO_new(::BIO_s_mem()));
  BERTH_ASSERT(::PEM_write_bio_X509(bio.get(), certificate) == 1);
  return TextOf(bio.get());
}

// `password`: null for a key that is not encrypted.
std::string PemOf(EVP_PKEY* key, const char* password = nullptr) {
  const CertificatePtr<BIO> bio(::BIO_new(::BIO_s_mem()));
  const EVP_CIPHER* const cipher = password != nullptr ? ::EVP_aes_128_cbc() : nullptr;
  const int size = password != nullptr ? static_cast<int>(std::string(password).size()) : 0;
  BERTH_ASSERT(::PEM_write_bio_PKCS8PrivateKey(bio.get(), key, cipher, password, size, nullptr,
                                               nullptr) == 1);
  return TextOf(bio.get());
}

void AddExtension(X509* certificate, int kind, const std::string& value) {
  const CertificatePtr<X509_EXTENSION> extension(
      ::X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  BERTH_ASSERT(extension != nullptr);
  BERTH_ASSERT(::X509_add_ext(certificate, extension.get(), -1) == 1);
}

// Makes a certificate that `issuer` signs; null: that signs itself.
Issued Issue(const Wanted& wanted, long serial, const Issued* issuer) {
  Issued issued = {CertificatePtr<X509>(::X509_new()),
                   CertificatePtr<EVP_PKEY>(::EVP_EC_gen("P-256"))};
  X509* const certificate = issued.certificate.get();
  BERTH_ASSERT(certificate != nullptr && issued.key != nullptr);
  ::X509_set_version(certificate, X509_VERSION_3);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(certificate), serial);
  ::ASN1_TIME_set(::X509_getm_notBefore(certificate), wanted.from);
  ::ASN1_TIME_set(::X509_getm_notAfter(certificate), wanted.until);
  ::X509_set_pubkey(certificate, issued.key.get());
  ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(wanted.common_name.c_str()),
                               -1, -1, 0);
  const X509* const signer = issuer != nullptr ? issuer->certificate.get() : certificate;
  ::X509_set_issuer_name(certificate, ::X509_get_subject_name(signer));
  AddExtension(certificate, NID_basic_constraints, wanted.is_ca ? "critical,CA:TRUE" : "CA:FALSE");
  if (!wanted.names.empty()) AddExtension(certificate, NID_subject_alt_name, wanted.names);
  EVP_PKEY* const signing_key = issuer != nullptr ? issuer->key.get() : issued.key.get();
  BERTH_ASSERT(::X509_sign(certificate, signing_key, ::EVP_sha256()) > 0);
  return issued;
}

TestCertificates MakeCertificates() {
  constexpr time_t k2020 = 1'577'836'800;
  const Issued ca = Issue({.common_name = "ca", .is_ca = true}, 1, nullptr);
  const Issued other_ca = Issue({.common_name = "other ca", .is_ca = true}, 2, nullptr);
  const Issued server = Issue(
      {.common_name = "server", .names = "DNS:localhost,DNS:kubernetes,IP:127.0.0.1"}, 3, &ca);
  const Issued wrong_name =
      Issue({.common_name = "127.0.0.1", .names = "DNS:other.example.com"}, 4, &ca);
  const Issued expired =
      Issue({.common_name = "server", .names = "IP:127.0.0.1", .until = k2020}, 5, &ca);
  const Issued client = Issue({.common_name = "client"}, 6, &ca);
  TestCertificates made;
  made.ca_pem = PemOf(ca.certificate.get());
  made.other_ca_pem = PemOf(other_ca.certificate.get());
  made.server_pem = PemOf(server.certificate.get());
  made.server_key_pem = PemOf(server.key.get());
  made.wrong_name_pem = PemOf(wrong_name.certificate.get());
  made.wrong_name_key_pem = PemOf(wrong_name.key.get());
  made.expired_pem = PemOf(expired.certificate.get());
  made.expired_key_pem = PemOf(expired.key.get());
  made.client_pem = PemOf(client.certificate.get());
  made.client_key_pem = PemOf(client.key.get());
  made.encrypted_key_pem = PemOf(client.key.get(), "password");
  return made;
}

}  // namespace

const TestCertificates& Certificates() {
  static const TestCertificates made = MakeCertificates();
  return made;
}

}  // namespace berth::host
