// The kinds of a model of an API server, and their discovery.
#ifndef BERTH_TESTS_HARNESS_API_SERVER_SERVED_KINDS_H_
#define BERTH_TESTS_HARNESS_API_SERVER_SERVED_KINDS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::host {

// A kind that a model serves.
struct ServedKind {
  std::string kind;  // "storage.k8s.io/v1/CSINode"
  bool is_namespaced = false;
};

// Returns the kinds that scheduling reads.
std::vector<ServedKind> DefaultServedKinds();

// Returns the kind without its group and version: "CSINode".
std::string_view ShortKindOf(std::string_view kind);

// Returns the APIResourceList of a group and version, with subresources, events and leases; nullopt
// if there is no such kind.
std::optional<std::string> ResourceListText(std::span<const ServedKind> kinds,
                                            std::string_view group_version);

}  // namespace berth::host

#endif  // BERTH_TESTS_HARNESS_API_SERVER_SERVED_KINDS_H_
