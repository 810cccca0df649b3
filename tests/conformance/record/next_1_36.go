//go:build kubernetes_1_36

package main

import (
	"context"
	"errors"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// pop takes the next pod out of the scheduling queue.
func pop(ctx context.Context, sched *scheduler.Scheduler) (*entity, error) {
	next, err := sched.SchedulingQueue.Pop(klog.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	give := func() {
		sched.NextPod = func(klog.Logger) (*framework.QueuedPodInfo, error) { return next, nil }
	}
	return &entity{key: key(next.Pod), pods: []*core.Pod{next.Pod}, give: give}, nil
}

// decideGroup returns an error: the API of 1.36 has the PodGroups of an older version.
func (c *Case) decideGroup(context.Context, []runtime.Object) (*Outcome, error) {
	return nil, errors.New("a case with `podGroup` needs Kubernetes 1.37 or newer")
}
