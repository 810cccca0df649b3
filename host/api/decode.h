// JSON to objects: text as the API server sends it, or as people write it, straight into the views.
#ifndef BERTH_HOST_API_DECODE_H_
#define BERTH_HOST_API_DECODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/objects.h"
#include "host/base/interner.h"
#include "host/base/status.h"

namespace berth::host {

struct DecodeOptions {
  // Limits. What is beyond one of them is refused with kOutOfRange.
  size_t max_object_bytes = size_t{4} << 20;  // JSON text of one object; etcd holds 1.5 MiB.
  uint32_t max_depth = 64;                    // Nesting of what is kept as a tree.
  uint32_t max_elements = 65'536;             // Of one array or map within an object.

  // Parts of pods and nodes that are kept in berth_meta.fields, as JSON pointers:
  // "/spec/hostIPC".
  std::vector<std::string> pod_fields;
  std::vector<std::string> node_fields;
};

class Reader;  // The state of decoding; its header brings in simdjson.

// Decodes one object at a time.
//
// Unknown fields are skipped, null is the same as absent, and a value of the wrong type is an
// error. Fields come in any order; of a field that comes twice the last one counts. The text must
// be UTF-8. What is skipped is not checked beyond that.
//
// The defaults of the API server that scheduling sees are applied, so that manifests that never
// passed one decide the same (pkg/apis/core/v1/defaults.go and zz_generated.defaults.go):
//   pods        metadata.namespace "default"; also claims, services, budgets and the other kinds
//               with a namespace that scheduling reads
//               spec.schedulerName "default-scheduler", priority 0, restartPolicy Always,
//               preemptionPolicy PreemptLowerPriority
//   containers  a limit without a request is the request too; of the pod's own resources, cpu and
//               memory are first what the containers request together
//               ports: protocol TCP; with hostNetwork, hostPort is containerPort
//   tolerations operator Equal, value ""
//   spreading   minDomains 1, nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore; matchLabelKeys
//               are merged into the selector
//   pod terms   matchLabelKeys and mismatchLabelKeys are merged into the selector (In, NotIn)
//   volumes     rbd.pool "rbd"
//   nodes       status.allocatable is status.capacity where it is absent
//   namespaces  label kubernetes.io/metadata.name
// Left as they are: what only admission fills in, such as tolerations and priority by class.
//
// Amounts are whole units (thousandths for cpu), each rounded up. Resources that scheduling does
// not know (a plain name other than the four, hugepages- and attachable-volumes-) are left out.
// Selectors that upstream cannot parse are decoded with BERTH_SELECTOR_INVALID.
//
// Returns: the object; or an error that begins with the JSON pointer of the place:
//   /spec/containers/0/resources/requests/cpu: expected a quantity such as 100m, found "abc"
//
// Threading: one thread at a time; a decoder per thread. What it returns may go to any.
// Lifetime: the interner outlives the decoder and its objects. The decoder holds references to the
// ids that it saw last; ReleaseIds() lets go of them, for Interner::Sweep().
class Decoder {
 public:
  explicit Decoder(Interner& interner, DecodeOptions options = {});
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  Decoder& operator=(Decoder&&) = delete;

  // The JSON text of one object. Without `kind` and `apiVersion` in it, it is a Pod or a Node.
  Result<PodRef> DecodePod(std::string_view json);
  Result<NodeRef> DecodeNode(std::string_view json);
  // Of any kind but Pod and Node: its metadata and all of it as a tree.
  Result<ObjectRef> DecodeObject(std::string_view json);
  // Whatever `kind` and `apiVersion` say that it is.
  Result<AnyObject> Decode(std::string_view json);

  void ReleaseIds();

  Interner& interner() const;
  const DecodeOptions& options() const;
  // For host/api/decode_value.h.
  Reader& reader() { return *reader_; }

 private:
  std::unique_ptr<Reader> reader_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_DECODE_H_
