#include "host/process/doctor/credential_expiry.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "host/base/base64.h"
#include "host/base/time_units.h"
#include "host/cluster/json_body.h"

namespace berth::host {
namespace {

// The latest time that an int64_t of nanoseconds represents, in seconds.
constexpr double kMaxSeconds = 9.2e9;

// Decodes base64url without padding (RFC 7515, section 2).
std::optional<std::string> DecodeBase64Url(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    if (c == '+' || c == '/' || c == '=') return std::nullopt;
    if (c == '-') c = '+';
    if (c == '_') c = '/';
  }
  while (plain.size() % 4 != 0) plain.push_back('=');
  return DecodeBase64(plain);
}

// Returns the token of the line "Authorization: Bearer <token>"; "" if there is none.
std::string_view BearerToken(std::string_view headers) {
  constexpr std::string_view kStart = "Authorization: Bearer ";
  const size_t at = headers.find(kStart);
  if (at == std::string_view::npos) return "";
  const size_t begin = at + kStart.size();
  const size_t end = std::min(headers.find('\r', begin), headers.size());
  return headers.substr(begin, end - begin);
}

}  // namespace

std::optional<int64_t> JwtExpiryNs(std::string_view token) {
  const size_t first = token.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  if (token.find('.', second + 1) != std::string_view::npos) return std::nullopt;
  const auto claims = DecodeBase64Url(token.substr(first + 1, second - first - 1));
  if (!claims.has_value()) return std::nullopt;
  const Result<nlohmann::ordered_json> json = ParseBody(*claims);
  if (!json.ok()) return std::nullopt;
  const auto exp = json->find("exp");
  if (exp == json->end() || !exp->is_number()) return std::nullopt;
  const auto seconds = exp->get<double>();
  if (!(seconds > 0 && seconds < kMaxSeconds)) return std::nullopt;
  return static_cast<int64_t>(std::floor(seconds)) * kSecond;
}

CredentialExpiry ExpiryOf(const Credential& credential, const AuthConfig& auth) {
  CredentialExpiry expiry;
  expiry.certificate_ns =
      credential.tls == nullptr ? std::nullopt : credential.tls->client_expiry_ns();
  const std::string_view headers = credential.headers.Reveal();
  expiry.has_credentials = expiry.certificate_ns.has_value() ||
                           headers.find("Authorization: ") != std::string_view::npos;
  expiry.token_ns = JwtExpiryNs(BearerToken(headers));
  if (!expiry.token_ns.has_value() && credential.expires_ns != 0) {
    expiry.token_ns = credential.expires_ns;
  }
  expiry.token_is_renewed = !auth.token_file.empty() || auth.exec.has_value();
  return expiry;
}

}  // namespace berth::host
