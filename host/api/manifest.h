// Files with objects in them: what people write, what `kubectl get -o json` prints.
#ifndef BERTH_HOST_API_MANIFEST_H_
#define BERTH_HOST_API_MANIFEST_H_

#include <cstddef>
#include <functional>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

// Takes the objects in the order of the file. An error ends the reading and is passed on.
using ManifestSink = std::function<Status(AnyObject object)>;

// Reads all objects of a manifest:
//   JSON   one object, or several one after the other, on a line each or not
//   YAML   a stream of documents
// Each is an object of any kind, or a list of them: kind List, whose items say what they are, or
// PodList, NodeList and the like, whose items need not. Items are decoded one by one as they are
// reached. What begins with "{" or "[" is JSON; a byte order mark is skipped.
//
// Returns: an error with the place in it. Objects before it have been passed on.
//   nodes.json: /items/3/spec/taints/0/effect: expected NoSchedule, ..., found "Foo"
//   pods.yaml:12: /spec/priority: expected an integer, found "high"      (document from line 12 on)
//   pods.json:7: expected ',' or '}', found ']'
// An empty text is kInvalidArgument too.
Status ReadManifest(std::string_view text, std::string_view file_name, Decoder& decoder,
                    const ManifestSink& sink);

// The same without a copy of the text: kManifestPadding bytes behind it can be read.
inline constexpr size_t kManifestPadding = 64;
Status ReadPaddedManifest(std::string_view text, std::string_view file_name, Decoder& decoder,
                          const ManifestSink& sink);

}  // namespace berth::host

#endif  // BERTH_HOST_API_MANIFEST_H_
