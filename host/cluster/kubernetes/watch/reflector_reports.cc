#include "host/cluster/kubernetes/watch/reflector_reports.h"

#include <cstddef>
#include <utility>

namespace berth::host {
namespace {

// The names of objects that cannot be decoded are kept up to this number.
constexpr size_t kMaxReported = 1000;

}  // namespace

ReflectorReports::ReflectorReports(ReflectorSink& sink, std::string kind,
                                   std::function<std::string(std::string_view kind)> needed_by,
                                   Log log)
    : sink_(sink), kind_(std::move(kind)), needed_by_(std::move(needed_by)), log_(log) {}

void ReflectorReports::Error(const Resource* resource, std::string_view verb,
                             const StreamEnd& end) {
  Status status = end.status;
  if (end.why == EndReason::kDenied && resource != nullptr &&
      status.message().find("User \"") != std::string::npos) {
    const std::string needed_by = needed_by_ ? needed_by_(kind_) : "";
    status =
        Status::PermissionDenied(MissingRuleText(*resource, verb, needed_by, end.status.message()));
  }
  if (status == reported_) return;
  reported_ = status;
  const std::string message = std::string("Cannot ").append(verb);
  log_.Error(message, status.message(), {{"kind", kind_}});
  sink_.OnWatchError(status);
}

void ReflectorReports::Ok() {
  if (reported_.ok()) return;
  reported_ = {};
  log_.Info("The kind can be read again", {{"kind", kind_}});
  sink_.OnWatchError({});
}

void ReflectorReports::Undecodable(const ObjectMark& mark, const Status& status) {
  std::string name = mark.Key();
  if (undecodable_.contains(name) || undecodable_.size() >= kMaxReported) return;
  log_.Error("Cannot read an object; its last state stays", status.message(),
             {{"kind", kind_}, {"object", name}});
  undecodable_.insert(std::move(name));
}

}  // namespace berth::host
