// The kinds of the Kubernetes API, to recognize a mistyped kind in a file.
#ifndef BERTH_HOST_API_API_KINDS_H_
#define BERTH_HOST_API_API_KINDS_H_

#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// A kind in three parts. The group is empty for "v1/Pod".
struct GroupVersionKind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
};

// Splits the name of a kind: "apps/v1/Deployment", or "v1/Pod".
GroupVersionKind SplitKind(std::string_view kind);

// Returns whether a kind can only be that of a custom resource: its group has a dot, as those of
// custom resources have, and is none of the groups of Kubernetes 1.37. Projects of Kubernetes have
// groups such as scheduling.sigs.k8s.io.
bool IsCustomKind(std::string_view kind);

// Checks that an API server could serve a kind, such as "apps/v1/Deployment". Without this, a
// mistyped kind looks like a custom resource, and the object is silently left out.
//
// Accepts: every kind of Kubernetes 1.37 in its own group, and every kind of a group with a dot
//          that is not Kubernetes' own, because it can be a custom resource. Groups that end with
//          ".k8s.io" get new kinds, so that in those only a kind of another group, and a name that
//          resembles one of the group, are errors.
// Errors:  kInvalidArgument, with what was probably meant:
//          /kind: expected a kind of Kubernetes, found Pods (apiVersion v1); did you mean Pod?
//          /apiVersion: expected apps/v1 for the kind Deployment, found v1
Status CheckKind(std::string_view kind);

}  // namespace berth::host

#endif  // BERTH_HOST_API_API_KINDS_H_
