#!/usr/bin/env bash
# k8s.io/component-helpers 0.37.2: PodRequests() changes the pod that it sums up.
#
# Expected: resource.PodRequests() computes a sum and leaves its argument as it is, because callers
# pass pods of a shared cache.
# Seen: if a pod has an overhead, and its pod-level request is a quantity that needs a fraction in
# the library (0.1Gi), every call adds the overhead to spec.resources of the pod, so that the request
# grows without end. With 1Gi, or with the form in which an API server stores 0.1Gi, it does not: the
# library copies such quantities by value, and the others by pointer.
#
# Needs: Go 1.26. Exits with 1 if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod
go mod init example.invalid/finding 2> messages
go get k8s.io/component-helpers@v0.37.2 k8s.io/api@v0.37.2 k8s.io/apimachinery@v0.37.2 2>> messages ||
  { cat messages >&2; exit 1; }
cat > main.go <<'CODE'
package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"
)

func memory(text string) v1.ResourceList {
	return v1.ResourceList{v1.ResourceMemory: resource.MustParse(text)}
}

func main() {
	for _, request := range []string{"1Gi", "107374182400m", "0.1Gi"} {
		pod := &v1.Pod{Spec: v1.PodSpec{
			Containers: []v1.Container{{Name: "c"}},
			Resources:  &v1.ResourceRequirements{Requests: memory(request)},
			Overhead:   memory("64Mi"),
		}}
		fmt.Printf("%s:", request)
		for call := 0; call < 3; call++ {
			helpers.PodRequests(pod, helpers.PodResourcesOptions{})
			left := pod.Spec.Resources.Requests[v1.ResourceMemory]
			fmt.Printf(" %d", left.Value())
		}
		fmt.Println()
	}
}
CODE
go run . > found 2> messages || { cat messages >&2; exit 1; }
cat found
diff - found <<'SEEN'
1Gi: 1073741824 1073741824 1073741824
107374182400m: 107374183 107374183 107374183
0.1Gi: 174483047 241591911 308700775
SEEN
