#include "host/base/mask.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::host {
namespace {

struct MaskCase {
  const char* text;
  const char* masked;
};

TEST(MaskUrl, HidesUserPasswordAndParameters) {
  const MaskCase cases[] = {
      {"", ""},
      {"https://10.0.0.1:6443/a", "https://10.0.0.1:6443/a"},
      {"https://joe:pw@host", "https://...@host"},
      {"https://joe:p@w/x@host/a", "https://...@host/a"},
      {"https://joe:p w@host", "https://...@host"},
      {"joe:pw@host", "...@host"},
      {"joe@x://pw@host", "...@host"},
      {"https://host/a?token=s", "https://host/a?..."},
      {"https://host?%74oken=s", "https://host?..."},
      {"https://host#access_token=s", "https://host#..."},
      {"host?token=s", "host?..."},
      {"https://joe:pw@host?token=s", "https://...@host?..."},
      {"https://joe:p?w@host?token=s", "https://...@host?..."},
      {"https://host?mail=joe@x&token=s", "https://...@x&..."},
  };
  for (const MaskCase& c : cases) EXPECT_EQ(MaskUrl(c.text), c.masked) << c.text;
}

TEST(MaskSecrets, HidesTheValuesOfSecrets) {
  const MaskCase cases[] = {
      {"GET https://joe:pw@host/a?token=s failed", "GET https://...@host/a?... failed"},
      {"\"https://a?token=s\", \"http://b@c\"", "\"https://a?...\", \"http://...@c\""},
      {"token=s", "token=..."},
      {"a=b&access_token=s&c=d", "a=b&access_token=...&c=d"},
      {"ID_TOKEN = s, next", "ID_TOKEN = ..., next"},
      {"client-secret:s", "client-secret:..."},
      {"password: s", "password: ..."},
      {"passwd=\"a b\" c", "passwd=\"...\" c"},
      {"{\"accessToken\": \"a\\\"b\", \"x\": 1}", "{\"accessToken\": \"...\", \"x\": 1}"},
      {"{'token':'a'}", "{'token':'...'}"},
      {"refresh token: abcdef12", "refresh token: ..."},
      {"login --token abc --x", "login --token ... --x"},
      {"login --password 'a b'", "login --password '...'"},
      {"login --api-key=abc", "login --api-key=..."},
      {"Authorization: Basic am9l\nnext", "Authorization: ...\nnext"},
      {"{\"authorization\":\"Bearer a\"}", "{\"authorization\":\"..."},
      {"sent Bearer abc.def-123", "sent Bearer ..."},
      {"sent Basic dXNlcjpwYXNz", "sent Basic ..."},
      {"Authorization:\ntoken=abc", "Authorization:\ntoken=..."},
      {R"({\"access_token\":\"ya29.x\",\"n\":1})", R"({\"access_token\":\"...\",\"n\":1})"},
      {"got eyJhbGciOiJub25lIn0.eyJhIjoxfQ.sig!", "got ..."},
      {"token=", "token="},
      {"token=\"a", "token=\"..."},
      {"token=\"a\\", "token=\"..."},
  };
  for (const MaskCase& c : cases) EXPECT_EQ(MaskSecrets(c.text), c.masked) << c.text;
}

TEST(MaskSecrets, KeepsOrdinaryTexts) {
  const std::string texts[] = {
      "",
      "not logged in; run aws sso login",
      "cannot get a token: connection refused",
      "cannot get a token: 10.0.0.1:443 refused the connection",
      "the token has expired",
      "the secret kube-system/berth does not exist",
      "Basic authentication failed",
      "authorization failed",
      "https://login.example.com/start: status 503",
      "mail joe@example.com",
      "://",
      "eyJ",
      "token",
  };
  for (const std::string& text : texts) EXPECT_EQ(MaskSecrets(text), text);
}

}  // namespace
}  // namespace berth::host
