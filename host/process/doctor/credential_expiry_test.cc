#include "host/process/doctor/credential_expiry.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "host/base/base64.h"
#include "host/base/time_units.h"
#include "tests/harness/api_server/test_certificates.h"

namespace berth::host {
namespace {

// Encodes base64url without padding.
std::string Part(const std::string& json) {
  std::string text = EncodeBase64(json);
  for (char& c : text) {
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  while (text.ends_with('=')) text.pop_back();
  return text;
}

std::string Token(const std::string& claims) {
  return Part(R"({"alg":"ES256"})") + "." + Part(claims) + ".c2lnbmF0dXJl";
}

TEST(JwtExpiryTest, ReadsTheClaim) {
  struct Case {
    std::string token;
    std::optional<int64_t> seconds;
  };
  const Case cases[] = {
      {Token(R"({"exp":1700000000})"), 1'700'000'000},
      {Token(R"({"sub":"a","exp":1700000000.9})"), 1'700'000'000},
      {Token(R"({"exp":1,"kubernetes.io":{"namespace":"kube-system"}})"), 1},
      // These texts need one and two bytes of padding, and '-' and '_'.
      {Token(R"({"exp":1700000000,"a":"b"})"), 1'700'000'000},
      {Token(R"({"exp":1700000000,"a":"bc"})"), 1'700'000'000},
      {Token(R"({"exp":1700000000,"a":"?>?>~~"})"), 1'700'000'000},
      // No expiry.
      {Token("{}"), std::nullopt},
      {Token(R"({"exp":"1700000000"})"), std::nullopt},
      {Token(R"({"exp":null})"), std::nullopt},
      {Token(R"({"exp":0})"), std::nullopt},
      {Token(R"({"exp":-5})"), std::nullopt},
      {Token(R"({"exp":1e300})"), std::nullopt},
      {Token("[1]"), std::nullopt},
      {Token("{"), std::nullopt},
      // No JSON Web Token.
      {"", std::nullopt},
      {"opaque", std::nullopt},
      {"a.b", std::nullopt},
      {Token(R"({"exp":1700000000})") + ".more", std::nullopt},
      {"a." + Part(R"({"exp":1700000000})") + "=.c", std::nullopt},
      {"a.%%%.c", std::nullopt},
  };
  for (const Case& c : cases) {
    const std::optional<int64_t> ns = JwtExpiryNs(c.token);
    EXPECT_EQ(ns, c.seconds.has_value() ? std::optional(*c.seconds * kSecond) : std::nullopt)
        << c.token;
  }
}

Credential WithHeaders(const std::string& headers, int64_t expires_ns = 0) {
  Credential credential;
  credential.headers = Secret(headers);
  credential.expires_ns = expires_ns;
  return credential;
}

TEST(CredentialExpiryTest, TokenOfTheKubeconfig) {
  const CredentialExpiry expiry =
      ExpiryOf(WithHeaders("Authorization: Bearer " + Token(R"({"exp":1700000000})") + "\r\n"), {});
  EXPECT_TRUE(expiry.has_credentials);
  EXPECT_EQ(expiry.token_ns, 1'700'000'000 * kSecond);
  EXPECT_FALSE(expiry.token_is_renewed);
  EXPECT_EQ(expiry.certificate_ns, std::nullopt);
}

TEST(CredentialExpiryTest, TokensOfFilesAndPluginsAreRenewed) {
  AuthConfig file;
  file.token_file = "/token";
  const std::string header = "Authorization: Bearer opaque\r\n";
  EXPECT_TRUE(ExpiryOf(WithHeaders(header), file).token_is_renewed);
  EXPECT_EQ(ExpiryOf(WithHeaders(header), file).token_ns, std::nullopt);
  AuthConfig plugin;
  plugin.exec.emplace();
  // A plugin states when its token expires; the token itself may be opaque.
  const CredentialExpiry expiry = ExpiryOf(WithHeaders(header, 7 * kSecond), plugin);
  EXPECT_TRUE(expiry.token_is_renewed);
  EXPECT_EQ(expiry.token_ns, 7 * kSecond);
}

TEST(CredentialExpiryTest, ClientWithoutCredentials) {
  EXPECT_FALSE(ExpiryOf({}, {}).has_credentials);
  EXPECT_FALSE(ExpiryOf(WithHeaders("Impersonate-User: a\r\n"), {}).has_credentials);
  EXPECT_TRUE(ExpiryOf(WithHeaders("Authorization: Basic YTpi\r\n"), {}).has_credentials);
}

TEST(CredentialExpiryTest, ClientCertificate) {
  const TestCertificates& certificates = Certificates();
  const auto tls = TlsContext::Create(
      {.ca_pem = certificates.ca_pem}, "127.0.0.1",
      {.chain_pem = certificates.expired_pem, .key_pem = Secret(certificates.expired_key_pem)});
  ASSERT_TRUE(tls.ok()) << tls.status().message();
  Credential credential;
  credential.tls = *tls;
  const CredentialExpiry expiry = ExpiryOf(credential, {});
  EXPECT_TRUE(expiry.has_credentials);
  EXPECT_EQ(expiry.certificate_ns, 1'577'836'800 * kSecond);  // 2020-01-01T00:00:00Z
  EXPECT_EQ(expiry.token_ns, std::nullopt);
}

}  // namespace
}  // namespace berth::host
