package main

import (
	"context"
	"maps"
	"slices"

	core "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// needsAllocations returns whether an outcome has the field `allocations`.
func needsAllocations(list []runtime.Object, pod *core.Pod) bool {
	concernsDevices := func(object runtime.Object) bool {
		switch object.(type) {
		case *resource.ResourceClaim, *resource.ResourceSlice, *resource.DeviceClass:
			return true
		}
		return false
	}
	return len(pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(list, concernsDevices)
}

// allocations returns what the pod would get on each node.
func (c *Case) allocations(ctx context.Context, list []runtime.Object, pod *core.Pod,
	nodes []string) (map[string]Object, error) {
	found := map[string]Object{}
	for _, node := range nodes {
		var err error
		found[node], err = agree(ctx, c, list, runs, func(one *cluster) (Object, error) {
			return one.allocate(ctx, pod, node)
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// allocate places the pod on a node, PreBind included, and returns its claims.
func (c *cluster) allocate(ctx context.Context, pod *core.Pod, node string) (Object, error) {
	before, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	watch := &observer{Framework: c.sched.Profiles[pod.Spec.SchedulerName], only: node}
	done, err := c.run(ctx, pod, watch)
	if err != nil {
		return nil, err
	}
	if !done.end.status.IsSuccess() {
		return Object{"error": done.end.status.Message()}, nil
	}
	found := Object{}
	claims := Object{}
	for _, name := range claimNames(done.after.pods[key(pod)]) {
		was, is := before.claims[pod.Namespace+"/"+name], done.after.claims[pod.Namespace+"/"+name]
		if is != nil {
			claims[name] = claimObject(was, is)
		}
	}
	if len(claims) > 0 {
		found["claims"] = claims
	}
	for _, name := range slices.Sorted(maps.Keys(done.after.claims)) {
		if before.claims[name] == nil {
			found["extended"] = extendedObject(done.after.claims[name], done.after.pods[key(pod)])
		}
	}
	if watch.waits {
		found["waitsForBindingConditions"] = true
	}
	return found, nil
}

// claimNames returns the names of the claims that the pod uses.
func claimNames(pod *core.Pod) []string {
	var names []string
	for _, one := range pod.Spec.ResourceClaims {
		if one.ResourceClaimName != nil {
			names = append(names, *one.ResourceClaimName)
		}
	}
	for _, one := range pod.Status.ResourceClaimStatuses {
		if one.ResourceClaimName != nil {
			names = append(names, *one.ResourceClaimName)
		}
	}
	return names
}

// claimObject returns a claim after PreBind: its consumers, and its allocation if it is a new one.
func claimObject(was, is *resource.ResourceClaim) Object {
	found := Object{}
	if isAllocated(is) && !isAllocated(was) {
		found["allocated"] = true
		allocation := is.Status.Allocation
		var devices []any
		for _, one := range allocation.Devices.Results {
			device := generic(one).(map[string]any)
			if one.ShareID != nil {
				delete(device, "shareID") // It is random.
				device["shared"] = true
			}
			devices = append(devices, device)
		}
		found["devices"] = devices
		if len(allocation.Devices.Config) > 0 {
			found["config"] = allocation.Devices.Config
		}
		if allocation.NodeSelector != nil {
			found["nodeSelector"] = allocation.NodeSelector
		}
	}
	var consumers []string
	for _, one := range is.Status.ReservedFor {
		consumers = append(consumers, one.Resource+"/"+one.Name)
	}
	slices.Sort(consumers)
	found["reservedFor"] = consumers
	return found
}

// extendedObject returns the claim that the scheduler made for extended resources.
func extendedObject(claim *resource.ResourceClaim, pod *core.Pod) Object {
	found := claimObject(nil, claim)
	found["generateName"] = claim.GenerateName
	found["requests"] = claim.Spec.Devices.Requests
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil {
		found["requestMappings"] = status.RequestMappings
	}
	return found
}
