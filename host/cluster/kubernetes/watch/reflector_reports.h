// The errors of a reflector, for its log and its sink.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFLECTOR_REPORTS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFLECTOR_REPORTS_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "host/base/log.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "host/cluster/kubernetes/watch/reflector.h"
#include "host/cluster/kubernetes/watch/stream_end.h"

namespace berth::host {

// Reports each error once, however often it repeats.
// Threading: one thread.
// Lifetime:  `sink` must outlive it.
class ReflectorReports {
 public:
  // `needed_by`: see Reflector::Options.
  ReflectorReports(ReflectorSink& sink, std::string kind,
                   std::function<std::string(std::string_view kind)> needed_by, Log log);

  // Reports why a list or a watch (`verb`) failed, unless it is the last report. If a rule is
  // missing, the report names it. `resource`: null if it is not known.
  void Error(const Resource* resource, std::string_view verb, const StreamEnd& end);
  // The kind can be read. Reports it after an error.
  void Ok();
  // Logs an object that cannot be decoded, unless its name was logged before or too many were.
  void Undecodable(const ObjectMark& mark, const Status& status);

 private:
  ReflectorSink& sink_;
  const std::string kind_;
  const std::function<std::string(std::string_view kind)> needed_by_;
  const Log log_;
  Status reported_;  // The last report.
  std::set<std::string, std::less<>> undecodable_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_REFLECTOR_REPORTS_H_
