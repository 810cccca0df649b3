package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

// firstStep is the start time of the pod that the first step of a case with `pods` places.
var firstStep = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)

// runs is how often a case is decided under observation, each time with the objects in another
// order.
var runs = 2

// decide returns the outcome of a case. Errors: the case is wrong, or its outcome is not the same
// in all runs.
func (c *Case) decide(ctx context.Context) (*Outcome, error) {
	list, err := c.objects()
	if err != nil {
		return nil, err
	}
	switch {
	case c.PodGroup != "":
		return c.decideGroup(ctx, list)
	case len(c.Pods) > 0:
		return c.decideSteps(ctx, list)
	}
	return c.decidePod(ctx, list, c.Pod)
}

// agree returns the result that so many new clusters with the same objects give.
func agree[T any](ctx context.Context, c *Case, list []runtime.Object, times int,
	run func(*cluster) (T, error)) (first T, err error) {
	for i := range times {
		one, err := newCluster(ctx, list, c.Profile)
		if err != nil {
			return first, err
		}
		result, err := run(one)
		one.cancel()
		if err != nil {
			return first, err
		}
		if i == 0 {
			first = result
		} else if found := differences(first, result); len(found) > 0 {
			return first, fmt.Errorf("two runs with the objects in another order differ:\n  %s",
				strings.Join(found, "\n  "))
		}
	}
	return first, nil
}

func (c *Case) decidePod(ctx context.Context, list []runtime.Object, name string) (*Outcome,
	error) {
	pod := findPod(list, name)
	if pod == nil {
		return nil, fmt.Errorf("pod %s is not among the objects, or it has ended", name)
	}
	outcome, err := agree(ctx, c, list, runs, func(one *cluster) (*Outcome, error) {
		if one.sched.Profiles[pod.Spec.SchedulerName] == nil {
			return nil, fmt.Errorf("no profile has the schedulerName %q of pod %s; the objects must have "+
				"all defaults", pod.Spec.SchedulerName, name)
		}
		return one.observe(ctx, pod)
	})
	if err != nil || outcome.PreEnqueue != nil {
		return outcome, err
	}
	one, err := newCluster(ctx, list, c.Profile)
	if err != nil {
		return nil, err
	}
	defer one.cancel()
	done, err := one.run(ctx, pod, binder{one.sched.Profiles[pod.Spec.SchedulerName]})
	if err != nil {
		return nil, err
	}
	if problem := confirm(outcome, done); problem != "" {
		return nil, fmt.Errorf("ScheduleOne without observation differs: %s", problem)
	}
	if needsAllocations(list, pod) {
		outcome.Allocations, err = c.allocations(ctx, list, pod, outcome.Feasible)
	}
	return outcome, err
}

// confirm returns what an unobserved attempt did otherwise than the outcome states; "" if nothing.
// The API server's objects alone show what it did.
func confirm(outcome *Outcome, done *attempt) string {
	switch {
	case done.skipped != "" || outcome.Code == "Skipped":
		return differ("the event", outcome.Message, done.skipped)
	case done.end.node != "" || outcome.Code == fwk.Success.String():
		if !slices.Contains(outcome.Selected, done.end.node) {
			return fmt.Sprintf("node %q instead of one of %q", done.end.node, outcome.Selected)
		}
		return ""
	}
	message := ""
	if done.effects.condition != nil {
		message = done.effects.condition.Message
	}
	switch found := outcome.Preemption; {
	case found != nil:
		if problem := found.confirm(done.effects); problem != "" {
			return problem
		}
		taken := "on node " + done.effects.nominated + ","
		message = strings.ReplaceAll(message, taken, "on node "+found.Node+",")
	case nominates(done.end):
		return fmt.Sprintf("nominated node %q instead of none", done.effects.nominated)
	}
	if slices.Contains(outcome.Messages, message) {
		return ""
	}
	return differ("the condition's message", outcome.Message, message)
}

// confirm returns what an unobserved preemption did otherwise; "" if nothing.
func (p *Preemption) confirm(found *effects) string {
	candidate := p.Candidates[found.nominated]
	switch {
	case found.nominated != p.Node && !slices.Contains(p.TiedNodes, found.nominated):
		return differ("the nominated node", p.Node, found.nominated)
	case candidate == nil:
		return fmt.Sprintf("nominated node %q, which was no candidate", found.nominated)
	case found.nominated == p.Node && !slices.Equal(found.deleted, p.Victims):
		return fmt.Sprintf("the victims are %q instead of %q", found.deleted, p.Victims)
	}
	for _, pod := range found.deleted {
		if !slices.Contains(candidate.Victims, pod) {
			return fmt.Sprintf("pod %s was deleted, which is not among the victims", pod)
		}
	}
	return ""
}

func differ(what, expected, found string) string {
	if expected == found {
		return ""
	}
	return fmt.Sprintf("%s is %q instead of %q", what, found, expected)
}

// decideSteps schedules the pods of a case one after the other.
func (c *Case) decideSteps(ctx context.Context, list []runtime.Object) (*Outcome, error) {
	found := &Outcome{}
	initial := slices.Clone(list)
	for i, name := range c.Pods {
		pod := findPod(list, name)
		step := &Step{Pod: name, Selected: []string{}}
		found.Steps = append(found.Steps, step)
		switch {
		case pod == nil && findPod(initial, name) != nil:
			step.Code, step.Message = "Skipped", "preempted before"
			continue
		case pod != nil && pod.Spec.NodeName != "":
			step.Code, step.Message = "Skipped", "already placed"
			continue
		}
		outcome, err := c.decidePod(ctx, list, name)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		step.Code, step.Message, step.Preemption = outcome.Code, outcome.Message, outcome.Preemption
		if len(outcome.Selected) > 0 {
			step.Selected, step.Chosen = outcome.Selected, &outcome.Selected[0]
			step.Tie = len(outcome.Selected) > 1
		}
		list = apply(list, pod, outcome, firstStep.Add(time.Duration(i)*time.Minute))
	}
	return found, nil
}

// apply returns the objects after an attempt: the first one of the selected nodes takes the pod,
// and the victims are gone.
func apply(list []runtime.Object, pod *core.Pod, outcome *Outcome, now time.Time) []runtime.Object {
	if len(outcome.Selected) > 0 {
		pod.Spec.NodeName = outcome.Selected[0]
		pod.Status.NominatedNodeName = ""
		pod.Status.Phase = core.PodRunning
		pod.Status.StartTime = &meta.Time{Time: now}
	}
	if outcome.NominationCleared {
		pod.Status.NominatedNodeName = ""
	}
	found := outcome.Preemption
	if found == nil {
		return list
	}
	pod.Status.NominatedNodeName = found.Node
	for _, name := range found.ClearedNominations {
		findPod(list, name).Status.NominatedNodeName = ""
	}
	return slices.DeleteFunc(list, func(object runtime.Object) bool {
		victim, ok := object.(*core.Pod)
		return ok && (slices.Contains(found.Victims, key(victim)) ||
			slices.Contains(found.AlreadyTerminating, key(victim)))
	})
}
