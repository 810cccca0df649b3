// The fields of a pod's spec that installed plugins handle.
//
// If a field that no installed plugin handles were ignored silently, the pod could be placed where
// its owner forbade it. Such a pod is rejected instead, with the name of the field. A field whose
// plugin is installed but not part of the profile is ignored, as kube-scheduler does.
#ifndef BERTH_HOST_CYCLE_HANDLED_FIELDS_H_
#define BERTH_HOST_CYCLE_HANDLED_FIELDS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <berth/abi.h>

namespace berth::host {

class HandledFields {
 public:
  // `pod_fields`: the JSON pointers of the fields that installed plugins handle. A pointer covers
  // everything below it.
  explicit HandledFields(std::set<std::string> pod_fields) : fields_(std::move(pod_fields)) {}

  // Returns the JSON pointers of the fields that the pod uses and no plugin handles, sorted.
  std::vector<std::string_view> Unhandled(const berth_pod& pod) const;

  // Returns the message for such fields: "pod uses spec.nodeSelector, which no installed plugin
  // handles".
  static std::string Message(const std::vector<std::string_view>& unhandled);

 private:
  bool Handles(std::string_view field) const;

  std::set<std::string> fields_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_HANDLED_FIELDS_H_
