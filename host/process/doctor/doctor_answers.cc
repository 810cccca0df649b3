#include "host/process/doctor/doctor_answers.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "host/api/list_splitter.h"
#include "host/base/base64.h"
#include "host/base/interner.h"
#include "host/base/saturating.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/cluster/client.h"
#include "host/cluster/json_body.h"
#include "host/cluster/kubernetes/answers/api_error.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "host/cluster/kubernetes/write/request_bodies.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

const Json& ObjectAt(const Json& object, const char* key) {
  static const Json kNone = Json::object();
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

// The bytes of a condition and of a schedulerName that are kept.
constexpr size_t kMaxWhy = 300;
constexpr size_t kMaxSchedulerName = 300;
// The reason that an API server gives to a pod with scheduling gates.
constexpr std::string_view kGated = "SchedulingGated: ";

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

ServerUser ReadSelfSubjectReview(const HttpResponse& review) {
  ServerUser user;
  if (review.is_success()) {
    const Result<Json> json = ParseBody(review.body);
    if (json.ok()) {
      user.name = TextMember(ObjectAt(ObjectAt(*json, "status"), "userInfo"), "username");
    }
    if (user.name.empty()) user.error = Status::Internal("the answer has no status.userInfo");
    return user;
  }
  user.error = StatusOf(review);
  if (!review.status.ok()) return user;
  user.is_refused = review.head.http_status == 401;
  if (review.head.http_status != 403) return user;
  constexpr std::string_view kMark = "User \"";
  const std::string_view message = user.error.message();
  const size_t at = message.find(kMark);
  const size_t end = at == message.npos ? at : message.find('"', at + kMark.size());
  if (end != message.npos) {
    user.name = message.substr(at + kMark.size(), end - at - kMark.size());
  }
  return user;
}

LeaseState ReadLeaseState(const std::string& ns, const std::string& name, const HttpResponse& lease,
                          int64_t server_now_ns) {
  LeaseState state;
  state.name = ns + "/" + name;
  if (lease.status.ok() && lease.head.http_status == 404) return state;
  state.error = StatusOf(lease);
  state.is_forbidden = lease.status.ok() && lease.head.http_status == 403;
  if (!state.error.ok()) return state;
  const Result<Lease> read = ReadLease(lease.body);
  if (!read.ok()) {
    state.error = read.status();
    return state;
  }
  state.exists = true;
  state.holder = read->holder_identity;
  state.renewed_ns = std::max<int64_t>(0, SubtractTimes(server_now_ns, read->renew_ns));
  state.is_expired = state.renewed_ns > int64_t{read->duration_seconds} * kSecond;
  return state;
}

namespace {

// Returns the reason and the message of the pod's condition PodScheduled, if it is False.
std::string WhyNotPlaced(const Json& pod) {
  const Json& status = ObjectAt(pod, "status");
  const auto conditions = status.find("conditions");
  if (conditions == status.end() || !conditions->is_array()) return {};
  for (const Json& condition : *conditions) {
    if (!condition.is_object() || TextMember(condition, "type") != "PodScheduled" ||
        TextMember(condition, "status") != "False") {
      continue;
    }
    return OneLine(Truncate(
        TextMember(condition, "reason") + ": " + TextMember(condition, "message"), kMaxWhy, "..."));
  }
  return {};
}

}  // namespace

Result<std::string> AddPendingPods(std::string_view page, const DecodeOptions& decode,
                                   PendingPods& pods) {
  Interner interner;
  ObjectReader reader(interner, decode);
  ListSplitter splitter{ListSplitter::Limits()};
  const Status status = splitter.Append(page, [&pods, &reader](std::string_view item) -> Status {
    const Result<Json> pod = ParseBody(item, kMaxAnswerBytes);
    if (!pod.ok()) return pod.status();
    // A name has any length: that of a profile is short.
    const std::string scheduler =
        Truncate(TextMember(ObjectAt(*pod, "spec"), "schedulerName"), kMaxSchedulerName, "...");
    ++pods.by_scheduler[scheduler];
    const std::string why = WhyNotPlaced(*pod);
    if (why.starts_with(kGated)) {
      ++pods.gated[scheduler];
    } else if (!why.empty()) {
      ++pods.rejected[scheduler][why];
    }
    if (const Result<AnyObject> read = reader.ReadItem(item, kPodKind); !read.ok()) {
      PendingPods::Unreadable& unreadable = pods.unreadable[scheduler];
      if (unreadable.count++ == 0) {
        unreadable.example = reader.ReadMark(item).Key() + ": " + OneLine(read.status().message());
      }
    }
    return {};
  });
  if (!status.ok()) return status;
  const Result<std::string> rest = splitter.Finish();
  if (!rest.ok()) return rest.status();
  const Result<Json> list = ParseBody(*rest);
  if (!list.ok()) return list.status();
  return TextMember(ObjectAt(*list, "metadata"), "continue");
}

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

void ClockSkew::Add(int64_t sent_ns, int64_t received_ns, int64_t date_ns) {
  // This machine's clock was set back during the request, or there is nothing to compare with.
  if (date_ns == 0 || received_ns < sent_ns) return;
  // The server wrote the date between both readings of this machine's clock, and its clock was at
  // most one second later than the date.
  const int64_t min_ns = SubtractTimes(sent_ns - kSecond, date_ns);
  const int64_t max_ns = SubtractTimes(received_ns, date_ns);
  const bool agrees = has_range_ && min_ns <= max_ns_ && max_ns >= min_ns_;
  min_ns_ = agrees ? std::max(min_ns_, min_ns) : min_ns;
  max_ns_ = agrees ? std::min(max_ns_, max_ns) : max_ns;
  has_range_ = true;
}

std::optional<int64_t> ClockSkew::AheadNs() const {
  if (!has_range_) return std::nullopt;
  return std::clamp<int64_t>(0, min_ns_, max_ns_);
}

}  // namespace berth::host
