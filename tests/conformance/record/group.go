//go:build !kubernetes_1_36

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

const groupCondition = "PodGroupInitiallyScheduled"

// decideGroup returns the outcome of one cycle of the PodGroup. It states only what the scheduler
// wrote, so that nothing is left to confirm.
func (c *Case) decideGroup(ctx context.Context, list []runtime.Object) (*Outcome, error) {
	return agree(ctx, c, list, runs+1, func(one *cluster) (*Outcome, error) {
		return one.runGroup(ctx, c.PodGroup)
	})
}

// members returns the pending pods of a PodGroup, by name.
func members(found *state, group string) []*core.Pod {
	var list []*core.Pod
	for _, pod := range found.pods {
		reference := pod.Spec.SchedulingGroup
		if pod.Spec.NodeName == "" && reference != nil && reference.PodGroupName != nil &&
			pod.Namespace+"/"+*reference.PodGroupName == group {
			list = append(list, pod)
		}
	}
	slices.SortFunc(list, func(a, b *core.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (c *cluster) runGroup(ctx context.Context, group string) (*Outcome, error) {
	before, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	pods := members(before, group)
	if len(pods) == 0 {
		return nil, fmt.Errorf("PodGroup %s has no pending pods", group)
	}
	if found := c.gateGroup(ctx, pods); found != nil {
		return found, nil
	}
	for name, fw := range c.sched.Profiles {
		c.sched.Profiles[name] = binder{fw}
	}
	old := c.condition(ctx, group)
	if err := c.takeNext(ctx, group); err != nil {
		return nil, fmt.Errorf("%w; a PodGroup needs the feature gate GenericWorkload", err)
	}
	c.sched.ScheduleOne(ctx)

	found := &Group{Pods: map[string]*Member{}}
	for range pods {
		one, err := c.wait()
		if err != nil {
			return nil, err
		}
		_, name, _ := strings.Cut(one.pod, "/")
		found.Pods[name] = &Member{Code: one.status.Code().String(), Node: one.node,
			Message: one.status.Message()}
	}
	after, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	found.Victims = changes(before, after, pods[0]).deleted
	for _, pod := range pods {
		member, now := found.Pods[pod.Name], after.pods[key(pod)]
		if member != nil && member.Node == "" && now != nil {
			member.Nominated = now.Status.NominatedNodeName
		}
	}
	if now := c.condition(ctx, group); now != nil && !equality.Semantic.DeepEqual(old, now) {
		found.Condition = &Condition{string(now.Status), now.Reason, now.Message}
	}
	return &Outcome{Code: found.code(), Group: found}, nil
}

// gateGroup returns the outcome if a PreEnqueue plugin holds back a member, or nil.
func (c *cluster) gateGroup(ctx context.Context, pods []*core.Pod) *Outcome {
	outcome := &Outcome{Group: &Group{Pods: map[string]*Member{}}}
	for _, pod := range pods {
		fw := c.sched.Profiles[pod.Spec.SchedulerName]
		if fw == nil {
			continue
		}
		if found := gate(ctx, fw, pod); found != nil {
			outcome.PreEnqueue, outcome.Code = found, found.Code
			outcome.Group.Pods[pod.Name] = &Member{Code: found.Code, Message: found.text()}
		}
	}
	if outcome.PreEnqueue == nil {
		return nil
	}
	return outcome
}

// condition returns the condition of a PodGroup that tells whether it was scheduled, or nil.
func (c *cluster) condition(ctx context.Context, group string) *meta.Condition {
	namespace, name, _ := strings.Cut(group, "/")
	found, err := c.client.SchedulingV1beta1().PodGroups(namespace).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return nil
	}
	return apimeta.FindStatusCondition(found.Status.Conditions, groupCondition)
}

// code returns the code of the group: that of its condition, or of its best member if the cycle
// wrote no condition.
func (g *Group) code() string {
	if g.Condition == nil {
		for _, member := range g.Pods {
			if member.Node != "" {
				return fwk.Success.String()
			}
		}
		return fwk.Unschedulable.String()
	}
	switch g.Condition.Reason {
	case "Scheduled":
		return fwk.Success.String()
	case "SchedulerError":
		return fwk.Error.String()
	default:
		return fwk.Unschedulable.String()
	}
}
