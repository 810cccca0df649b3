package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	clocktesting "k8s.io/utils/clock/testing"
)

// A cycle that waits for nothing has ended long before.
const endTimeout = 30 * time.Second

const configVersion = "kubescheduler.config.k8s.io/v1"

// cluster is a fake API server with the objects of a case, and a scheduler that has received them
// all. Nothing is scheduled before takeNext() and ScheduleOne().
type cluster struct {
	client *fake.Clientset
	sched  *scheduler.Scheduler
	cancel context.CancelFunc
	ended  chan *end // The ends of scheduling and binding cycles.
	mutex  sync.Mutex
	notes  []string // The texts of the scheduler's events; guarded by mutex.
}

// end is how the cycles of a pod ended: with a binding, or with a call of the FailureHandler.
type end struct {
	pod        string
	node       string      // Empty after a failure.
	status     *fwk.Status // Success after a binding.
	nomination *fwk.NominatingInfo
}

// readProfile returns the configuration of kube-scheduler with a profile, or with the default one.
func readProfile(profile json.RawMessage) (*config.KubeSchedulerConfiguration, error) {
	document := map[string]any{"apiVersion": configVersion, "kind": "KubeSchedulerConfiguration"}
	if profile != nil {
		document["profiles"] = []json.RawMessage{profile}
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	object, _, err := configscheme.Codecs.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("`profile` is not a KubeSchedulerProfile of %s: %w", configVersion, err)
	}
	return object.(*config.KubeSchedulerConfiguration), nil
}

// newCluster starts a scheduler. The fake clientset lists objects in a random order, so that each
// cluster gives the scheduler another one. The caller calls cancel().
func newCluster(ctx context.Context, list []runtime.Object, profile json.RawMessage) (*cluster,
	error) {
	settings, err := readProfile(profile)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &cluster{client: fake.NewSimpleClientset(list...), cancel: cancel,
		ended: make(chan *end, 1000)}
	// The fake clientset has no rule for bindings. The scheduler keeps the pod assumed on the node.
	bind := func(action testing.Action) (bool, runtime.Object, error) {
		create, ok := action.(testing.CreateAction)
		if !ok || action.GetSubresource() != "binding" {
			return false, nil, nil
		}
		binding := create.GetObject().(*core.Binding)
		c.ended <- &end{pod: key(binding), node: binding.Target.Name}
		return true, nil, nil
	}
	c.client.PrependReactor("create", "pods", bind)
	if err := c.start(ctx, settings); err != nil {
		cancel()
		return nil, err
	}
	return c, nil
}

func (c *cluster) start(ctx context.Context, settings *config.KubeSchedulerConfiguration) error {
	all := int32(100)
	factory := informers.NewSharedInformerFactory(c.client, 0)
	sched, err := scheduler.New(ctx, c.client, factory, nil,
		func(string) events.EventRecorderLogger { return (*recorder)(c) },
		scheduler.WithProfiles(settings.Profiles...),
		scheduler.WithComponentConfigVersion(configVersion),
		scheduler.WithPercentageOfNodesToScore(&all),
		// With a clock that stands still, all pods arrive in the queue at the same time.
		scheduler.WithClock(clocktesting.NewFakeClock(time.Now())))
	if err != nil {
		return err
	}
	c.sched = sched
	handle := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, fw framework.Framework,
		pod *framework.QueuedPodInfo, status *fwk.Status, nomination *fwk.NominatingInfo,
		start time.Time) {
		handle(ctx, fw, pod, status, nomination, start)
		c.ended <- &end{pod: key(pod.Pod), status: status, nomination: nomination}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return sched.WaitForHandlersSync(ctx)
}

// wait returns the next end of a pod's cycles.
func (c *cluster) wait() (*end, error) {
	select {
	case one := <-c.ended:
		return one, nil
	case <-time.After(endTimeout):
		return nil, fmt.Errorf("a pod was neither bound nor rejected within %v", endTimeout)
	}
}

// entity is a pod or a PodGroup that was taken out of the scheduling queue.
type entity struct {
	key  string
	pods []*core.Pod
	give func() // Gives it to the next ScheduleOne.
}

// takeNext gives a pod, or the PodGroup with this name, to the next ScheduleOne. Errors: it is not
// in the active queue.
func (c *cluster) takeNext(ctx context.Context, wanted string) error {
	var others []*core.Pod
	for len(c.sched.SchedulingQueue.PodsInActiveQ()) > 0 {
		next, err := pop(ctx, c.sched)
		if err != nil {
			return err
		}
		if next.key != wanted {
			others = append(others, next.pods...)
			continue
		}
		next.give()
		// A nominated pod counts on its node only while it is in the queue.
		for _, pod := range others {
			c.sched.SchedulingQueue.Add(ctx, pod)
		}
		return nil
	}
	return fmt.Errorf("%s is not in the active queue", wanted)
}

// isActive returns whether a pod waits in the queue for its first attempt.
func (c *cluster) isActive(wanted string) bool {
	for _, pod := range c.sched.SchedulingQueue.PodsInActiveQ() {
		if key(pod) == wanted {
			return true
		}
	}
	return false
}

// recorder keeps the texts of events, which contain what is in no condition.
type recorder cluster

func (r *recorder) Eventf(_, _ runtime.Object, _, _, _, note string, arguments ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.notes = append(r.notes, fmt.Sprintf(note, arguments...))
}

func (r *recorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

// note returns the first text of an event with this beginning, or "".
func (c *cluster) note(prefix string) string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, note := range c.notes {
		if strings.HasPrefix(note, prefix) {
			return note
		}
	}
	return ""
}
