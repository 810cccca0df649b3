// Where a cluster is read from: files with Kubernetes objects, or standard input.
#ifndef BERTH_HOST_PROCESS_CLUSTER_FILES_H_
#define BERTH_HOST_PROCESS_CLUSTER_FILES_H_

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// The name under which standard input is read.
inline constexpr std::string_view kStandardInput = "-";

// The whole file, with room for kManifestPadding bytes behind its end; `in` for kStandardInput.
// Errors: NotFound, PermissionDenied, InvalidArgument; each begins with the path.
Result<std::string> ReadInput(const std::string& path, std::istream& in);

// "path: No such file or directory", as the code that fits. `error`: an errno.
Status SystemError(const std::string& path, int error);

// What messages call it: the path, or "standard input".
std::string_view InputName(const std::string& path);

// Puts every object of a manifest into the cluster, and shows it to `loaded`, as it was read.
// Errors: those of ReadManifest and of EmbeddedCluster::Load, with `name` and the place in front.
Status LoadManifest(std::string text, std::string_view name, Decoder& decoder,
                    EmbeddedCluster& cluster,
                    const std::function<void(const AnyObject& object)>& loaded = nullptr);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_CLUSTER_FILES_H_
