package main

import "testing"

func TestFilter(t *testing.T) {
	policy := &Policy{CrumbMilli: 500}
	for _, c := range []struct {
		name string
		free int64
		want bool
	}{
		{"uses all of the node", 1000, true},
		{"leaves one thousandth", 1001, false},
		{"leaves one thousandth less than the crumb", 1499, false},
		{"leaves the crumb", 1500, true},
	} {
		if got := policy.Filter(Pod{CPU: 1000}, Node{AllocCPU: c.free}); got != c.want {
			t.Errorf("%s: expected %v, found %v", c.name, c.want, got)
		}
	}
}

func TestScore(t *testing.T) {
	policy := &Policy{}
	if got := policy.Score(Pod{CPU: 1000}, Node{AllocCPU: 4000, ReqCPU: 1000}); got != 50 {
		t.Errorf("expected 50, found %d", got)
	}
}

func TestArguments(t *testing.T) {
	if policy, err := NewPolicy([]byte(`{"crumbMilli": 250}`)); err != nil || policy.CrumbMilli != 250 {
		t.Errorf("expected 250, found %v, %v", policy, err)
	}
	if _, err := NewPolicy([]byte(`{"crumbMilli": -1}`)); err == nil {
		t.Error("expected an error for a crumb below 0")
	}
}
