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
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/base/status.h"
#include "host/cluster/embedded/api_protocol.h"
#include "host/cluster/embedded/embedded_api.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/http/transport.h"
#include "tests/harness/api_server/model_access.h"
#include "tests/harness/api_server/model_records.h"
#include "tests/harness/api_server/object_history.h"
#include "tests/harness/api_server/served_kinds.h"

namespace berth::host {

// Serves, with the texts and the codes of a real server:
//
//   GET   /version, /livez, /readyz, /api/v1,        discovery
//         /apis/<group>/<version>
//   GET   collections: limit, continue,              lists. Pages are of one revision; the token of
//         resourceVersion, resourceVersionMatch,     a revision that was compacted is 410.
//         the field selector of pods
//   GET   collections with watch=true                watches: see OpenWatch
//   GET   single objects
//   POST  pods/<name>/binding
//   POST, PATCH, GET      events of events.k8s.io/v1
//   POST, PUT, GET        leases
//   POST  selfsubjectaccessreviews, selfsubjectreviews
//   others                as EmbeddedApi: POST, PUT, PATCH of pods/<name>/status, DELETE
//
// A list of pods without the field selector ignores `limit` and has also the pods in a final phase.
// Other field selectors and label selectors are refused with 400.
//
// A view is the revision that the cache of one API server has reached: lists that allow an older
// state, and watches, are served from it. Consistent reads are always current.
//
// The cluster is the truth. The model keeps the JSON text of each pod and node as it was written,
// and adds what the cluster determines: metadata, spec.nodeName, nominatedNodeName and conditions.
//
// Threading: one thread, that of the cluster.
// Lifetime:  the cluster and the decoder must outlive it.
class ApiModel {
 public:
  static constexpr uint64_t kCurrent = UINT64_MAX;

  struct Options {
    std::vector<ServedKind> kinds = DefaultServedKinds();
    bool serves_initial_events = true;
    size_t watch_window = 1000;            // The changes of each kind that are kept.
    int64_t bookmark_ns = 60'000'000'000;  // The time between two bookmarks.
    std::string version = "v1.37.2";
    std::string user = "system:serviceaccount:kube-system:berth";
    ModelAccess::Rules allows = {};  // Empty: everything.
  };

  ApiModel(EmbeddedCluster& cluster, Decoder& decoder, Options options);
  ~ApiModel();
  ApiModel(const ApiModel&) = delete;
  ApiModel& operator=(const ApiModel&) = delete;

  // ---- Changes that a test makes in the cluster -------------------------------------------------

  // Records the text of a pod or node that is about to be created or replaced in the cluster. Does
  // nothing for other kinds.
  // Called: before each such change.
  void Note(const nlohmann::ordered_json& object);
  // Reads the changes of the cluster. Called: after changes that no request made, so that watches
  // deliver them. Must not: be called within a delivery of the cluster.
  void Sync();
  // Calls `listener` after each Sync() that has read changes. Returns a function that ends this.
  std::function<void()> Listen(std::function<void()> listener);
  // Forgets all earlier changes: lists and watches from a revision before now are 410.
  void Compact();

  // ---- Requests ---------------------------------------------------------------------------------

  // Executes a request that is not a watch. The effect is immediate.
  HttpResponse Serve(const HttpRequest& request, uint64_t view = kCurrent);

  // A watch that is open.
  // sendInitialEvents=true: the objects of a revision that is not older than resourceVersion, then
  // a bookmark with the annotation k8s.io/initial-events-end. 504 with the cause
  // ResourceVersionTooLarge if the view has not reached the resourceVersion.
  // A revision that was compacted: an ERROR event with 410, and the end.
  // allowWatchBookmarks=true: bookmarks. timeoutSeconds: the end.
  class OpenWatch {
   public:
    bool has_ended() const { return has_ended_; }

   private:
    friend class ApiModel;

    const ObjectHistory* history_ = nullptr;
    std::string kind_;
    std::string initial_;    // Lines that were ready at the beginning.
    uint64_t revision_ = 0;  // Everything up to it was sent.
    bool has_bookmarks_ = false;
    int64_t bookmark_ns_ = 0;  // When the next one is due.
    int64_t end_ns_ = INT64_MAX;
    bool has_ended_ = false;
  };
  // Returns whether the request opens a watch.
  static bool IsWatch(const HttpRequest& request);
  // Returns: null if the server refuses the watch; `refusal` is the answer then.
  std::unique_ptr<OpenWatch> StartWatch(const HttpRequest& request, uint64_t view,
                                        HttpResponse& refusal);
  // Returns the lines that are ready. Sets has_ended() when no line follows.
  std::string TakeLines(OpenWatch& watch, uint64_t view = kCurrent);
  // Returns when the watch has a line or its end to send if nothing changes: now, if a change is
  // ready; nullopt: never. `lag_ns`: how long a change takes to reach the view.
  std::optional<int64_t> NextNs(const OpenWatch& watch, int64_t lag_ns) const;
  // Returns the view of a server that lags behind by this time.
  uint64_t ViewAfter(int64_t lag_ns) const;

  // ---- Contents ---------------------------------------------------------------------------------

  // The requests that were served, the last 10,000.
  struct Served {
    std::string verb;
    std::string target;
    uint32_t http_status = 0;
    int64_t time_ns = 0;
  };
  const std::deque<Served>& served() const { return served_; }
  const ModelEvents& events() const { return events_; }

 private:
  using Json = nlohmann::ordered_json;

  HttpResponse Route(const HttpRequest& request, uint64_t view);
  HttpResponse ServeResource(const HttpRequest& request, const ApiPath& path, uint64_t view);
  std::optional<HttpResponse> ServeDiscovery(std::string_view path) const;
  HttpResponse ListOf(const ApiPath& path, const ServedKind& kind, uint64_t view);
  HttpResponse AllPods(const ApiPath& path);
  HttpResponse GetOne(const ApiPath& path, const ServedKind& kind);
  HttpResponse Bind(const HttpRequest& request, const ApiPath& path);
  HttpResponse Write(const HttpRequest& request, const ApiPath& path, const ServedKind& kind);

  const ServedKind* KindAt(const ApiPath& path) const;
  ObjectHistory& HistoryOf(const ServedKind& kind) const;
  void NoteText(std::string_view kind, const nlohmann::ordered_json& object);
  std::string Compose(const AnyObject& object);
  int64_t NowNs() const { return cluster_.clock().NowNs(); }
  std::string BookmarkLine(const OpenWatch& watch, uint64_t revision, bool ends_initial) const;

  EmbeddedCluster& cluster_;
  EmbeddedApi api_;
  const Options options_;
  const ModelAccess access_;
  std::map<std::string, std::unique_ptr<ObjectHistory>, std::less<>> histories_;  // By kind.
  std::map<std::string, nlohmann::ordered_json, std::less<>> texts_;  // By kind and name.
  std::deque<std::pair<int64_t, uint64_t>> revisions_;  // When each was read by Sync().
  std::map<uint64_t, std::function<void()>> listeners_;
  uint64_t last_listener_ = 0;
  ModelEvents events_;
  ModelLeases leases_;
  std::deque<Served> served_;
};

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_API_MODEL_H_
