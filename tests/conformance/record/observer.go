package main

import (
	"context"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// preBindTimeout is the time after which PreBind waits for something that does not come.
const preBindTimeout = 3 * time.Second

// observer is a profile's framework that notes what the plugins return in one scheduling cycle. The
// plugins themselves have the real framework as their handle, so that what preemption and nominated
// pods let them do is not noted.
type observer struct {
	framework.Framework
	only       string // If not empty, the one node that passes, on which PreBind is run.
	waits      bool   // PreBind was still waiting after preBindTimeout.
	mutex      sync.Mutex
	state      fwk.CycleState
	preFilter  *fwk.Status
	wanted     *fwk.PreFilterResult
	rejectors  sets.Set[string]
	first      string                 // The first node that the filters were run for.
	filtered   map[string]*fwk.Status // By node.
	scores     []fwk.NodePluginScores
	preemption *Preemption // The candidates; nil if there are none.
}

// HasScorePlugins lets the scheduler look at all nodes where there are no score plugins: it would
// stop at the first feasible one.
func (o *observer) HasScorePlugins() bool { return true }

func (o *observer) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *core.Pod) (
	*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	o.state, o.filtered = state, map[string]*fwk.Status{}
	o.wanted, o.preFilter, o.rejectors = o.Framework.RunPreFilterPlugins(ctx, state, pod)
	return o.wanted, o.preFilter, o.rejectors
}

func (o *observer) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState,
	pod *core.Pod, node fwk.NodeInfo) *fwk.Status {
	name := node.Node().Name
	if o.only != "" && o.only != name {
		return fwk.NewStatus(fwk.Unschedulable, "left out")
	}
	status := o.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.filtered) == 0 {
		o.first = name
	}
	o.filtered[name] = status
	return status
}

func (o *observer) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *core.Pod,
	nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := o.Framework.RunScorePlugins(ctx, state, pod, nodes)
	if o.Framework.HasScorePlugins() {
		o.scores = scores
	}
	return scores, status
}

// RunPostFilterPlugins notes the candidates for preemption. Where several are equally good, it lets
// the plugins take the first one by name, because kube-scheduler takes any of them.
func (o *observer) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *core.Pod,
	statuses fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	found, err := findCandidates(ctx, o.Framework, state, pod, statuses)
	if err != nil {
		return nil, fwk.AsStatus(err)
	}
	o.preemption = found
	if found != nil && len(found.TiedNodes) > 0 {
		statuses = &without{statuses, sets.New(found.TiedNodes[1:]...)}
	}
	return o.Framework.RunPostFilterPlugins(ctx, state, pod, statuses)
}

// RunPreBindPlugins does nothing if there is no one node: no volumes are bound.
func (o *observer) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *core.Pod,
	node string) *fwk.Status {
	if o.only == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, preBindTimeout)
	defer cancel()
	status := o.Framework.RunPreBindPlugins(ctx, state, pod, node)
	if o.waits = ctx.Err() != nil; o.waits {
		return nil
	}
	return status
}

// binder is a profile's framework that observes nothing. It does not run PreBind either.
type binder struct{ framework.Framework }

func (b binder) RunPreBindPlugins(context.Context, fwk.CycleState, *core.Pod, string) *fwk.Status {
	return nil
}

// without reports nodes as ones that preemption cannot help.
type without struct {
	fwk.NodeToStatusReader
	nodes sets.Set[string]
}

func (w *without) Get(node string) *fwk.Status {
	if w.nodes.Has(node) {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
	}
	return w.NodeToStatusReader.Get(node)
}

func (w *without) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo,
	error) {
	nodes, err := w.NodeToStatusReader.NodesForStatusCode(lister, code)
	var left []fwk.NodeInfo
	for _, node := range nodes {
		if !w.nodes.Has(node.Node().Name) {
			left = append(left, node)
		}
	}
	return left, err
}
