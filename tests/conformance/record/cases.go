package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// Case is a line of a file of cases. tests/conformance/cases/README.md describes the fields.
type Case struct {
	Name              string          `json:"name"`
	Topic             string          `json:"topic,omitempty"`
	Note              string          `json:"note,omitempty"`
	KubernetesVersion string          `json:"kubernetesVersion,omitempty"`
	Pod               string          `json:"pod,omitempty"`
	Pods              []string        `json:"pods,omitempty"`
	PodGroup          string          `json:"podGroup,omitempty"`
	Profile           json.RawMessage `json:"profile,omitempty"`
	Objects           List            `json:"objects"`
	Expect            json.RawMessage `json:"expect,omitempty"`

	place string // "FILE:LINE", for messages.
}

// List is a v1 List of manifests.
type List struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
}

// Outcome is what kube-scheduler decides: the field `expect` of a case.
type Outcome struct {
	Code              string                `json:"code,omitempty"`
	Message           string                `json:"message,omitempty"`
	Messages          []string              `json:"messages,omitempty"`
	PreEnqueue        *Rejection            `json:"preEnqueue,omitempty"`
	PreFilter         *Rejection            `json:"preFilter,omitempty"`
	Nodes             map[string]*Rejection `json:"nodes,omitempty"`
	Feasible          []string              `json:"feasible,omitempty"`
	NominatedNodeOnly bool                  `json:"nominatedNodeOnly,omitempty"`
	Weights           map[string]int64      `json:"weights,omitempty"`
	Scores            map[string]*Score     `json:"scores,omitempty"`
	Selected          []string              `json:"selected,omitempty"`
	Allocations       map[string]Object     `json:"allocations,omitempty"`
	Preemption        *Preemption           `json:"preemption,omitempty"`
	NominationCleared bool                  `json:"nominationCleared,omitempty"`
	Rejectors         []string              `json:"rejectors,omitempty"`
	Deallocated       []string              `json:"deallocated,omitempty"`
	Steps             []*Step               `json:"steps,omitempty"`
	Group             *Group                `json:"group,omitempty"`
}

// Object is a JSON object.
type Object map[string]any

// Rejection is the status of a plugin that rejected a pod.
type Rejection struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
}

// Score has the scores of one node, after normalisation and before the weights.
type Score struct {
	Total   int64            `json:"total"`
	Plugins map[string]int64 `json:"plugins"`
}

// Preemption is the result of PostFilter when it nominated a node.
type Preemption struct {
	Node               string                `json:"node"`
	Victims            []string              `json:"victims"`
	AlreadyTerminating []string              `json:"alreadyTerminating,omitempty"`
	TiedNodes          []string              `json:"tiedNodes,omitempty"`
	Candidates         map[string]*Candidate `json:"candidates"`
	ClearedNominations []string              `json:"clearedNominations,omitempty"`
}

// Candidate is a node on which preemption would help.
type Candidate struct {
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdbViolations"`
}

// Step is the outcome for one of several pods.
type Step struct {
	Pod        string      `json:"pod"`
	Code       string      `json:"code"`
	Selected   []string    `json:"selected"`
	Chosen     *string     `json:"chosen"`
	Tie        bool        `json:"tie,omitempty"`
	Message    string      `json:"message,omitempty"`
	Preemption *Preemption `json:"preemption,omitempty"`
}

// Group is the outcome of the cycle of a PodGroup.
type Group struct {
	Pods      map[string]*Member `json:"pods"`
	Condition *Condition         `json:"condition,omitempty"`
	Victims   []string           `json:"victims,omitempty"`
}

// Member is the outcome for a pod of a PodGroup.
type Member struct {
	Code      string `json:"code"`
	Node      string `json:"node,omitempty"`
	Message   string `json:"message,omitempty"`
	Nominated string `json:"nominated,omitempty"`
}

// Condition is a condition that a cycle writes.
type Condition struct {
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// forEachLine calls the function with each line of a file that is not empty, and its place.
func forEachLine(path string, do func(place string, line []byte) error) error {
	input := io.Reader(os.Stdin)
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		input = file
	}
	reader := bufio.NewReader(input)
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := do(fmt.Sprintf("%s:%d", path, number), line); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
}

// readCases reads a file with one case per line; "-" is the standard input.
func readCases(path string) ([]*Case, error) {
	var cases []*Case
	err := forEachLine(path, func(place string, line []byte) error {
		one := &Case{place: place}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(one); err != nil {
			return fmt.Errorf("%s: expected a case as one JSON object on one line: %w", place, err)
		}
		if err := one.check(); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		cases = append(cases, one)
		return nil
	})
	return cases, err
}

func (c *Case) check() error {
	targets := 0
	for _, is := range []bool{c.Pod != "", len(c.Pods) > 0, c.PodGroup != ""} {
		if is {
			targets++
		}
	}
	switch {
	case c.Name == "":
		return errors.New("expected a `name`, such as \"taints/two-taints-1\"")
	case targets != 1:
		return fmt.Errorf("%s: expected one of `pod`, `pods` and `podGroup`, found %d of them", c.Name,
			targets)
	case c.Objects.Kind != "List" || c.Objects.APIVersion != "v1":
		return fmt.Errorf("%s: expected `objects` to be a List of v1, found kind %q of %q", c.Name,
			c.Objects.Kind, c.Objects.APIVersion)
	}
	for _, target := range append([]string{c.Pod, c.PodGroup}, c.Pods...) {
		if target != "" && len(strings.Split(target, "/")) != 2 {
			return fmt.Errorf("%s: expected \"NAMESPACE/NAME\", found %q", c.Name, target)
		}
	}
	return nil
}

// readExpectations reads a file with the expectations of other cases: {"name", "expect"} per line.
func readExpectations(path string) (map[string]json.RawMessage, error) {
	found := map[string]json.RawMessage{}
	err := forEachLine(path, func(place string, line []byte) error {
		var one struct {
			Name   string          `json:"name"`
			Expect json.RawMessage `json:"expect"`
		}
		if err := json.Unmarshal(line, &one); err != nil || one.Name == "" {
			return fmt.Errorf("%s: expected a line {\"name\": ..., \"expect\": ...}: %v", place, err)
		}
		found[one.Name] = one.Expect
		return nil
	})
	return found, err
}

// decoder reports fields that the kind does not have.
var decoder = serializer.NewCodecFactory(scheme.Scheme,
	serializer.EnableStrict).UniversalDeserializer()

// objects decodes the manifests. Pods that have ended are left out, as the scheduler's watch does,
// and a pod without a UID gets one, because the scheduler identifies pods by it.
func (c *Case) objects() ([]runtime.Object, error) {
	var list []runtime.Object
	for i, item := range c.Objects.Items {
		object, kind, err := decoder.Decode(item, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("objects.items[%d]: expected an object of Kubernetes %s: %w", i,
				kubernetesVersion(), err)
		}
		if _, ok := object.(meta.Object); !ok {
			return nil, fmt.Errorf("objects.items[%d]: expected an object, found a %s", i, kind.Kind)
		}
		if pod, ok := object.(*core.Pod); ok {
			if pod.Status.Phase == core.PodSucceeded || pod.Status.Phase == core.PodFailed {
				continue
			}
			if pod.UID == "" {
				pod.UID = types.UID(key(pod))
			}
		}
		list = append(list, object)
	}
	return list, nil
}

// key returns "NAMESPACE/NAME".
func key(object meta.Object) string { return object.GetNamespace() + "/" + object.GetName() }

// findPod returns the pod with this key, or nil.
func findPod(list []runtime.Object, wanted string) *core.Pod {
	for _, object := range list {
		if pod, ok := object.(*core.Pod); ok && key(pod) == wanted {
			return pod
		}
	}
	return nil
}
