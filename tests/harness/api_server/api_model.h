// A model of an API server without sockets: it serves HTTP requests over an EmbeddedCluster.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_API_MODEL_H_
#define BERTH_TESTS_HARNESS_API_SERVER_API_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/base/clock.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/cluster/kubernetes/transport.h"

namespace berth::host {

// Serves, with the texts and the codes of a real server:
//
//   GET   /version, /api/v1, /apis/<group>/<version>          discovery
//   GET   collections: limit, continue, resourceVersion,      lists. Pages are of one revision; a
//         resourceVersionMatch, the field selector of pods    token of a compacted revision is 410.
//   GET   collections with watch=true: resourceVersion,       watches, with bookmarks; 410 for a
//         allowWatchBookmarks, sendInitialEvents,             revision that was compacted, as
//                                                             status
//         timeoutSeconds                                      or as an ERROR event
//   GET   single objects
//   POST  pods/<name>/binding; PATCH pods/<name>/status; DELETE pods/<name>
//   POST, PATCH  events of events.k8s.io/v1
//   GET, POST, PUT  leases
//   POST  selfsubjectaccessreviews, selfsubjectreviews
//   others  as EmbeddedApi
//
// The cluster is the truth; the model keeps the JSON text of each object as it was created and adds
// what the cluster changed: metadata, spec.nodeName, nominatedNodeName, conditions, deletion.
//
// Threading: one thread.
// Lifetime:  the arguments must outlive it.
class ApiModel {
 public:
  struct Options {
    bool serves_initial_events = true;
    size_t watch_window = 1000;  // Events that a watch can go back; older ones are 410.
    int64_t bookmark_ns = 60'000'000'000;
    // Returns an error for what RBAC denies. May be empty.
    std::function<Status(const HttpRequest& request)> authorize;
  };

  ApiModel(EmbeddedCluster& cluster, const Clock& clock, Options options);
  ~ApiModel();
  ApiModel(const ApiModel&) = delete;
  ApiModel& operator=(const ApiModel&) = delete;

  // Records the text of an object that was created or updated in the cluster by the test.
  // Called: before the cluster delivers the event.
  void NoteText(std::string_view kind, std::string_view ns, std::string_view name,
                const nlohmann::ordered_json& object);

  // Executes a request that is not a watch. The effect is immediate.
  HttpResponse Serve(const HttpRequest& request);
  // Executes an identified request for the audit of a test: who bound what.
  struct Served {
    std::string user_agent;
    std::string verb;
    std::string target;
    uint32_t http_status = 0;
    int64_t time_ns = 0;
  };
  const std::deque<Served>& served() const { return served_; }

  // A watch that is open. TakeLines() returns the lines that are ready.
  class OpenWatch;
  Result<std::shared_ptr<OpenWatch>> OpenAWatch(const HttpRequest& request);
  std::string TakeLines(OpenWatch& watch);
  // Returns when the watch has a bookmark or its end to send.
  std::optional<int64_t> NextNs(const OpenWatch& watch) const;

  // Forgets all events up to now: the next watch from an older revision is 410.
  void Compact();

 private:
  struct Kind;
  EmbeddedCluster& cluster_;
  const Clock& clock_;
  const Options options_;
  std::map<std::string, std::unique_ptr<Kind>, std::less<>> kinds_;
  std::deque<Served> served_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_API_MODEL_H_
