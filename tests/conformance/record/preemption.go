package main

import (
	"context"
	"slices"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// draws is how often SelectCandidate chooses among two candidates. It breaks ties by the order of a
// map, in which the second of two entries comes first with a probability of at least 1/8.
const draws = 400

// newEvaluator returns the evaluator of a new instance of DefaultPreemption; nil if the profile
// does not have this plugin. The plugin's arguments limit only the number of candidates.
func newEvaluator(ctx context.Context, fw framework.Framework) (*preemption.Evaluator, error) {
	enabled := func(plugin config.Plugin) bool { return plugin.Name == names.DefaultPreemption }
	if !slices.ContainsFunc(fw.ListPlugins().PostFilter.Enabled, enabled) {
		return nil, nil
	}
	arguments := &config.DefaultPreemptionArgs{MinCandidateNodesPercentage: 100}
	plugin, err := plugins.NewInTreeRegistry()[names.DefaultPreemption](ctx, arguments, fw)
	if err != nil {
		return nil, err
	}
	return plugin.(*defaultpreemption.DefaultPreemption).Evaluator, nil
}

// findCandidates returns the nodes on which preemption helps and the best of them; nil if there is
// none. It changes nothing.
func findCandidates(ctx context.Context, fw framework.Framework, state fwk.CycleState,
	pod *core.Pod, statuses fwk.NodeToStatusReader) (*Preemption, error) {
	chooser, err := newEvaluator(ctx, fw)
	if err != nil || chooser == nil {
		return nil, err
	}
	nodes, err := statuses.NodesForStatusCode(fw.SnapshotSharedLister().NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return nil, err
	}
	budgets, err := chooser.PdbLister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	// DefaultPreemption reports the error of a node only if there is no candidate, as PostFilter will.
	list, _, _ := chooser.DryRunPreemption(ctx, state, pod, nodes, budgets, 0, int32(len(nodes)))
	if len(list) == 0 {
		return nil, nil
	}
	found := &Preemption{Candidates: map[string]*Candidate{}}
	for _, one := range list {
		found.Candidates[one.Name()] = &Candidate{Victims: keys(one.Victims().Pods),
			PDBViolations: one.Victims().NumPDBViolations}
	}
	best := chooser.SelectCandidate(ctx, list)
	tied := []string{best.Name()}
	for _, one := range list {
		if one.Name() != best.Name() && isEqual(ctx, chooser, one, best) {
			tied = append(tied, one.Name())
		}
	}
	slices.Sort(tied)
	found.Node = tied[0]
	if len(tied) > 1 {
		found.TiedNodes = tied
	}
	return found, nil
}

// isEqual returns whether a candidate is as good as the best one.
func isEqual(ctx context.Context, chooser *preemption.Evaluator, one,
	best preemption.Candidate) bool {
	for range draws {
		if chooser.SelectCandidate(ctx, []preemption.Candidate{one, best}).Name() == one.Name() {
			return true
		}
	}
	return false
}

// keys returns the keys of pods, sorted.
func keys(pods []*core.Pod) []string {
	list := []string{}
	for _, pod := range pods {
		list = append(list, key(pod))
	}
	slices.Sort(list)
	return list
}
