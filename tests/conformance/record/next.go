//go:build !kubernetes_1_36

package main

import (
	"context"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// pop takes the next pod or PodGroup out of the scheduling queue.
func pop(ctx context.Context, sched *scheduler.Scheduler) (*entity, error) {
	next, err := sched.SchedulingQueue.Pop(klog.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	popped := &entity{key: next.GetNamespace() + "/" + next.GetName()}
	next.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
		popped.pods = append(popped.pods, info.Pod)
		return true
	})
	popped.give = func() {
		sched.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) { return next, nil }
	}
	return popped, nil
}
