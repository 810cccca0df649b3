// The part of an API server's REST interface that the embedded cluster serves.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_API_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_API_H_

#include "host/api/decode.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// Serves these requests for kinds of which an object was stored or watched:
//
//   GET      One object, or a list of objects that ListSelection selects.
//   POST     An object of any kind.
//   PUT      A whole object of any kind.
//   PATCH    A JSON merge patch or a JSON patch of any kind; of pods and nodes also a strategic
//            merge patch, and each of them also of the status. The content type selects it, and
//            other types are rejected with 415. PrepareUpdate() lists what cannot be changed in
//            pods and nodes.
//   DELETE   Any object; a pod with its own grace period, or that of the options. The options may
//            require a uid and a resourceVersion.
//
// GET and PATCH of pods and nodes require their texts, which the decoder keeps only if a plugin
// needs them (DecodeOptions); they are rejected with 405 otherwise. Without its text, the status of
// a pod can be patched all the same: nominatedNodeName, and with a strategic merge patch the
// conditions PodScheduled and DisruptionTarget. Any other field is then rejected with its name.
//
// Other requests are rejected with a message that names what is not supported: 404 for discovery
// and for subresources other than the status of pods and nodes, 405 for everything else. This
// includes watches (use ObjectSource::StartWatch) and query parameters other than the selectors of
// lists; pretty, fieldManager and timeout, which do not change the response; and limit, which a
// server may ignore.
//
// Bodies are JSON. The parameters of a media type (charset) are ignored, and any other media type
// is rejected with 415.
//
// Returns: the HTTP status of an API server, with JSON: the object as stored, or a list. A request
//          that creates or replaces a pod or node returns the received text with the fields that
//          the server sets. A request that deletes an object, or patches the status of a pod
//          without a text, returns only the metadata (PartialObjectMetadata).
// Errors: as for DecisionWriter::Request: for any path and body, the body of the response is a
//         Status object (see StatusObject).
// Threading: as for the cluster.
// Lifetime:  the cluster and the decoder outlive this object.
class EmbeddedApi {
 public:
  EmbeddedApi(EmbeddedCluster& cluster, Decoder& decoder) : cluster_(cluster), decoder_(decoder) {}

  // Serves a request. Used as EmbeddedCluster::Options::serve.
  ApiResponse Serve(const ApiRequest& request);

 private:
  EmbeddedCluster& cluster_;
  Decoder& decoder_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_EMBEDDED_API_H_
