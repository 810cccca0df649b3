#!/usr/bin/env bash
# k8s.io/client-go 0.37.2, tools/events: an event loses its related object without a word.
#
# Expected: Eventf(regarding, related, ...) sends an event that refers to both objects, or logs an
# error. A Go type that embeds *v1.Pod is a runtime.Object with the name and uid of the pod.
# Seen: the recorder looks the type itself up in the scheme. As `related`, such an object is left
# out of the event, which is logged at verbosity 9 only; as `regarding`, there is no event at all,
# which is logged as an error.
# kube-scheduler 1.36.2 and 1.37.2 pass such an object (preemption/executor.go, podExecutorPreemptor):
# their events Preempted name the preemptor in the note alone, and never in `related`.
#
# Needs: Go 1.26. Exits with 1 if the behaviour has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod
go mod init example.invalid/finding 2> messages
go get k8s.io/client-go@v0.37.2 k8s.io/api@v0.37.2 k8s.io/apimachinery@v0.37.2 2>> messages ||
  { cat messages >&2; exit 1; }
cat > main.go <<'CODE'
package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
)

type sink chan *eventsv1.Event

func (s sink) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	s <- event
	return event, nil
}

func (s sink) Update(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return event, nil
}

func (s sink) Patch(_ context.Context, event *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	return event, nil
}

type embedding struct{ *v1.Pod }

func pod(name string) *v1.Pod {
	return &v1.Pod{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: name}}
}

func main() {
	sent := make(sink, 10)
	broadcaster := events.NewBroadcaster(sent)
	if err := broadcaster.StartRecordingToSinkWithContext(context.Background()); err != nil {
		panic(err)
	}
	recorder := broadcaster.NewRecorder(scheme.Scheme, "example.com/scheduler")
	for _, one := range []struct {
		name               string
		regarding, related runtime.Object
	}{
		{"two pods", pod("victim"), pod("preemptor")},
		{"an embedding type as related", pod("victim"), embedding{pod("preemptor")}},
		{"an embedding type as regarding", embedding{pod("victim")}, pod("preemptor")},
	} {
		recorder.Eventf(one.regarding, one.related, v1.EventTypeNormal, "Preempted", "Preempting", "a note")
		select {
		case event := <-sent:
			fmt.Printf("%s: regarding %s, related %v\n", one.name, event.Regarding.Name, event.Related != nil)
		case <-time.After(3 * time.Second):
			fmt.Printf("%s: no event\n", one.name)
		}
	}
}
CODE
go run . > found 2> messages || { cat messages >&2; exit 1; }
cat found
diff - found <<'SEEN'
two pods: regarding victim, related true
an embedding type as related: regarding victim, related false
an embedding type as regarding: no event
SEEN
