#include "host/process/doctor/doctor_checks.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/base/time_units.h"
#include "host/process/doctor/doctor_testing.h"

namespace berth::host {
namespace {

using Level = DoctorFinding::Level;

constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kPresent = 1'700'000'000 * kSecond;
constexpr const char* kServer = "https://10.0.0.1:6443";
constexpr const char* kSource = "context prod of F";

// ---- configuration ------------------------------------------------------------------------------

TEST(ConfigurationFindingTest, CountsProfilesAndPlugins) {
  EXPECT_EQ(ConfigurationFinding(2, 19, {}),
            (DoctorFinding{"configuration", Level::kOk, "2 profiles, 19 plugins"}));
  const std::vector<std::string> warnings = {"not loaded: a.so: broken\nreason", "b"};
  EXPECT_EQ(ConfigurationFinding(1, 1, warnings),
            (DoctorFinding{"configuration", Level::kWarning,
                           "1 profile, 1 plugin; not loaded: a.so: broken; reason; b"}));
}

TEST(ConfigurationFindingTest, HasEveryError) {
  const DoctorFinding finding =
      ConfigurationFailure(Status::InvalidArgument("p.toml:1: first\np.toml:2: second"));
  EXPECT_EQ(finding.level, Level::kFailure);
  EXPECT_EQ(finding.found, "p.toml:1: first; p.toml:2: second");
  EXPECT_NE(finding.fix, "");
}

// ---- connection ---------------------------------------------------------------------------------

TEST(ConnectionFindingTest, EachOutcome) {
  HttpResponse tls = Answer(200);
  tls.tls = "TLS 1.3";
  struct Case {
    const char* name;
    std::string server;
    std::vector<std::string> warnings;
    HttpResponse response;
    DoctorFinding expected;
  };
  const std::string check_url =
      "check that context prod of F names the right server, and that this machine can reach it";
  const std::string check_server =
      "check that context prod of F names an API server, and that the server works";
  const Case cases[] = {
      {"TLS", kServer, {}, tls, {"connection", Level::kOk, "https://10.0.0.1:6443, TLS 1.3, 3 ms"}},
      {"plain HTTP",
       "http://127.0.0.1:8080",
       {},
       Answer(200),
       {"connection", Level::kOk, "http://127.0.0.1:8080, without TLS, 3 ms"}},
      {"a refusal is an answer",
       kServer,
       {},
       Answer(401),
       {"connection", Level::kOk, "https://10.0.0.1:6443, 3 ms"}},
      {"a warning of the kubeconfig",
       kServer,
       {"F:4: insecure"},
       tls,
       {"connection", Level::kWarning, "https://10.0.0.1:6443, TLS 1.3, 3 ms; F:4: insecure"}},
      {"nobody listens",
       kServer,
       {"F:4: insecure"},
       NoAnswer(Status::Unavailable("dial tcp 10.0.0.1:6443: connect: connection refused")),
       {"connection", Level::kFailure, "dial tcp 10.0.0.1:6443: connect: connection refused",
        check_url}},
      {"another certificate",
       kServer,
       {},
       NoAnswer(Status::PermissionDenied("the certificate is valid for a, not for 10.0.0.1; set "
                                         "tls-server-name in the kubeconfig")),
       {"connection", Level::kFailure,
        "the certificate is valid for a, not for 10.0.0.1; set tls-server-name in the "
        "kubeconfig"}},
      {"another server",
       kServer,
       {},
       NoAnswer(Status::InvalidArgument("expected JSON, found an HTML page")),
       {"connection", Level::kFailure, "expected JSON, found an HTML page",
        std::string("check that ") + kSource + " names an API server"}},
      {"a redirection",
       kServer,
       {},
       Answer(302),
       {"connection", Level::kFailure, "https://10.0.0.1:6443: the server responded with 302 Found",
        check_server}},
      {"a gateway",
       kServer,
       {},
       Answer(502),
       {"connection", Level::kFailure,
        "https://10.0.0.1:6443: the server responded with 502 Bad Gateway", check_server}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(ConnectionFinding(c.server, kSource, c.warnings, c.response, 3 * kMillisecond),
              c.expected)
        << c.name;
  }
}

// ---- credentials --------------------------------------------------------------------------------

CredentialExpiry Token(int64_t left_ns, bool is_renewed) {
  return {.has_credentials = true, .token_ns = kPresent + left_ns, .token_is_renewed = is_renewed};
}

CredentialExpiry Certificate(int64_t left_ns) {
  return {.has_credentials = true, .certificate_ns = kPresent + left_ns};
}

ServerUser Refused() {
  return {.name = "", .is_refused = true, .error = Status::PermissionDenied("Unauthorized")};
}

ServerUser User(const std::string& name) { return {.name = name, .error = {}}; }

TEST(CredentialsFindingTest, AcceptedCredentials) {
  const std::string use_file = "use tokenFile or an exec plugin, whose tokens Berth renews";
  const std::string renew = "renew the client certificate of context prod of F";
  struct Case {
    ServerUser user;
    CredentialExpiry expiry;
    DoctorFinding expected;
  };
  const ServerUser old_server = {.name = "", .error = Status::NotFound("404 page not found")};
  const Case cases[] = {
      {User("admin"), {.has_credentials = true}, {"credentials", Level::kOk, "admin"}},
      {User("berth"),
       Token(51 * kMinute, true),
       {"credentials", Level::kOk, "berth; the token expires in 51m"}},
      {User("berth"),
       Token(-3 * kMinute, true),
       {"credentials", Level::kOk, "berth; the token expired 3m ago"}},
      {User("berth"),
       Token(kDay, false),
       {"credentials", Level::kOk, "berth; the token expires in 24h"}},
      {User("berth"),
       Token(kDay - 1, false),
       {"credentials", Level::kWarning, "berth; the token expires in 23h", use_file}},
      {User("admin"),
       Certificate(7 * kDay),
       {"credentials", Level::kOk, "admin; the client certificate expires in 7d"}},
      {User("admin"),
       Certificate(7 * kDay - 1),
       {"credentials", Level::kWarning, "admin; the client certificate expires in 6d", renew}},
      {old_server,
       Token(51 * kMinute, true),
       {"credentials", Level::kNote,
        "the server does not tell who this client is: 404 page not found; the token expires in "
        "51m"}},
      {User("system:anonymous"),
       {},
       {"credentials", Level::kFailure, "the server takes this client for system:anonymous",
        "add credentials of this cluster to the user of the context"}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CredentialsFinding(c.user, c.expiry, kSource, kPresent), c.expected);
  }
}

TEST(CredentialsFindingTest, RefusedCredentials) {
  struct Case {
    CredentialExpiry expiry;
    const char* found;
    const char* fix;
  };
  const Case cases[] = {
      {{},
       "context prod of F has no credentials, and the server requires some",
       "add a token, a client certificate or an exec plugin to the user of the context"},
      {Token(1, false), "the server does not accept the credentials of context prod of F (401)",
       "check that the credentials are those of this cluster"},
      {Token(0, false), "the token expired 0 ms ago, and the server refuses it",
       "put a new token into context prod of F"},
      {Token(-3 * kHour, true), "the token expired 3h ago, and the server refuses it",
       "check what renews the token of context prod of F"},
      {Certificate(-3 * kDay), "the client certificate expired 3d ago, and the server refuses it",
       "put a new client certificate into context prod of F"},
      {Certificate(1), "the server does not accept the credentials of context prod of F (401)",
       "check that the credentials are those of this cluster"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(CredentialsFinding(Refused(), c.expiry, kSource, kPresent),
              (DoctorFinding{"credentials", Level::kFailure, c.found, c.fix}));
  }
}

TEST(CredentialsFindingTest, CredentialsThatCannotBeLoaded) {
  EXPECT_EQ(
      CredentialsFailure(Status::Unavailable("users[0].user.exec: login: timed out")),
      (DoctorFinding{"credentials", Level::kFailure, "users[0].user.exec: login: timed out"}));
}

// ---- version ------------------------------------------------------------------------------------

HttpResponse Version(const std::string& minor, const std::string& git) {
  return Answer(200, R"({"major":"1","minor":")" + minor + R"(","gitVersion":")" + git + R"("})");
}

TEST(VersionFindingTest, EachVersion) {
  const std::string shadow = "try this cluster with berth shadow first";
  const std::string no_server = "check the URL of the server";
  struct Case {
    HttpResponse response;
    DoctorFinding expected;
  };
  const std::string as_36 =
      "to decide as kube-scheduler 1.36 does, set emulatedVersion = \"1.36\" in the host file, or "
      "use --emulated-version 1.36";
  const Case cases[] = {
      {Version("37", "v1.37.2"), {"version", Level::kOk, "1.37.2"}},
      {Version("37+", "v1.37.2-gke.100"), {"version", Level::kOk, "1.37.2-gke.100"}},
      {Version("37", "v0.0.0-master"), {"version", Level::kOk, "1.37 (0.0.0-master)"}},
      {Version("36", "v1.36.2"),
       {"version", Level::kNote, "1.36.2; Berth decides as kube-scheduler 1.37 does", as_36}},
      {Version("30", "v1.30.0"),
       {"version", Level::kNote, "1.30.0; Berth decides as kube-scheduler 1.37 does", as_36}},
      {Version("29", "v1.29.9"),
       {"version", Level::kWarning, "1.29.9; Berth is made for 1.30 to 1.37", shadow}},
      {Version("38", "v1.38.0"),
       {"version", Level::kWarning, "1.38.0; Berth is made for 1.30 to 1.37", shadow}},
      {Answer(404),
       {"version", Level::kFailure, "the server has no /version: it is no API server", no_server}},
      {Answer(200, R"({"name":"x"})"),
       {"version", Level::kFailure, "the answer to /version is none of an API server", no_server}},
      {Version("", "v1"),
       {"version", Level::kFailure, "the answer to /version is none of an API server", no_server}},
      {Answer(403),
       {"version", Level::kWarning, "not known: the server responded with 403 Forbidden"}},
  };
  for (const Case& c : cases) EXPECT_EQ(VersionFinding(c.response, {1, 37}), c.expected);
}

TEST(VersionFindingTest, ComparesWithTheEmulatedVersion) {
  EXPECT_EQ(VersionFinding(Version("36", "v1.36.2"), {1, 36}),
            (DoctorFinding{"version", Level::kOk, "1.36.2"}));
  // No other version is closer.
  EXPECT_EQ(VersionFinding(Version("35", "v1.35.1"), {1, 36}),
            (DoctorFinding{"version", Level::kNote,
                           "1.35.1; Berth decides as kube-scheduler 1.36 does"}));
  EXPECT_EQ(
      VersionFinding(Version("37", "v1.37.2"), {1, 36}),
      (DoctorFinding{"version", Level::kNote, "1.37.2; Berth decides as kube-scheduler 1.36 does",
                     "to decide as kube-scheduler 1.37 does, set emulatedVersion = "
                     "\"1.37\" in the host file, or use --emulated-version 1.37"}));
}

TEST(VersionFindingTest, AnotherMajorVersion) {
  const DoctorFinding finding =
      VersionFinding(Answer(200, R"({"major":"2","minor":"36","gitVersion":"v2.36.0"})"), {1, 37});
  EXPECT_EQ(finding.level, Level::kWarning);
}

TEST(VersionFindingTest, AnAnswerThatIsNoJson) {
  EXPECT_EQ(VersionFinding(Answer(200, "<html>"), {1, 37}).level, Level::kWarning);
}

TEST(ApproximateDurationTest, BothSidesOfEachUnit) {
  struct Case {
    int64_t nanoseconds;
    const char* text;
  };
  const Case cases[] = {
      {0, "0 ms"},
      {1, "1 ms"},
      {kMillisecond, "1 ms"},
      {kMillisecond + 1, "2 ms"},
      {999 * kMillisecond, "999 ms"},
      {kSecond, "1.0s"},
      {7'299 * kMillisecond, "7.2s"},
      {10 * kSecond - 1, "9.9s"},
      {10 * kSecond, "10s"},
      {2 * kMinute - 1, "119s"},
      {2 * kMinute, "2m"},
      {2 * kHour - 1, "119m"},
      {2 * kHour, "2h"},
      {48 * kHour - 1, "47h"},
      {48 * kHour, "2d"},
      {365 * 24 * kHour, "365d"},
  };
  for (const Case& c : cases) EXPECT_EQ(ApproximateDuration(c.nanoseconds), c.text);
}

}  // namespace
}  // namespace berth::host
