// Parses the paths of API server requests.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_API_PATH_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_API_PATH_H_

#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// The parts of a path such as "/apis/storage.k8s.io/v1/csinodes/a?x=y".
struct ApiPath {
  std::string group_version;  // Such as "v1" or "storage.k8s.io/v1".
  std::string ns;             // Empty if the path has no namespace.
  std::string resource;       // Such as "csinodes".
  std::string name;           // Empty for a collection.
  std::string subresource;    // Such as "status"; empty for the object itself.
  std::string query;          // Such as "x=y".

  // Errors: NotFound, with the text of an API server, if `path` is not the path of a resource.
  static Result<ApiPath> Parse(std::string_view path);

  // Returns whether the path belongs to the resource of `kind`, such as
  // "storage.k8s.io/v1/CSINode".
  bool IsPathOf(std::string_view kind) const;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_API_PATH_H_
