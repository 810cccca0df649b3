// Command schedule-one times kube-scheduler's own scheduling cycle in this process: the pop from the
// queue and the unmodified ScheduleOne, with a Bind plugin that does nothing. It needs no API server:
// the objects come from a file with one JSON object per line, which tests/bench/cluster also gives to
// Berth.
//
//	schedule-one --objects FILE [--warm N] [--percentage N]
//
// It prints {"pods": N, "seconds": S, "cpuSeconds": C, "podsPerSecond": R}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	config "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	schedruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

const binderName = "NoBinder"

// noBinder counts the pods and reports success without a request. A pod stays assumed on its node.
type noBinder struct {
	bound atomic.Int64
}

func (b *noBinder) Name() string { return binderName }

func (b *noBinder) Bind(context.Context, fwk.CycleState, *core.Pod, string) *fwk.Status {
	b.bound.Add(1)
	return nil
}

// quiet drops events.
type quiet struct{}

func (q quiet) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
func (q quiet) WithLogger(klog.Logger) events.EventRecorderLogger                             { return q }

func main() {
	objects := flag.String("objects", "", "a file with one JSON object per line")
	warm := flag.Int("warm", 0, "the number of cycles before the measurement")
	percentage := flag.Int("percentage", 0, "percentageOfNodesToScore")
	flag.Parse()
	if err := run(*objects, *warm, int32(*percentage)); err != nil {
		fmt.Fprintln(os.Stderr, "schedule-one:", err)
		os.Exit(1)
	}
}

func read(path string) (list []runtime.Object, pending int, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 8<<20)
	decoder := scheme.Codecs.UniversalDeserializer()
	for lines.Scan() {
		object, _, err := decoder.Decode(lines.Bytes(), nil, nil)
		if err != nil {
			return nil, 0, err
		}
		if pod, ok := object.(*core.Pod); ok {
			// The API server would set it. The scheduler identifies pods by it.
			pod.UID = types.UID(pod.Namespace + "/" + pod.Name)
			if pod.Spec.NodeName == "" {
				pending++
			}
		}
		list = append(list, object)
	}
	return list, pending, lines.Err()
}

func cpu() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func start(ctx context.Context, list []runtime.Object, percentage int32,
	binder *noBinder) (*scheduler.Scheduler, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := &defaults.Profiles[0]
	profile.Plugins.Bind.Disabled = []config.Plugin{{Name: "DefaultBinder"}}
	profile.Plugins.Bind.Enabled = []config.Plugin{{Name: binderName}}
	for i, plugin := range profile.Plugins.MultiPoint.Enabled {
		if plugin.Name == "DefaultBinder" {
			rest := profile.Plugins.MultiPoint.Enabled[i+1:]
			profile.Plugins.MultiPoint.Enabled = append(profile.Plugins.MultiPoint.Enabled[:i:i], rest...)
			break
		}
	}
	client := fake.NewSimpleClientset(list...)
	// scheduler.NewInformerFactory takes other arguments in each version of Kubernetes. It differs from
	// this factory only in what it leaves out: pods that have ended, and managedFields.
	factory := informers.NewSharedInformerFactory(client, 0)
	registry := schedruntime.Registry{binderName: func(context.Context, runtime.Object,
		fwk.Handle) (fwk.Plugin, error) {
		return binder, nil
	}}
	sched, err := scheduler.New(ctx, client, factory, nil,
		func(string) events.EventRecorderLogger { return quiet{} },
		scheduler.WithProfiles(defaults.Profiles...),
		scheduler.WithPercentageOfNodesToScore(&percentage),
		scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithParallelism(defaults.Parallelism))
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return sched, sched.WaitForHandlersSync(ctx)
}

func run(path string, warm int, percentage int32) error {
	klog.SetLogger(klog.Background().V(0))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	list, pending, err := read(path)
	if err != nil {
		return err
	}
	binder := &noBinder{}
	sched, err := start(ctx, list, percentage, binder)
	if err != nil {
		return err
	}
	// Every pod must be in the active queue, because ScheduleOne waits for one.
	for len(sched.SchedulingQueue.PodsInActiveQ()) < pending {
		time.Sleep(10 * time.Millisecond)
	}
	for range min(warm, pending) {
		sched.ScheduleOne(ctx)
	}
	count := pending - min(warm, pending)
	began, used := time.Now(), cpu()
	for range count {
		sched.ScheduleOne(ctx)
	}
	seconds, used := time.Since(began).Seconds(), cpu()-used
	// Binding cycles run beside the loop.
	for deadline := time.Now().Add(10 * time.Second); binder.bound.Load() < int64(pending); {
		if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d pods were scheduled", binder.bound.Load(), pending)
		}
		time.Sleep(time.Millisecond)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"pods": count, "seconds": seconds,
		"cpuSeconds": used.Seconds(), "podsPerSecond": float64(count) / seconds})
}
