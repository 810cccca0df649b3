// Decodes JSON, as the API server sends it or as users write it, directly into the views.
#ifndef BERTH_HOST_API_DECODE_H_
#define BERTH_HOST_API_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <berth/kube_version.h>

#include "host/api/objects.h"
#include "host/base/interner.h"
#include "host/base/status.h"

namespace berth::host {

struct DecodeOptions {
  // Limits. Input that exceeds a limit is rejected with kOutOfRange.
  // The JSON text of one object. An API server stores objects of up to 1.5 MiB in etcd, in a form
  // with one byte where the JSON has up to ten: it writes "<" as "\u003c", and names of fields.
  size_t max_object_bytes = size_t{16} << 20;
  uint32_t max_depth = 64;                    // The nesting of values that are kept as a tree.
  uint32_t max_elements = uint32_t{1} << 20;  // The elements of one array or map of an object.

  // Decodes a bound pod or a node also if some of its values cannot be read. Such a value counts as
  // absent, so that a resource counts as 0, and Decoder::problems() names it. An allocatable list
  // of another type counts as empty. Some errors reject the object nevertheless: malformed JSON, an
  // exceeded limit, another kind, and an error in a value that identifies the object or in one of
  // pod_fields and node_fields. A pod without a node is rejected with its first problem, so that no
  // decision is based on a part of it. A selector or a node selector term with a requirement that
  // cannot be read matches nothing (BERTH_SELECTOR_INVALID), because without it more would match.
  bool skip_unreadable = false;

  // The version of Kubernetes by whose rules the requests of pods are computed.
  KubeVersion emulated_version = kNewestKubeVersion;

  // How many recently used ids the decoder keeps, so that it finds them without the interner: a
  // power of two. A decoder for a single value needs few.
  uint32_t cached_ids = 2048;

  // JSON pointers, such as "/spec/hostIPC", to the fields of pods and nodes that are kept in
  // berth_meta.fields.
  std::vector<std::string> pod_fields;
  std::vector<std::string> node_fields;

  // Whether the JSON text of every pod, or of every node, is kept with the object: see KeptText().
  bool keep_pod_text = false;
  bool keep_node_text = false;
};

// A value or selector that was decoded on its own, and its memory.
template <class T>
struct Parsed {
  ObjectMemory memory;
  const T* root;
};

class Reader;  // The state of decoding. It is not included here because its header needs simdjson.

// Decodes one object at a time.
//
// Unknown fields are skipped, null means that a field is absent, and a value of the wrong type is
// an error. Fields may be in any order; if a field occurs twice, the last one counts. The text must
// be UTF-8. Skipped values are not checked otherwise.
//
// The decoder applies those defaults of the API server that affect scheduling, so that a manifest
// that was never sent to an API server leads to the same decisions (pkg/apis/core/v1/defaults.go
// and zz_generated.defaults.go):
//   all kinds   metadata.name, if it is absent: metadata.generateName and five characters, which
//               depend only on how many names this decoder has generated
//   pods        metadata.namespace "default"; also for claims, services, budgets and the other
//               kinds with a namespace that scheduling reads
//               spec.schedulerName "default-scheduler", priority 0, restartPolicy Always,
//               preemptionPolicy PreemptLowerPriority
//   containers  a limit without a request is also the request; if a pod has limits of its own, its
//               cpu and memory requests default to the sum of its containers, then to the limit
//               ports: protocol TCP; with hostNetwork, hostPort is containerPort
//   tolerations operator Equal, value ""
//   spreading   minDomains 1, nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore; matchLabelKeys
//               are merged into the selector
//   pod terms   matchLabelKeys and mismatchLabelKeys are merged into the selector (In, NotIn)
//   volumes     rbd.pool "rbd"
//   nodes       status.allocatable is status.capacity if it is absent
//   namespaces  label kubernetes.io/metadata.name
// Values that only admission sets, such as tolerations and the priority of a class, are not added.
//
// Amounts are whole units (thousandths for cpu), each rounded up. Resources that the scheduler
// ignores (plain names other than the four standard ones, hugepages-* and attachable-volumes-*) are
// left out. Selectors that Kubernetes cannot parse are decoded with BERTH_SELECTOR_INVALID; only an
// unknown operator of node affinity is an error.
//
// Returns: the object, or an error that begins with the JSON pointer of the value:
//   /spec/containers/0/resources/requests/cpu: expected a quantity such as 100m, found "abc"
//
// Threading: one thread at a time, so each thread needs its own decoder. Decoded objects may be
// used on any thread.
// Lifetime: the interner outlives the decoder and its objects. The decoder holds references to
// recently used ids; ReleaseIds() releases them so that Interner::Sweep() can free their texts.
class Decoder {
 public:
  explicit Decoder(Interner& interner, DecodeOptions options = {});
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  Decoder& operator=(Decoder&&) = delete;

  // DecodePod and DecodeNode decode the JSON text of one object, whose fields `kind` and
  // `apiVersion` may be absent.
  Result<PodRef> DecodePod(std::string_view json);
  Result<NodeRef> DecodeNode(std::string_view json);
  // Decodes an object of any other kind: its metadata, and the whole object as a tree.
  Result<ObjectRef> DecodeObject(std::string_view json);
  // Decodes an object of the kind that its fields `kind` and `apiVersion` name.
  Result<AnyObject> Decode(std::string_view json);

  // Decodes one JSON value of any kind as a tree.
  Result<Parsed<berth_value>> DecodeTree(std::string_view json);
  // DecodeLabelSelector and DecodeNodeSelector decode a LabelSelector and a NodeSelector of the
  // API; DecodeSelectorText decodes a label selector as kubectl writes it: "app=web,tier in (a,b)".
  // Unlike a selector that is part of an object, an invalid selector is an error.
  Result<Parsed<berth_selector>> DecodeLabelSelector(std::string_view json);
  Result<Parsed<berth_selector>> DecodeSelectorText(std::string_view text);
  Result<Parsed<berth_node_selector>> DecodeNodeSelector(std::string_view json);

  // Returns Ok, or kInvalidArgument with the values of the last object that could not be read, each
  // with its JSON pointer. See DecodeOptions::skip_unreadable.
  Status problems() const;

  void ReleaseIds();

  Interner& interner() const;
  const DecodeOptions& options() const;
  // Used by host/api/json_reader.h.
  Reader& reader() { return *reader_; }

 private:
  std::unique_ptr<Reader> reader_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_DECODE_H_
