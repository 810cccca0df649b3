// The embedded cluster with everything that fills it: files, a stream, and what an API server and
// the controllers of a cluster would add to them.
#ifndef BERTH_HOST_PROCESS_REPLAY_LOCAL_CLUSTER_H_
#define BERTH_HOST_PROCESS_REPLAY_LOCAL_CLUSTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/clock.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/control_plane/admission.h"
#include "host/cluster/control_plane/workload.h"
#include "host/cluster/embedded/embedded_api.h"
#include "host/cluster/embedded/embedded_cluster.h"
#include "host/process/replay/stream_event.h"
#include "host/runtime/services/object_needs.h"

namespace berth::host {

// Files and streams contain two kinds of objects. An object with a metadata.uid comes from a
// cluster and is taken as it is. An object without one was written by a person, and no API server
// has seen it: its kind is checked, pods are admitted (see Admission) if SetAdmission() asks for
// it, and workloads become pods (see ExpandWorkload()).
//
// Objects may be added before and after a scheduler has started to watch the cluster.
//
// Threading: one thread, the scheduling thread.
// Lifetime:  the interner and the clock must outlive it; it must outlive its watches.
class LocalCluster {
 public:
  // Which workloads of files become pods.
  enum class Workloads : uint8_t {
    kNew,  // Those without a uid. The pods of the others are in the files, too.
    // Also those with a uid, whose pods in the cluster are counted. A workload replaces the one of
    // the same name that the cluster has.
    kAll,
  };
  struct Files {
    std::span<const std::string> paths;  // kStandardInput is `in`.
    std::istream& in;
    Workloads workloads = Workloads::kNew;
    // Called with the name of each file before it is read. May be empty.
    std::function<void(std::string_view name)> on_reading = {};
  };

  // If `follows_stream` is true, the cluster records the versions of objects that it has received,
  // which Apply() requires.
  LocalCluster(Interner& interner, const DecodeOptions& decode, const Clock& clock,
               bool follows_stream);

  // Sets whether pods without a uid are admitted. The default is that they are not. `is_complete`:
  // the cluster of a dump has no objects of the kinds that the files lack.
  void SetAdmission(bool is_on, bool is_complete = false) {
    admits_ = is_on;
    is_complete_ = is_complete;
  }

  // Adds an object that was decoded with decoder()'s interner and options, and delivers it to the
  // watches.
  // Errors: those of EmbeddedCluster::Load. The message names the object.
  Status Add(AnyObject object);
  // Adds the objects of a manifest, YAML or JSON, and delivers them to the watches. Messages call
  // the manifest `name`. Pods without a uid that are admitted, and the pods of workloads, are added
  // after all other objects.
  // Errors: those of ReadManifest; those of CheckKind and EmbeddedCluster::Load as errors of their
  //         objects; then those of Admission and ExpandWorkload(). The objects without errors have
  //         been added, unless one was found while the text was read.
  Status AddManifest(std::string_view name, std::string text);
  // Adds the objects of files, as AddManifest() does, as if they were one file.
  // Errors: those of ReadInput and AddManifest.
  Status AddFiles(const Files& files);
  // Applies an event of a stream. Returns: as StreamCluster::Apply.
  // Errors: those of CheckKind, Admission and StreamCluster::Apply. Then nothing has changed.
  // REQUIRES: `follows_stream`.
  Result<bool> Apply(const StreamEvent& event);

  // Returns lines that say what was added to the objects of files and streams since the last call,
  // such as "Deployment default/web: 30 pods".
  std::vector<std::string> TakeNotes();

  // Delivers answers and watch events that wait. Returns false if there were none.
  bool Deliver() { return cluster_.Deliver() > 0; }
  // Returns how many requests of plugins may have changed objects.
  uint64_t plugin_writes() const { return plugin_writes_; }
  // Finishes the deletions of pods that are due. Returns false if there were none.
  bool FinishDeletions() { return cluster_.FinishDueDeletions() > 0; }
  // Returns when the next deletion is due, or nullopt if no pod is being deleted.
  std::optional<int64_t> NextDeletionNs() const { return cluster_.NextDeletionNs(); }
  // Returns true if nothing waits for delivery and no pod is being deleted.
  bool AtRest() const { return cluster_.waiting() == 0 && !NextDeletionNs().has_value(); }

  // Returns whether an object of the kind was ever in the input, or a typed list of the kind, which
  // may be empty. Objects without a uid count only if they are in the files of the cluster itself
  // (Workloads::kNew) or in the stream.
  // `declared`: a kind as plugins declare it, perhaps in several versions.
  bool HasKind(std::string_view declared) const;
  // Returns whether the files or the stream come from a cluster: a node of them has a uid.
  bool is_dump() const { return is_dump_; }
  // The kinds that the plugins of the scheduler over this cluster need.
  const ObjectNeeds& needs() const { return needs_; }
  ObjectNeeds& needs() { return needs_; }

  Client client() { return cluster_; }
  const EmbeddedCluster& objects() const { return cluster_; }
  Decoder& decoder() { return decoder_; }

 private:
  // A pod or workload of a file, which waits until all files have been read: a class or a
  // LimitRange may follow it.
  struct Waiting {
    std::string file;
    AnyObject object;
    std::string json;
  };

  Status Read(std::string_view name, std::string text, Workloads workloads);
  // Takes an object of a file. `text` begins with its JSON.
  Status Take(std::string_view file, AnyObject object, std::string_view text, Workloads workloads);
  Status Load(const AnyObject& object);
  // Adds what waits.
  Status Complete();
  Status CompletePod(const Waiting& waiting);
  Status Expand(const Waiting& waiting, const ControlledPods& existing);
  // Returns the workload of the cluster that manages the object, whose pods are those of that
  // workload: "Deployment web" for a ReplicaSet. Returns "" if there is none.
  std::string WorkloadOf(const ObjectBase& base) const;
  // Applies an event with a pod that is admitted first.
  Result<bool> ApplyAdmitted(const StreamEvent& event, const Pod& pod);
  // Admits the pod if it is admitted at all, and decodes it.
  Result<PodRef> ToPod(nlohmann::ordered_json pod, const Pod* stored = nullptr);
  Result<std::string> CreateOwned(const nlohmann::ordered_json& object);
  // Records that the input has an object of the kind.
  void NoteKind(std::string_view kind);
  void NoteChange(std::string_view kind);

  Decoder decoder_;
  EmbeddedCluster cluster_;
  EmbeddedApi api_;
  std::optional<StreamCluster> stream_;
  Admission admission_{cluster_};
  // The kinds of objects and of typed lists in the input, without pods and nodes.
  std::set<std::string, std::less<>> kinds_;
  ObjectNeeds needs_;
  uint64_t plugin_writes_ = 0;
  bool admits_ = false;
  bool is_complete_ = false;
  bool is_dump_ = false;
  std::vector<Waiting> waiting_pods_;
  std::vector<Waiting> waiting_workloads_;
  std::set<std::string, std::less<>> waiting_keys_;  // "v1/Pod default/web" of what waits.
  AdmissionCounts noted_;                            // What TakeNotes() has already reported.
  std::vector<std::string> notes_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_LOCAL_CLUSTER_H_
