#include "host/process/doctor/doctor_checks.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/base/emulated_version.h"
#include "host/base/saturating.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/cluster/client.h"
#include "host/cluster/json_body.h"
#include "host/cluster/kubernetes/answers/api_error.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;
using Level = DoctorFinding::Level;

constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kTokenWarningNs = kDay;
constexpr int64_t kCertificateWarningNs = 7 * kDay;
constexpr int64_t kClockNoteNs = 2 * kSecond;
constexpr int64_t kClockWarningNs = 5 * kSecond;
constexpr std::string_view kAnonymous = "system:anonymous";

DoctorFinding WithWarnings(const char* check, std::string found,
                           std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) found += "; " + OneLine(warning);
  return {check, warnings.empty() ? Level::kOk : Level::kWarning, std::move(found)};
}

}  // namespace

std::string ApproximateDuration(int64_t nanoseconds) {
  const auto whole = [nanoseconds](int64_t unit, const char* name) {
    return std::to_string(nanoseconds / unit) + name;
  };
  if (nanoseconds < kSecond) {
    return std::to_string((nanoseconds + kMillisecond - 1) / kMillisecond) + " ms";
  }
  if (nanoseconds < 10 * kSecond) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%d.%ds", static_cast<int>(nanoseconds / kSecond),
                  static_cast<int>(nanoseconds % kSecond / (100 * kMillisecond)));
    return text.data();
  }
  if (nanoseconds < 2 * kMinute) return whole(kSecond, "s");
  if (nanoseconds < 2 * kHour) return whole(kMinute, "m");
  return nanoseconds < 48 * kHour ? whole(kHour, "h") : whole(24 * kHour, "d");
}

// ---- configuration ------------------------------------------------------------------------------

DoctorFinding ConfigurationFinding(size_t profiles, size_t plugins,
                                   std::span<const std::string> warnings) {
  return WithWarnings("configuration",
                      CountOf(profiles, "profile") + ", " + CountOf(plugins, "plugin"), warnings);
}

DoctorFinding ConfigurationFailure(const Status& status) {
  return {"configuration", Level::kFailure, OneLine(status.message()),
          "correct the configuration; berth profile check reports the errors of profiles, too"};
}

// ---- connection ---------------------------------------------------------------------------------

DoctorFinding ConnectionFinding(const std::string& server, const std::string& source,
                                std::span<const std::string> warnings, const HttpResponse& version,
                                int64_t took_ns) {
  if (!version.status.ok()) {
    const ErrorCode code = version.status.code();
    std::string fix;
    if (code == ErrorCode::kUnavailable) {
      fix = "check that " + source + " names the right server, and that this machine can reach it";
    } else if (code == ErrorCode::kInvalidArgument || code == ErrorCode::kUnsupported) {
      fix = "check that " + source + " names an API server";
    }
    return {"connection", Level::kFailure, OneLine(version.status.message()), std::move(fix)};
  }
  const uint32_t http_status = version.head.http_status;
  if (http_status >= 500 || (http_status >= 300 && http_status < 400)) {
    return {"connection", Level::kFailure, server + ": " + OneLine(StatusOf(version).message()),
            "check that " + source + " names an API server, and that the server works"};
  }
  std::string found = server;
  if (server.starts_with("http://")) {
    found += ", without TLS";
  } else if (!version.tls.empty()) {
    found.append(", ").append(version.tls);
  }
  return WithWarnings("connection", found + ", " + ApproximateDuration(took_ns), warnings);
}

// ---- credentials --------------------------------------------------------------------------------

namespace {

// Returns "the token expires in 51m"; "" if there is no time.
std::string ExpiryText(std::string_view what, std::optional<int64_t> expires_ns, int64_t now_ns) {
  if (!expires_ns.has_value()) return "";
  const bool is_past = *expires_ns <= now_ns;
  const int64_t distance_ns =
      is_past ? SubtractTimes(now_ns, *expires_ns) : SubtractTimes(*expires_ns, now_ns);
  return std::string("the ").append(what).append(is_past ? " expired " : " expires in ") +
         ApproximateDuration(distance_ns) + (is_past ? " ago" : "");
}

DoctorFinding RefusedCredentials(const CredentialExpiry& expiry, const std::string& source,
                                 int64_t now_ns) {
  DoctorFinding finding{"credentials", Level::kFailure, ""};
  if (!expiry.has_credentials) {
    finding.found = source + " has no credentials, and the server requires some";
    finding.fix = "add a token, a client certificate or an exec plugin to the user of the context";
  } else if (expiry.token_ns.has_value() && *expiry.token_ns <= now_ns) {
    finding.found = ExpiryText("token", expiry.token_ns, now_ns) + ", and the server refuses it";
    finding.fix = expiry.token_is_renewed ? "check what renews the token of " + source
                                          : "put a new token into " + source;
  } else if (expiry.certificate_ns.has_value() && *expiry.certificate_ns <= now_ns) {
    finding.found = ExpiryText("client certificate", expiry.certificate_ns, now_ns) +
                    ", and the server refuses it";
    finding.fix = "put a new client certificate into " + source;
  } else {
    finding.found = "the server does not accept the credentials of " + source + " (401)";
    finding.fix = "check that the credentials are those of this cluster";
  }
  return finding;
}

}  // namespace

DoctorFinding CredentialsFailure(const Status& status) {
  return {"credentials", Level::kFailure, OneLine(status.message())};
}

DoctorFinding CredentialsFinding(const ServerUser& user, const CredentialExpiry& expiry,
                                 const std::string& source, int64_t now_ns) {
  if (user.is_refused) return RefusedCredentials(expiry, source, now_ns);
  if (user.name == kAnonymous) {
    return {"credentials", Level::kFailure,
            "the server takes this client for " + std::string(kAnonymous),
            "add credentials of this cluster to the user of the context"};
  }
  DoctorFinding finding{"credentials", Level::kOk, user.name};
  if (user.name.empty()) {
    finding.level = Level::kNote;
    finding.found = "the server does not tell who this client is: " + OneLine(user.error.message());
  }
  const std::string token = ExpiryText("token", expiry.token_ns, now_ns);
  if (!token.empty()) {
    finding.found += "; " + token;
    if (!expiry.token_is_renewed && *expiry.token_ns - now_ns < kTokenWarningNs) {
      finding.level = Level::kWarning;
      finding.fix = "use tokenFile or an exec plugin, whose tokens Berth renews";
    }
  }
  const std::string certificate = ExpiryText("client certificate", expiry.certificate_ns, now_ns);
  if (!certificate.empty()) {
    finding.found += "; " + certificate;
    if (*expiry.certificate_ns - now_ns < kCertificateWarningNs) {
      finding.level = Level::kWarning;
      finding.fix = "renew the client certificate of " + source;
    }
  }
  return finding;
}

// ---- version ------------------------------------------------------------------------------------

namespace {

// Returns the number at the beginning of a text such as "36+"; -1 if there is none.
int LeadingNumber(const std::string& text) {
  constexpr size_t kMaxDigits = 6;
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  return digits == 0 || digits > kMaxDigits ? -1 : std::atoi(text.substr(0, digits).c_str());
}

}  // namespace

DoctorFinding VersionFinding(const HttpResponse& version, KubeVersion emulated) {
  if (version.status.ok() && version.head.http_status == 404) {
    return {"version", Level::kFailure, "the server has no /version: it is no API server",
            "check the URL of the server"};
  }
  const Status status = StatusOf(version);
  const Result<Json> json = status.ok() ? ParseBody(version.body) : status;
  if (!json.ok()) {
    return {"version", Level::kWarning, "not known: " + OneLine(json.status().message())};
  }
  const int major = LeadingNumber(TextMember(*json, "major"));
  const int minor = LeadingNumber(TextMember(*json, "minor"));
  std::string text = TextMember(*json, "gitVersion");
  if (text.starts_with('v')) text.erase(0, 1);
  if (major < 0 || minor < 0 || text.empty()) {
    return {"version", Level::kFailure, "the answer to /version is none of an API server",
            "check the URL of the server"};
  }
  // A server that was built outside of a release does not know its number.
  const std::string release = std::to_string(major) + "." + std::to_string(minor);
  if (!text.starts_with(release + ".")) text = release + " (" + text + ")";
  constexpr int kNewestMinor = kNewestKubeVersion.minor;
  if (major != 1 || minor < kOldestMinor || minor > kNewestMinor) {
    return {"version", Level::kWarning,
            text + "; Berth is made for 1." + std::to_string(kOldestMinor) + " to 1." +
                std::to_string(kNewestMinor),
            "try this cluster with berth shadow first"};
  }
  const KubeVersion server{.major = static_cast<uint32_t>(major),
                           .minor = static_cast<uint32_t>(minor)};
  if (server == emulated) return {"version", Level::kOk, std::move(text)};
  DoctorFinding finding{"version", Level::kNote,
                        text + "; Berth decides as kube-scheduler " + ToString(emulated) + " does"};
  const KubeVersion closest =
      std::clamp(server, kEmulatedVersions.front(), kEmulatedVersions.back());
  if (closest != emulated) {
    const std::string name = ToString(closest);
    finding.fix = "to decide as kube-scheduler " + name +
                  " does, set emulatedVersion = " + Quoted(name) +
                  " in the host file, or use --emulated-version " + name;
  }
  return finding;
}

// ---- kinds --------------------------------------------------------------------------------------

DoctorFinding KindsFinding(std::span<const KindAnswer> kinds) {
  DoctorFinding finding{"kinds", Level::kOk, ""};
  std::vector<std::string> missing;
  std::vector<std::string> texts;
  for (const KindAnswer& kind : kinds) {
    const bool is_essential = kind.kind == kPodKind || kind.kind == kNodeKind;
    const std::string name = kind.kind + " (" + kind.needed_by + ")";
    Level level = is_essential ? Level::kFailure : Level::kWarning;
    if (!kind.error.ok()) {
      texts.push_back(name + ": " + OneLine(kind.error.message()));
    } else if (!kind.resource.has_value() && is_essential) {
      texts.push_back(name + " is not served");
    } else if (!kind.resource.has_value()) {
      level = Level::kNote;
      missing.push_back(name);
    } else if (!kind.resource->CanWatch()) {
      texts.push_back(name + " cannot be watched");
    } else {
      level = Level::kOk;
    }
    finding.level = std::max(finding.level, level);
  }
  if (missing.size() == 1) {
    texts.insert(texts.begin(),
                 missing.front() + " is not served; pods that do not use it are not affected");
  } else if (!missing.empty()) {
    texts.insert(texts.begin(), std::to_string(missing.size()) + " of " +
                                    std::to_string(kinds.size()) +
                                    " are not served: " + Join(missing, ", ") +
                                    "; pods that do not use them are not affected");
  }
  finding.found =
      texts.empty() ? "all " + std::to_string(kinds.size()) + " are served" : Join(texts, "; ");
  return finding;
}

// ---- permissions --------------------------------------------------------------------------------

std::string PermissionText(const Permission& permission) {
  std::string text = permission.verb + " ";
  if (!permission.group.empty()) text += permission.group + "/";
  text += permission.resource;
  if (!permission.name.empty()) text += " " + permission.name;
  if (!permission.ns.empty()) text += " in " + permission.ns;
  return text;
}

namespace {

// Joins the texts of permissions that differ in their verbs only: "get, list and watch nodes (the
// host)".
std::vector<std::string> TextsOf(std::span<const Permission> permissions) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < permissions.size();) {
    Permission joined = permissions[i];
    const auto is_same = [&](const Permission& other) {
      return other.group == joined.group && other.resource == joined.resource &&
             other.ns == joined.ns && other.name == joined.name &&
             other.needed_by == joined.needed_by && other.is_optional == joined.is_optional;
    };
    size_t end = i + 1;
    while (end < permissions.size() && is_same(permissions[end])) ++end;
    for (size_t next = i + 1; next < end; ++next) {
      joined.verb += (next + 1 == end ? " and " : ", ") + permissions[next].verb;
    }
    texts.push_back(PermissionText(joined) + " (" + joined.needed_by +
                    (joined.is_optional ? "; optional)" : ")"));
    i = end;
  }
  return texts;
}

}  // namespace

std::vector<Permission> MissingPermissions(std::span<const PermissionAnswer> permissions) {
  std::vector<Permission> missing;
  for (const PermissionAnswer& permission : permissions) {
    if (permission.answer.ok() && !permission.answer->is_allowed) {
      missing.push_back(permission.permission);
    }
  }
  return missing;
}

DoctorFinding PermissionsFinding(std::span<const PermissionAnswer> permissions) {
  const std::vector<Permission> missing = MissingPermissions(permissions);
  const std::string total = std::to_string(permissions.size());
  DoctorFinding finding{"permissions", Level::kOk, ""};
  if (!missing.empty()) {
    const bool is_failure = !std::ranges::all_of(missing, &Permission::is_optional);
    finding.level = is_failure ? Level::kFailure : Level::kWarning;
    finding.found = std::to_string(missing.size()) + " of " + total +
                    (missing.size() == 1 ? " is missing: " : " are missing: ") +
                    Join(TextsOf(missing), ", ");
    finding.fix = "add the missing rules";
  }
  const auto is_unknown = [](const PermissionAnswer& p) { return !p.answer.ok(); };
  const auto unknown = std::ranges::find_if(permissions, is_unknown);
  if (unknown != permissions.end()) {
    finding.level = std::max(finding.level, Level::kWarning);
    finding.found += (missing.empty() ? "" : "; ") +
                     std::to_string(std::ranges::count_if(permissions, is_unknown)) + " of " +
                     total +
                     " could not be checked: " + OneLine(unknown->answer.status().message());
  }
  if (finding.found.empty()) finding.found = "all " + total + " are granted";
  return finding;
}

// ---- clock --------------------------------------------------------------------------------------

DoctorFinding ClockFinding(std::optional<int64_t> ahead_ns) {
  if (!ahead_ns.has_value()) {
    return {"clock", Level::kNote, "not known: the server sends no header Date"};
  }
  const int64_t distance_ns = std::abs(*ahead_ns);
  if (distance_ns == 0)
    return {"clock", Level::kOk, "that of this machine and of the server agree"};
  std::string found = "this machine is " + ApproximateDuration(distance_ns) +
                      (*ahead_ns > 0 ? " ahead of" : " behind") + " the API server";
  if (distance_ns < kClockNoteNs) return {"clock", Level::kOk, std::move(found)};
  found += "; leader election is not affected, times of events are";
  return {"clock", distance_ns < kClockWarningNs ? Level::kNote : Level::kWarning, std::move(found),
          "synchronise the clocks of both machines"};
}

namespace {

// Returns why the answer is not known. The finding of the permissions names the missing rule.
std::string NotKnownText(const Status& error, bool is_forbidden) {
  if (is_forbidden) return "not known, because the permission to read is missing";
  return "not known: " + OneLine(error.message());
}

}  // namespace

// ---- lease --------------------------------------------------------------------------------------

DoctorFinding LeaseFinding(bool leader_elect, const LeaseState& state) {
  if (!leader_elect) {
    return {"lease", Level::kNote,
            "leader election is off: a second process with this configuration would place the "
            "same pods"};
  }
  if (!state.error.ok()) {
    return {"lease", Level::kWarning,
            state.name + ": " + NotKnownText(state.error, state.is_forbidden)};
  }
  if (!state.exists) {
    return {"lease", Level::kOk, state.name + " does not exist; Berth creates it"};
  }
  if (state.holder.empty()) return {"lease", Level::kOk, state.name + " has no holder"};
  const std::string renewed = "renewed " + ApproximateDuration(state.renewed_ns) + " ago";
  if (state.is_expired) {
    return {
        "lease", Level::kOk,
        state.name + " was held by " + state.holder + " (" + renewed + "); Berth takes it over"};
  }
  return {"lease", Level::kNote,
          state.name + " is held by " + state.holder + " (" + renewed +
              "): with this lease name Berth waits",
          "for a second scheduler set leaderElection.resourceName in the host file"};
}

// ---- pods ---------------------------------------------------------------------------------------

namespace {

using Counts = std::map<std::string, size_t, std::less<>>;

// The most frequent names, and what the others have in all.
struct MostFrequent {
  static constexpr size_t kMax = 3;

  explicit MostFrequent(const Counts& counts) : first(counts.begin(), counts.end()) {
    const auto count_of = [](const auto& named) { return named.second; };
    std::ranges::stable_sort(first, std::ranges::greater(), count_of);
    for (; first.size() > kMax; first.pop_back(), ++other_names) {
      other_count += first.back().second;
    }
  }

  std::vector<std::pair<std::string, size_t>> first;
  size_t other_names = 0;
  size_t other_count = 0;
};

}  // namespace

DoctorFinding PodsFinding(const PendingPods& pods, std::span<const std::string> profiles,
                          const std::optional<LeaseState>& rival) {
  if (!pods.error.ok()) {
    return {"pods", Level::kWarning, NotKnownText(pods.error, pods.is_forbidden)};
  }
  DoctorFinding finding{"pods", Level::kOk, ""};
  if (!pods.is_complete) finding.found = "there are more; of those that were read: ";
  std::vector<std::string> texts;
  const std::set<std::string, std::less<>> own(profiles.begin(), profiles.end());
  for (const std::string& name : own) {
    const auto count = pods.by_scheduler.find(name);
    const size_t number = count == pods.by_scheduler.end() ? 0 : count->second;
    texts.push_back((number == 0 ? "no" : WithCommas(number)) +
                    (texts.empty() ? number == 1 ? " pending pod names " : " pending pods name "
                     : number == 1 ? " names "
                                   : " name ") +
                    name);
  }
  Counts others;
  for (const auto& [name, number] : pods.by_scheduler) {
    if (!own.contains(name)) others.emplace(name, number);
  }
  const MostFrequent ranked(others);
  for (const auto& [name, number] : ranked.first) {
    const std::string shown = Truncate(OneLine(name), kMaxQuotedBytes, "...");
    texts.push_back(WithCommas(number) + (number == 1 ? " names " : " name ") + shown +
                    ", which no profile has");
  }
  if (ranked.other_names > 0) {
    texts.push_back(WithCommas(ranked.other_count) + " name " +
                    CountOf(ranked.other_names, "other scheduler"));
  }
  finding.found += Join(texts, "; ");
  if (rival.has_value() && rival->is_held()) {
    finding.level = Level::kWarning;
    finding.found += "; " + rival->holder + " holds " + rival->name +
                     " and places the pods of default-scheduler, too";
    finding.fix = "use the lease " + rival->name + ", or give the profile another schedulerName";
  }
  return finding;
}

// ---- placement ----------------------------------------------------------------------------------

namespace {

// Returns "7 Unschedulable: 0/3 nodes ...", the most frequent reasons first, and the number of pods
// with others.
std::string ReasonsText(const Counts& reasons) {
  const MostFrequent ranked(reasons);
  std::vector<std::string> texts;
  for (const auto& [why, count] : ranked.first) texts.push_back(WithCommas(count) + " " + why);
  if (ranked.other_names > 0) {
    texts.push_back(WithCommas(ranked.other_count) + " for other reasons");
  }
  return Join(texts, "; ");
}

}  // namespace

DoctorFinding PlacementFinding(const PendingPods& pods, std::span<const std::string> profiles) {
  Counts reasons;
  size_t rejected = 0;
  size_t gated = 0;
  PendingPods::Unreadable unreadable;
  for (const std::string& name : std::set<std::string>(profiles.begin(), profiles.end())) {
    if (const auto found = pods.rejected.find(name); found != pods.rejected.end()) {
      for (const auto& [why, count] : found->second) {
        reasons[why] += count;
        rejected += count;
      }
    }
    if (const auto found = pods.gated.find(name); found != pods.gated.end()) gated += found->second;
    if (const auto found = pods.unreadable.find(name); found != pods.unreadable.end()) {
      if (unreadable.count == 0) unreadable.example = found->second.example;
      unreadable.count += found->second.count;
    }
  }
  std::vector<std::string> texts;
  if (unreadable.count > 0) {
    texts.push_back(CountOf(unreadable.count, "pod") +
                    " cannot be read, and will not be placed, such as " + unreadable.example);
  }
  if (rejected > 0) {
    texts.push_back(CountOf(rejected, "pod") +
                    " had no place at the last attempt: " + ReasonsText(reasons));
  }
  if (gated > 0) {
    texts.push_back(WithCommas(gated) + (gated == 1 ? " waits for its" : " wait for their") +
                    " scheduling gates");
  }
  if (texts.empty())
    texts.emplace_back("every pending pod of the profiles waits for its first try");
  DoctorFinding finding{"placement", Level::kOk, Join(texts, "; ")};
  if (!pods.is_complete) finding.found = "of the pods that were read: " + finding.found;
  if (unreadable.count > 0) {
    finding.level = Level::kWarning;
    finding.fix = "correct or delete what cannot be read";
  }
  return finding;
}

}  // namespace berth::host
