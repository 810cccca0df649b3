package main

/*
#cgo pkg-config: berth-sdk
#include <berth/abi.h>

void AddReason(berth_status* status, const char* text, uint64_t size);
*/
import "C"

import (
	"fmt"
	"runtime/cgo"
	"unsafe"
)

// The functions that plugin.c calls. Each is called once for a block of nodes, because a call from C
// to Go costs about as much as the decision about a node. A panic must not leave them: it would end
// the scheduler.

//export GoCreate
func GoCreate(args *C.char, size C.uint64_t, status *C.berth_status) (handle C.uintptr_t) {
	defer reportPanic(status, func() { handle = 0 })
	policy, err := NewPolicy(unsafe.Slice((*byte)(unsafe.Pointer(args)), size))
	if err != nil {
		addReason(status, err.Error())
		return 0
	}
	return C.uintptr_t(cgo.NewHandle(policy))
}

//export GoDestroy
func GoDestroy(policy C.uintptr_t) {
	cgo.Handle(policy).Delete()
}

//export GoFilter
func GoFilter(policy C.uintptr_t, pod *C.berth_pod, block *C.berth_block,
	out *C.berth_filter_out, status *C.berth_status) (code C.berth_code) {
	defer reportPanic(status, func() { code = C.BERTH_BUG })
	p, thePod := policyOf(policy), podOf(pod)
	codes := unsafe.Slice((*uint8)(unsafe.Pointer(out.codes)), block.count)
	reasons := unsafe.Slice((*uint64)(unsafe.Pointer(out.reasons)), block.count)
	forEachNode(block, func(i int, node Node) {
		if p.Filter(thePod, node) {
			codes[i], reasons[i] = C.BERTH_SUCCESS, 0
		} else {
			codes[i], reasons[i] = C.BERTH_UNSCHEDULABLE, 1 // Bit 0: the first reason of plugin.c.
		}
	})
	return C.BERTH_SUCCESS
}

//export GoScore
func GoScore(policy C.uintptr_t, pod *C.berth_pod, block *C.berth_block,
	out *C.berth_score_out, status *C.berth_status) (code C.berth_code) {
	defer reportPanic(status, func() { code = C.BERTH_BUG })
	p, thePod := policyOf(policy), podOf(pod)
	scores := unsafe.Slice((*int64)(unsafe.Pointer(out.scores)), block.count)
	forEachNode(block, func(i int, node Node) { scores[i] = p.Score(thePod, node) })
	return C.BERTH_SUCCESS
}

func policyOf(policy C.uintptr_t) *Policy {
	return cgo.Handle(policy).Value().(*Policy)
}

func podOf(pod *C.berth_pod) Pod {
	return Pod{CPU: int64(pod.request.milli_cpu), Memory: int64(pod.request.memory)}
}

// forEachNode calls visit for each selected node, with its index in the block.
func forEachNode(block *C.berth_block, visit func(i int, node Node)) {
	columns := unsafe.Slice(block.columns, block.n_columns)
	cell := func(column, i int) int64 {
		c := &columns[column]
		return *(*int64)(unsafe.Add(unsafe.Pointer(c.data), i*int(c.stride)))
	}
	for k := 0; k < int(block.n_selected); k++ {
		i := k
		if block.selected != nil {
			i = int(unsafe.Slice(block.selected, block.n_selected)[k])
		}
		visit(i, Node{cell(0, i), cell(1, i), cell(2, i), cell(3, i)})
	}
}

// reportPanic turns a panic into a reason, and calls fail. It must be deferred.
func reportPanic(status *C.berth_status, fail func()) {
	if reason := recover(); reason != nil {
		addReason(status, fmt.Sprint("panic: ", reason))
		fail()
	}
}

func addReason(status *C.berth_status, text string) {
	C.AddReason(status, (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.uint64_t(len(text)))
}

func main() {} // A library in Go needs it; nothing calls it.
