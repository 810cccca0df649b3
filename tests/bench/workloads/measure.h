// Runs a workload.
#ifndef BERTH_TESTS_BENCH_WORKLOADS_MEASURE_H_
#define BERTH_TESTS_BENCH_WORKLOADS_MEASURE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "host/base/status.h"
#include "host/process/profile_set.h"
#include "tests/bench/workloads/measurement.h"
#include "tests/bench/workloads/workload.h"

namespace berth::bench {

// On an embedded cluster, with the profiles and the plugins of `set`; in this thread. Time stands
// still for the scheduler but for what pods wait for.
// Errors: those of EmbeddedScheduler; Internal when pods that are there before find no node, or
//         when the queue does not come to rest.
host::Result<Measurement> Measure(const Workload& workload, const host::ProfileSet& set);

// The same in a process of its own, whose peak of memory it is; this one should be small, for the
// other begins as its copy.
// Errors: Internal, with what `measure` says, or how its process ended that said nothing;
//         Unavailable: there is no process to be had.
// REQUIRES: this process has one thread.
host::Result<Measurement> MeasureApart(const std::function<host::Result<Measurement>()>& measure,
                                       const std::function<int64_t()>& steady_ns);

}  // namespace berth::bench

#endif  // BERTH_TESTS_BENCH_WORKLOADS_MEASURE_H_
