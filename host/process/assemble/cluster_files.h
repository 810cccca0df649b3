// Reads the objects of a cluster from files or from standard input.
#ifndef BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_FILES_H_
#define BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_FILES_H_

#include <functional>
#include <istream>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/cluster/embedded/embedded_cluster.h"

namespace berth::host {

// The path that stands for standard input.
inline constexpr std::string_view kStandardInput = "-";

// Reads a whole file, or `in` if `path` is kStandardInput. The result has a capacity of at least
// kManifestPadding bytes beyond its size if it was read from a file.
// Errors: NotFound, PermissionDenied, InvalidArgument. Each message begins with the path.
Result<std::string> ReadInput(const std::string& path, std::istream& in);

// Returns the error of a system call on a file: "path: No such file or directory", with the code
// that fits `error`, which is an errno.
Status SystemError(const std::string& path, int error);

// Returns the name of an input in messages: the path, or "standard input".
std::string_view InputName(const std::string& path);

// Adds every object of a manifest to the cluster, and passes each object that was added to `loaded`
// as it was read. `loaded` may be empty.
// Errors: those of ReadManifest, and those of EmbeddedCluster::Load as errors of their objects. The
//         objects without errors have been added.
Status LoadManifest(std::string text, std::string_view name, Decoder& decoder,
                    EmbeddedCluster& cluster,
                    const std::function<void(const AnyObject& object)>& loaded = nullptr);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_ASSEMBLE_CLUSTER_FILES_H_
