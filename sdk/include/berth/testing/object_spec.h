// Objects of kinds that have no view: claims, volumes, classes, custom resources.
//
//   MakeObject("v1/PersistentVolumeClaim", "default", "data", R"({"spec": {"volumeName": "pv"}})")
//   MakeObject(R"({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}})")
#ifndef BERTH_TESTING_OBJECT_SPEC_H_
#define BERTH_TESTING_OBJECT_SPEC_H_

#include <string>
#include <string_view>

#include <berth/abi.h>
#include <berth/testing/spec.h>
#include <berth/testing/values.h>

namespace berth::testing {

struct ObjectSpec : MetaSpec<ObjectSpec> {
  std::string kind;  // "storage.k8s.io/v1/CSINode"
  // An object. It may omit what the other members state (kind, name, labels, ...).
  std::string json;
};

ObjectSpec MakeObject(std::string kind, std::string ns, std::string name, std::string json = "{}");

namespace internal {

// Returns the object as the host would read it: the test's JSON with the type and the metadata of
// the spec.
ValueSpec WholeObject(const ObjectSpec& spec);

}  // namespace internal

// Returns an object that is given as JSON. The metadata read from it is name, namespace, uid,
// resourceVersion, labels, annotations and ownerReferences.
ObjectSpec MakeObject(std::string_view json);

}  // namespace berth::testing

#endif  // BERTH_TESTING_OBJECT_SPEC_H_
