package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	resource "k8s.io/api/resource/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// attempt is one scheduling attempt of a pod, and what it changed in the API server.
type attempt struct {
	pod     *core.Pod // Before the attempt.
	skipped string    // Why there was no attempt. The rest is nil then.
	end     *end
	effects *effects
	after   *state
}

// effects are the changes of objects in the API server.
type effects struct {
	condition   *core.PodCondition // PodScheduled of the pod.
	nominated   string             // The pod's nominatedNodeName.
	deleted     []string           // Pods.
	cleared     []string           // Other pods whose nominatedNodeName is gone.
	deallocated []string           // Claims that lost their allocation.
}

// run lets the scheduler try a pod once, with this framework for its profile.
func (c *cluster) run(ctx context.Context, pod *core.Pod, fw framework.Framework) (*attempt,
	error) {
	c.sched.Profiles[pod.Spec.SchedulerName] = fw
	if err := c.takeNext(ctx, key(pod)); err != nil {
		return nil, err
	}
	before, err := c.state(ctx)
	if err != nil {
		return nil, err
	}
	c.sched.ScheduleOne(ctx)
	done := &attempt{pod: pod, skipped: c.note("skip schedule deleting pod")}
	if done.skipped == "" {
		if done.end, err = c.wait(); err != nil {
			return nil, err
		}
	}
	if done.after, err = c.state(ctx); err != nil {
		return nil, err
	}
	done.effects = changes(before, done.after, pod)
	return done, nil
}

// state has the objects that a scheduling attempt can change.
type state struct {
	pods   map[string]*core.Pod
	claims map[string]*resource.ResourceClaim
}

func (c *cluster) state(ctx context.Context) (*state, error) {
	pods, err := c.client.CoreV1().Pods("").List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	claims, err := c.client.ResourceV1().ResourceClaims("").List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	found := &state{pods: map[string]*core.Pod{}, claims: map[string]*resource.ResourceClaim{}}
	for i := range pods.Items {
		found.pods[key(&pods.Items[i])] = &pods.Items[i]
	}
	for i := range claims.Items {
		found.claims[key(&claims.Items[i])] = &claims.Items[i]
	}
	return found, nil
}

func changes(before, after *state, pod *core.Pod) *effects {
	found := &effects{}
	for _, name := range slices.Sorted(maps.Keys(before.pods)) {
		now := after.pods[name]
		switch {
		case now == nil:
			found.deleted = append(found.deleted, name)
		case name == key(pod):
			found.nominated = now.Status.NominatedNodeName
			found.condition = podCondition(now)
		case before.pods[name].Status.NominatedNodeName != now.Status.NominatedNodeName:
			found.cleared = append(found.cleared, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before.claims)) {
		if isAllocated(before.claims[name]) && !isAllocated(after.claims[name]) {
			found.deallocated = append(found.deallocated, name)
		}
	}
	return found
}

func isAllocated(claim *resource.ResourceClaim) bool {
	return claim != nil && claim.Status.Allocation != nil
}

func podCondition(pod *core.Pod) *core.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == core.PodScheduled {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// gate returns the rejection of the first PreEnqueue plugin that holds the pod back, or nil.
func gate(ctx context.Context, fw framework.Framework, pod *core.Pod) *Rejection {
	for _, plugin := range fw.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(ctx, pod); !status.IsSuccess() {
			found := rejection(status)
			found.Plugin = plugin.Name()
			return found
		}
	}
	return nil
}

// observe lets the scheduler try the pod, and returns everything that a case states.
func (c *cluster) observe(ctx context.Context, pod *core.Pod) (*Outcome, error) {
	fw := c.sched.Profiles[pod.Spec.SchedulerName]
	if found := gate(ctx, fw, pod); found != nil {
		if c.isActive(key(pod)) {
			return nil, fmt.Errorf("%s rejects pod %s, but the queue has it", found.Plugin, key(pod))
		}
		return &Outcome{Code: found.Code, Message: found.text(), PreEnqueue: found,
			Rejectors: []string{found.Plugin}}, nil
	}
	watch := &observer{Framework: fw}
	done, err := c.run(ctx, pod, watch)
	switch {
	case err != nil:
		return nil, err
	case done.skipped != "":
		return &Outcome{Code: "Skipped", Message: done.skipped}, nil
	case done.end.node != "":
		return watch.success(done, c.nodes(ctx)), nil
	}
	return watch.rejected(ctx, done, c.nodes(ctx)), nil
}

// nodes returns the names of all nodes, sorted.
func (c *cluster) nodes(ctx context.Context) []string {
	list, err := c.client.CoreV1().Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		panic(err) // The fake clientset has no reason to fail.
	}
	var found []string
	for i := range list.Items {
		found = append(found, list.Items[i].Name)
	}
	slices.Sort(found)
	return found
}

// success returns the outcome for a pod that was placed.
func (o *observer) success(done *attempt, nodes []string) *Outcome {
	found := &Outcome{Code: fwk.Success.String(), Nodes: map[string]*Rejection{}}
	nominated := done.pod.Status.NominatedNodeName
	found.NominatedNodeOnly = nominated != "" && o.first == nominated &&
		o.filtered[nominated].IsSuccess()
	for _, name := range nodes {
		status, isFiltered := o.filtered[name]
		switch {
		case !isFiltered && found.NominatedNodeOnly:
		case !isFiltered:
			found.Nodes[name] = rejection(fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf(
				"node(s) didn't satisfy plugin(s) %v", sets.List(o.rejectors))))
		case status.IsSuccess():
			found.Feasible = append(found.Feasible, name)
		default:
			found.Nodes[name] = rejection(status)
		}
	}
	found.Selected = found.Feasible
	if len(o.scores) > 0 {
		o.addScores(found)
	}
	return found
}

func (o *observer) addScores(found *Outcome) {
	configured := map[string]int64{}
	for _, plugin := range o.ListPlugins().Score.Enabled {
		configured[plugin.Name] = int64(plugin.Weight)
	}
	best := slices.MaxFunc(o.scores, func(a, b fwk.NodePluginScores) int {
		return int(a.TotalScore - b.TotalScore)
	}).TotalScore
	found.Weights, found.Scores, found.Selected = map[string]int64{}, map[string]*Score{}, nil
	for _, node := range o.scores {
		score := &Score{Total: node.TotalScore, Plugins: map[string]int64{}}
		for _, plugin := range node.Scores {
			weight := configured[plugin.Name]
			found.Weights[plugin.Name] = weight
			score.Plugins[plugin.Name] = plugin.Score / weight
		}
		found.Scores[node.Name] = score
		if node.TotalScore == best {
			found.Selected = append(found.Selected, node.Name)
		}
	}
	slices.Sort(found.Selected)
}

// rejected returns the outcome for a pod that was not placed.
func (o *observer) rejected(ctx context.Context, done *attempt, nodes []string) *Outcome {
	status := done.end.status
	found := &Outcome{Code: status.Code().String(), Message: status.Message(),
		Deallocated: done.effects.deallocated}
	failed, isFit := status.AsError().(*framework.FitError)
	if !isFit {
		found.Messages = o.filterErrors(ctx, done.pod, nodes)
		if len(found.Messages) > 0 {
			found.Message = found.Messages[0]
		}
		if len(found.Messages) == 1 {
			found.Messages = nil
		}
		return found
	}
	found.Rejectors = sets.List(failed.Diagnosis.UnschedulablePlugins)
	if o.preFilter.IsRejected() {
		found.PreFilter = rejection(o.preFilter)
	} else {
		found.Nodes = map[string]*Rejection{}
		for _, name := range nodes {
			found.Nodes[name] = rejection(failed.Diagnosis.NodeToStatus.Get(name))
		}
	}
	had := done.pod.Status.NominatedNodeName != ""
	found.NominationCleared = had && done.effects.nominated == ""
	if nominates(done.end) {
		found.Preemption = o.preempted(done)
	}
	return found
}

// nominates returns whether PostFilter nominated a node.
func nominates(one *end) bool {
	return one.nomination.Mode() == fwk.ModeOverride && one.nomination.NominatedNodeName != ""
}

// filterErrors returns the different texts with which the filters fail on nodes, in the order of
// the nodes. The first error ended the search, so that it runs the filters for all nodes.
func (o *observer) filterErrors(ctx context.Context, pod *core.Pod, nodes []string) []string {
	var texts []string
	for _, name := range nodes {
		node, err := o.SnapshotSharedLister().NodeInfos().Get(name)
		if err != nil || o.state == nil || !o.preFilter.IsSuccess() || !o.wanted.AllNodes() {
			continue
		}
		status := o.Framework.RunFilterPluginsWithNominatedPods(ctx, o.state.Clone(), pod, node)
		if text := status.Message(); status.Code() == fwk.Error && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// preempted completes the candidates with what the attempt did.
func (o *observer) preempted(done *attempt) *Preemption {
	found := o.preemption
	if found == nil {
		found = &Preemption{Candidates: map[string]*Candidate{}}
	}
	found.Node = done.end.nomination.NominatedNodeName
	found.Victims = append([]string{}, done.effects.deleted...)
	if candidate := found.Candidates[found.Node]; candidate != nil {
		for _, victim := range candidate.Victims {
			if !slices.Contains(found.Victims, victim) {
				found.AlreadyTerminating = append(found.AlreadyTerminating, victim)
			}
		}
	}
	found.ClearedNominations = done.effects.cleared
	return found
}

// text returns the message of a status.
func (r *Rejection) text() string { return strings.Join(r.Reasons, ", ") }

// rejection returns the plugin, the code and the sorted reasons of a status.
func rejection(status *fwk.Status) *Rejection {
	return &Rejection{Plugin: status.Plugin(), Code: status.Code().String(),
		Reasons: slices.Sorted(slices.Values(status.Reasons()))}
}
