// The embedded cluster with everything that fills it and works on it: manifests, a stream of watch
// events, and the API for plugins.
#ifndef BERTH_HOST_PROCESS_REPLAY_LOCAL_CLUSTER_H_
#define BERTH_HOST_PROCESS_REPLAY_LOCAL_CLUSTER_H_

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/embedded/embedded_api.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/process/replay/stream_cluster.h"

namespace berth::host {

// Objects may be added before and after a scheduler has started to watch the cluster.
//
// Threading: one thread, the scheduling thread.
// Lifetime:  the interner and the clock must outlive it; it must outlive its watches.
class LocalCluster {
 public:
  // If `follows_stream` is true, the cluster records the versions of objects that it has received,
  // which Apply() requires.
  LocalCluster(Interner& interner, const DecodeOptions& decode, const Clock& clock,
               bool follows_stream);
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  // Adds an object that was decoded with decoder()'s interner and options, and delivers it to the
  // watches.
  // Errors: those of EmbeddedCluster::Load. The message names the object.
  Status Add(AnyObject object);
  // Adds the objects of a manifest, YAML or JSON, and delivers them to the watches. Messages call
  // the manifest `name`.
  // Errors: those of LoadManifest. The objects without errors have been added.
  Status AddManifest(std::string_view name, std::string text);
  // Adds the objects of a file, or of `in` if `path` is kStandardInput.
  // Errors: those of ReadInput and AddManifest.
  Status AddFile(const std::string& path, std::istream& in);
  // Applies an event of a stream. Returns: as StreamCluster::Apply.
  // REQUIRES: `follows_stream`.
  Result<bool> Apply(const StreamEvent& event) { return stream_->Apply(event); }

  // Delivers answers and watch events that wait. Returns false if there were none.
  bool Deliver() { return cluster_.Deliver() > 0; }
  // Finishes the deletions of pods that are due. Returns false if there were none.
  bool FinishDeletions() { return cluster_.FinishDueDeletions() > 0; }
  // Returns when the next deletion is due, or nullopt if no pod is being deleted.
  std::optional<int64_t> NextDeletionNs() const { return cluster_.NextDeletionNs(); }
  // Returns true if nothing waits for delivery and no pod is being deleted.
  bool AtRest() const { return cluster_.waiting() == 0 && !NextDeletionNs().has_value(); }

  Client client() { return cluster_; }
  const EmbeddedCluster& objects() const { return cluster_; }
  Decoder& decoder() { return decoder_; }

 private:
  Decoder decoder_;
  EmbeddedCluster cluster_;
  EmbeddedApi api_;
  std::optional<StreamCluster> stream_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_LOCAL_CLUSTER_H_
