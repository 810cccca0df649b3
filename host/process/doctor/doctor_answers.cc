#include "host/process/doctor/doctor_answers.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "host/api/list_splitter.h"
#include "host/base/time_units.h"
#include "host/cluster/client.h"
#include "host/cluster/json_body.h"
#include "host/cluster/kubernetes/http/api_error.h"
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
  state.renewed_ns = std::max<int64_t>(0, server_now_ns - read->renew_ns);
  state.is_expired = state.renewed_ns > int64_t{read->duration_seconds} * kSecond;
  return state;
}

Result<std::string> AddPendingPods(std::string_view page, PendingPods& pods) {
  ListSplitter splitter{ListSplitter::Limits()};
  const Status status = splitter.Append(page, [&pods](std::string_view item) -> Status {
    const Result<Json> pod = ParseBody(item);
    if (!pod.ok()) return pod.status();
    ++pods.by_scheduler[TextMember(ObjectAt(*pod, "spec"), "schedulerName")];
    return {};
  });
  if (!status.ok()) return status;
  const Result<std::string> rest = splitter.Finish();
  if (!rest.ok()) return rest.status();
  const Result<Json> list = ParseBody(*rest);
  if (!list.ok()) return list.status();
  return TextMember(ObjectAt(*list, "metadata"), "continue");
}

}  // namespace berth::host
