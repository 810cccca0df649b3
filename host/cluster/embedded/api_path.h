// The paths of an API server: which resource a request is about.
#ifndef BERTH_HOST_CLUSTER_EMBEDDED_API_PATH_H_
#define BERTH_HOST_CLUSTER_EMBEDDED_API_PATH_H_

#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// "/apis/storage.k8s.io/v1/csinodes/a?x=y"
struct ApiPath {
  std::string group_version;  // "v1", "storage.k8s.io/v1".
  std::string ns;             // Empty: none is named.
  std::string resource;       // "csinodes"
  std::string name;           // Empty: the collection.
  std::string subresource;    // "status"; empty: the object itself.
  std::string query;          // "x=y"

  // Errors: NotFound for what is no path of a resource, as an API server says it.
  static Result<ApiPath> Parse(std::string_view path);

  // Whether objects of this kind ("storage.k8s.io/v1/CSINode") are found there.
  bool Leads(std::string_view kind) const;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_EMBEDDED_API_PATH_H_
