// Finds the kinds of objects that decisions needed and that the input of a command does not have.
#ifndef BERTH_HOST_PROCESS_REPLAY_MISSING_KINDS_H_
#define BERTH_HOST_PROCESS_REPLAY_MISSING_KINDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "host/cycle/scheduling_loop.h"
#include "host/process/replay/embedded_scheduler.h"

namespace berth::host {

// The decisions about pods of an input without objects of the kind may differ from those on the
// cluster that the input comes from.
struct MissingKind {
  std::string kind;                  // As plugins declare it: "v1/Namespace".
  std::vector<std::string> plugins;  // The plugins that need the kind, sorted.
  std::string pod;                   // A pod whose decision needed it; empty if none is known.

  friend bool operator==(const MissingKind&, const MissingKind&) = default;
};

struct MissingKinds {
  std::vector<MissingKind> list;     // By kind.
  std::vector<std::string> present;  // The kinds that plugins use and that the input has.

  bool empty() const { return list.empty(); }
};

// Returns the kinds that a plugin needed and of which the input of the cluster never had an object
// or a typed list. A plugin needs a kind if it looked it up (see ObjectNeeds). It may have read
// anything, and counts as well, if it took part in decisions, watches the kind or has it as a
// column of nodes, and never looked it up. A plugin that only declares a kind does not count.
// Returns none for files that a person wrote, in which no node has a uid: there is no cluster that
// could have more.
MissingKinds FindMissingKinds(const LocalCluster& cluster, const SchedulingLoop& loop);

// Returns the plural of the kind without group and version: "StorageClasses".
std::string PluralOf(std::string_view declared);
// Returns the name of the kind for `kubectl get`: "storageclasses", and "queue.acme.example.com"
// for a kind of a group that does not belong to Kubernetes, whose plural is not known.
std::string KubectlResource(std::string_view declared);

// Returns a line for each missing kind, and one with the command that reads them too. Returns no
// line if there is none.
std::vector<std::string> WarningsAbout(const MissingKinds& missing);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_REPLAY_MISSING_KINDS_H_
