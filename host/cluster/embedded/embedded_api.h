// The part of an API server's REST interface that the embedded cluster can answer for.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_API_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_API_H_

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "host/api/decode.h"
#include "host/cluster/embedded/api_path.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// What there is, for kinds of which an object was stored or watched:
//
//   GET      one object, or a list of them, of every kind but Pod and Node: of those the cluster
//            keeps what scheduling needs, and no text that could be answered.
//   POST     an object of any kind.
//   PUT      the whole object; pods and nodes too.
//   PATCH    a JSON merge patch of every kind but Pod and Node. Of a pod's status: its
//            nominatedNodeName, and by a strategic merge patch its conditions PodScheduled and
//            DisruptionTarget; all else of it is refused by name.
//   DELETE   any object; a pod by its grace period, or that of the options. They may name the uid
//            and the resourceVersion that are meant.
//
// What is not there is refused as something that this server does not have, and says what: 404 for
// subresources but a pod's status and for discovery, 405 for the rest: watches
// (Client::StartWatch has them), and query parameters but those that change no answer (pretty,
// fieldManager, timeout) and limit, which a server may pass over.
//
// Returns: JSON. The object as stored; a list; for pods and nodes that were written, the text that
//          came, with what the server fills in, and for a status or a deletion their metadata alone
//          (PartialObjectMetadata). Errors as Client::Request has them: the message is a Status
//          object (see StatusObject), whatever path and body were.
// Threading: the cluster's.
// Lifetime:  cluster and decoder outlive it.
class EmbeddedApi {
 public:
  EmbeddedApi(EmbeddedCluster& cluster, Decoder& decoder) : cluster_(cluster), decoder_(decoder) {}

  // For EmbeddedCluster::Options::serve.
  Result<std::string> Serve(const ApiRequest& request);

 private:
  using Json = nlohmann::ordered_json;

  Result<Json> Answer(const ApiPath& path, const ApiRequest& request);
  Result<Json> Dispatch(const ApiPath& path, const std::string& kind, const ApiRequest& request);
  Result<Json> Get(const ApiPath& path, const std::string& kind);
  Result<Json> List(const ApiPath& path, const std::string& kind);
  Result<Json> Create(const ApiPath& path, const ApiRequest& request);
  Result<Json> Replace(const ApiPath& path, const std::string& kind, Json body);
  Result<Json> Patch(const ApiPath& path, const std::string& kind, const ApiRequest& request);
  Result<Json> PatchPodStatus(const ApiPath& path, const ApiRequest& request);
  Result<Json> Delete(const ApiPath& path, const std::string& kind, const ApiRequest& request);
  // The kind of which objects are there under this path; empty: none.
  std::string KindAt(const ApiPath& path) const;
  // The text as an object that belongs at the path.
  Result<AnyObject> DecodeFor(const ApiPath& path, Json body);

  EmbeddedCluster& cluster_;
  Decoder& decoder_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_API_H_
