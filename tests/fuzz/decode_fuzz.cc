// Fuzzes the decoding of JSON and YAML manifests to objects.
#include <cstdint>
#include <string_view>

#include "host/api/decode.h"
#include "host/api/manifest.h"
#include "host/api/value.h"
#include "host/base/assert.h"

namespace berth::host {
namespace {

DecodeOptions Options() {
  DecodeOptions options;
  options.pod_fields = {"/spec/hostIPC", "/metadata/labels/a~1b", "/spec/containers/0"};
  options.node_fields = {"/spec/podCIDR"};
  return options;
}

// Reads every byte of the object, so that AddressSanitizer detects references to freed memory.
void Check(const AnyObject& object) {
  const ObjectBase& base = Base(object);
  BERTH_ASSERT(!base.name().empty());
  BERTH_ASSERT(base.Key().ends_with(base.name()));
  SipHash13 hash(Interner::kFixedKey);
  for (const berth_field& field : Elements<berth_field>(base.meta().fields)) {
    AddValue(field.value, hash);
  }
  if (const auto* other = std::get_if<ObjectRef>(&object)) {
    BERTH_ASSERT(ValuesService()->kind((*other)->value()) == BERTH_VALUE_OBJECT);
    AddValue((*other)->value(), hash);
  }
  if (const auto* pod = std::get_if<PodRef>(&object)) {
    BERTH_ASSERT((*pod)->view().request != nullptr && (*pod)->view().affinity != nullptr);
    PodStatusPatch patch;
    patch.nominated_node = "n";
    patch.pod_scheduled = PodStatusPatch::Condition();
    BERTH_ASSERT(WithStatus(*pod, patch, "7")->resource_version() == "7");
  }
}

void Run(std::string_view text) {
  static Interner interner;
  static Decoder decoder(interner, Options());
  const Status status =
      ReadManifest(text, "f", decoder, [](const AnyObject& object, std::string_view) {
        Check(object);
        return Status::Ok();
      });
  BERTH_ASSERT(status.ok() || status.message().starts_with("f"));
  decoder.ReleaseIds();
  interner.Sweep();
  // Only the empty string is left: every object has released its ids.
  BERTH_ASSERT_MSG(interner.size() == 1, "%zu texts", interner.size());
}

}  // namespace
}  // namespace berth::host

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  berth::host::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
