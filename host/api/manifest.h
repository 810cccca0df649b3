// Reads manifests: files with objects that users write, or that `kubectl get -o json` prints; and
// recognizes texts that are none.
#ifndef BERTH_HOST_API_MANIFEST_H_
#define BERTH_HOST_API_MANIFEST_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/status.h"

namespace berth::host {

// Receives the objects in the order of the file. `text` begins with the JSON text of the object,
// also if the file is YAML, and is valid during the call. An object of a typed list may lack its
// type there. An error that the sink returns is reported as an error of the object.
// Must not: use the decoder, which reads the rest of the file afterwards.
using ManifestSink = std::function<Status(AnyObject object, std::string_view text)>;
// Receives the kind of the items of each typed list, such as "v1/Namespace" for a NamespaceList,
// also if the list is empty. May be empty.
using ListSink = std::function<void(const std::string& kind)>;

// Reads all objects of a manifest:
//   JSON   one object, or a sequence of objects, with or without line breaks between them
//   YAML   a stream of documents
// Each document is an object of any kind, or a list of objects: a List, whose items state their
// type, or a typed list such as PodList or NodeList, whose items may omit it. Items are decoded one
// by one. A byte order mark is skipped.
//
// A text is YAML unless it begins with "{" or "[". Such a text may also be YAML in flow style:
//   *.json          is JSON.
//   *.yaml, *.yml   is JSON if its syntax is, and YAML otherwise. YAML includes JSON documents, but
//                   not a sequence of them without "---".
//   other names     is JSON if it begins with a key in quotes and has no "---" between lines.
//                   Otherwise it is YAML only if it has no syntax of JSON and YAML accepts it.
//
// Returns: one line for each error, with the line of the value and the object:
//   nodes.json:52: Node n3: /items/3/spec/taints/0/effect: expected NoSchedule, ..., found "Foo"
//   pods.yaml:12: Pod default/web: /spec/priority: expected an integer, found "high"
// All objects without errors are passed to `sink`. After kMaxManifestErrors lines, errors are only
// counted: "... and 12 more errors in nodes.json". Nothing is read after malformed text:
//   pods.json:7: expected ',' or '}', found ']'
// An empty text is an error (kInvalidArgument), and so is a text that is neither JSON nor YAML:
//   pods.txt: this looks like a table that kubectl prints; expected Kubernetes objects as YAML ...
// The code is that of the first error.
inline constexpr size_t kMaxManifestErrors = 20;
Status ReadManifest(std::string_view text, std::string_view file_name, Decoder& decoder,
                    const ManifestSink& sink);

// Reads a manifest as ReadManifest() does, but without copying the text.
// REQUIRES: kManifestPadding bytes after the text can be read.
inline constexpr size_t kManifestPadding = 64;
Status ReadPaddedManifest(std::string_view text, std::string_view file_name, Decoder& decoder,
                          const ManifestSink& sink, const ListSink& lists = {});

// Returns what a text is that is neither JSON nor YAML, for a message: "an HTML page", "an XML
// document", "a gzip file", "a table that kubectl prints", "the output of kubectl describe" or "an
// error message of kubectl". Returns "" if the beginning of the text shows none of these.
std::string_view RecognizeForeignText(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_API_MANIFEST_H_
