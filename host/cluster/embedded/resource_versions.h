// The source of the resourceVersions of an embedded cluster.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_RESOURCE_VERSIONS_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_RESOURCE_VERSIONS_H_

#include <cstdint>
#include <string>

namespace berth::host {

// Counts the changes of everything in a cluster: objects, leases and events.
class ResourceVersions {
 public:
  ResourceVersions() = default;
  ResourceVersions(const ResourceVersions&) = delete;
  ResourceVersions& operator=(const ResourceVersions&) = delete;

  // Returns the resourceVersion of the next change.
  std::string Next() { return std::to_string(++last_); }
  // Returns the resourceVersion of the last change; 0 if nothing has changed.
  uint64_t last() const { return last_; }

 private:
  uint64_t last_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_RESOURCE_VERSIONS_H_
