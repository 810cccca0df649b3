package main

import (
	"encoding/json"
	"fmt"
)

// Pod is what the policy reads of the pod: its requests, in thousandths of a core and in bytes.
type Pod struct {
	CPU, Memory int64
}

// Node is what the policy reads of a node: what it has, and what its pods request. plugin.c names
// the columns.
type Node struct {
	AllocCPU, ReqCPU, AllocMemory, ReqMemory int64
}

// Policy keeps pods off nodes on which they would leave a crumb of CPU that no other pod can use,
// and prefers the node that is fuller afterwards.
type Policy struct {
	CrumbMilli int64 `json:"crumbMilli"`
}

// NewPolicy returns the policy of one profile. args are the profile's arguments as JSON; the host
// has checked them against the schema in plugin.c.
func NewPolicy(args []byte) (*Policy, error) {
	policy := &Policy{CrumbMilli: 500}
	if err := json.Unmarshal(args, policy); err != nil {
		return nil, err
	}
	if policy.CrumbMilli < 0 {
		return nil, fmt.Errorf("crumbMilli: expected at least 0, found %d", policy.CrumbMilli)
	}
	return policy, nil
}

// Filter returns whether the pod can run on the node. It is called on several threads at once, so
// it must not change the policy.
func (p *Policy) Filter(pod Pod, node Node) bool {
	left := node.AllocCPU - node.ReqCPU - pod.CPU
	return left <= 0 || left >= p.CrumbMilli // NodeResourcesFit rejects a node without room.
}

// Score returns how well the pod suits the node, from 0 to 100. It is called like Filter.
func (p *Policy) Score(pod Pod, node Node) int64 {
	if node.AllocCPU <= 0 {
		return 0
	}
	used := (float64(node.ReqCPU) + float64(pod.CPU)) / float64(node.AllocCPU)
	return int64(100 * max(0, min(1, used)))
}
