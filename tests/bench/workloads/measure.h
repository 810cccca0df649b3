// Runs a workload and measures it.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_MEASURE_H_
#define BERTH_TESTS_BENCH_WORKLOADS_MEASURE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "host/base/status.h"
#include "host/process/assemble/profile_set.h"
#include "tests/bench/workloads/measurement.h"
#include "tests/bench/workloads/workload.h"

namespace berth::bench {

// Runs `workload` on an embedded cluster with the profiles and plugins of `set`, in the calling
// thread. The scheduler's clock is virtual: it only advances to the next time that pods wait for.
// Errors: those of EmbeddedScheduler; Internal if an initial pod finds no node, or if the queue
//         does not come to rest.
host::Result<Measurement> Measure(const Workload& workload, const host::ProfileSet& set);

// Calls `measure` in a child process and adds the peak memory of that process to the result. The
// calling process should be small, because the child starts as its copy.
// Errors: Internal with the error of `measure`, or if the child ends without a result; Unavailable
//         if no process can be created.
// REQUIRES: the calling process has only one thread.
host::Result<Measurement> MeasureApart(const std::function<host::Result<Measurement>()>& measure,
                                       const std::function<int64_t()>& steady_ns);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_MEASURE_H_
