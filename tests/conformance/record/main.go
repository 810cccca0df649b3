// Command record records decisions of kube-scheduler. record.sh builds it and starts it, and its
// --help describes the arguments.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

type options struct {
	check   bool
	expect  string
	changed io.Writer // Nil if the expectations that differ are not wanted.
	jobs    int
	quiet   bool
	files   []string
}

// expectation is a line of a file of --expect.
type expectation struct {
	Name   string   `json:"name"`
	Expect *Outcome `json:"expect"` // Nil: kube-scheduler does not always decide the same.
}

// result is the outcome of one case, or why there is none.
type result struct {
	outcome *Outcome
	err     error
}

func main() {
	chosen, err := parse()
	if err != nil {
		fail(err)
	}
	klog.SetLogger(logr.Discard())
	var cases []*Case
	for _, file := range chosen.files {
		list, err := readCases(file)
		if err != nil {
			fail(err)
		}
		cases = append(cases, list...)
	}
	if chosen.check {
		cases, err = prepareCheck(cases, chosen.expect)
		if err != nil {
			fail(err)
		}
	}
	if len(cases) == 0 {
		fail(errors.New("there are no cases in the files"))
	}
	if bad := process(cases, chosen); bad > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "record:", err)
	os.Exit(2)
}

func parse() (*options, error) {
	chosen := &options{}
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	gates := flags.String("feature-gates", "", "")
	flags.IntVar(&runs, "runs", runs, "")
	flags.BoolVar(&chosen.check, "check", false, "")
	flags.StringVar(&chosen.expect, "expect", "", "")
	changed := flags.String("changed", "", "")
	flags.IntVar(&chosen.jobs, "jobs", 4*runtime.GOMAXPROCS(0), "")
	flags.BoolVar(&chosen.quiet, "quiet", false, "")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return nil, fmt.Errorf("%w; record.sh --help describes the options", err)
	}
	chosen.files = flags.Args()
	isOption := func(file string) bool { return strings.HasPrefix(file, "--") }
	switch {
	case slices.ContainsFunc(chosen.files, isOption):
		return nil, errors.New("expected all options before the files")
	case len(chosen.files) == 0:
		return nil, errors.New("expected a file with cases; record.sh --help describes the arguments")
	case (chosen.expect != "" || *changed != "") && !chosen.check:
		return nil, errors.New("--expect and --changed need --check")
	case chosen.jobs < 1 || runs < 1:
		return nil, errors.New("expected positive numbers for --jobs and --runs")
	}
	// Victims are deleted before an attempt ends only if preemption is synchronous.
	err := utilfeature.DefaultMutableFeatureGate.Set("SchedulerAsyncPreemption=false," + *gates)
	if err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	if *changed != "" {
		if chosen.changed, err = os.Create(*changed); err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// prepareCheck gives the cases the expectations of a file, and leaves out those without one.
func prepareCheck(cases []*Case, file string) ([]*Case, error) {
	others := map[string]json.RawMessage{}
	if file != "" {
		var err error
		if others, err = readExpectations(file); err != nil {
			return nil, err
		}
	}
	var list []*Case
	for _, one := range cases {
		if expect, ok := others[one.Name]; ok {
			one.Expect = expect
		} else if one.Expect == nil {
			return nil, fmt.Errorf("%s: %s: --check needs the field `expect`", one.place, one.Name)
		}
		if string(one.Expect) != "null" {
			list = append(list, one)
		}
	}
	return list, nil
}

// process decides all cases, reports them in their order, and returns how many are bad.
func process(cases []*Case, chosen *options) (bad int) {
	version := kubernetesVersion()
	if !chosen.quiet {
		fmt.Fprintf(os.Stderr, "record: %d cases, kube-scheduler %s\n", len(cases), version)
	}
	began := time.Now()
	for i, channel := range decideAll(cases, chosen.jobs) {
		one, done := cases[i], <-channel
		var found []string
		switch {
		case done.err != nil:
			fmt.Fprintf(os.Stderr, "%s: %s: %s\n", one.place, one.Name, done.err)
		case !chosen.check:
			line := *one
			line.KubernetesVersion, line.Expect = version, encode(done.outcome)
			fmt.Printf("%s\n", encode(&line))
		default:
			if found = one.compare(done.outcome); len(found) > 0 {
				fmt.Printf("%s: %s\n  %s\n", one.place, one.Name, strings.Join(found, "\n  "))
			}
		}
		if done.err != nil || len(found) > 0 {
			bad++
			if chosen.changed != nil {
				fmt.Fprintf(chosen.changed, "%s\n", encode(expectation{one.Name, done.outcome}))
			}
		}
		if !chosen.quiet && (i+1)%50 == 0 {
			fmt.Fprintf(os.Stderr, "record: %d of %d, %d bad\n", i+1, len(cases), bad)
		}
	}
	if !chosen.quiet || bad > 0 {
		fmt.Fprintf(os.Stderr, "record: %d of %d cases are good, in %.0f s\n", len(cases)-bad, len(cases),
			time.Since(began).Seconds())
	}
	return bad
}

// decideAll starts the decisions. The result of each case comes through the channel with its index.
func decideAll(cases []*Case, jobs int) []chan result {
	channels := make([]chan result, len(cases))
	for i := range channels {
		channels[i] = make(chan result, 1)
	}
	slots := make(chan struct{}, jobs)
	go func() {
		for i, one := range cases {
			slots <- struct{}{}
			go func() {
				outcome, err := one.decide(context.Background())
				channels[i] <- result{outcome, err}
				<-slots
			}()
		}
	}()
	return channels
}

// compare returns the differences between the expectation of the case and an outcome.
func (c *Case) compare(outcome *Outcome) []string {
	expected, ok := generic(c.Expect).(map[string]any)
	if !ok {
		return []string{"expect: expected an object, found " + string(c.Expect)}
	}
	// The expectations of the first versions do not have them.
	if _, ok := expected["allocations"]; !ok {
		outcome.Allocations = nil
	}
	return differences(expected, outcome)
}

// kubernetesVersion returns the version of the module k8s.io/kubernetes in this program.
func kubernetesVersion() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/kubernetes" {
				return module.Version
			}
		}
	}
	return "unknown"
}
