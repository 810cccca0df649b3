// Which parts of a pod's spec somebody answers for.
//
// A field that no installed plugin handles would be ignored in silence, and the pod placed where
// its owner forbade it. Such a pod is refused by the field's name instead. Where the plugin is
// installed and the profile leaves it out, the field is ignored, as upstream does.
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
  // `pod_fields` are the JSON pointers that the installed plugins answer for; one covers what lies
  // below it.
  explicit HandledFields(std::set<std::string> pod_fields) : fields_(std::move(pod_fields)) {}

  // The JSON pointers of the fields that this pod uses and nobody handles, sorted.
  std::vector<std::string_view> Unhandled(const berth_pod& pod) const;

  // "pod uses spec.nodeSelector, which no installed plugin handles".
  static std::string Message(const std::vector<std::string_view>& unhandled);

 private:
  bool Handles(std::string_view field) const;

  std::set<std::string> fields_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CYCLE_HANDLED_FIELDS_H_
