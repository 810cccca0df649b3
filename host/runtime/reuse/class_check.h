// Compares the results of a cycle that reuses answers with those of one that does not.
#ifndef BERTH_HOST_RUNTIME_REUSE_CLASS_CHECK_H_
#define BERTH_HOST_RUNTIME_REUSE_CLASS_CHECK_H_

#include <optional>
#include <string>

#include "host/queue/nominator.h"
#include "host/runtime/attempt/attempt.h"

namespace berth::host {

// Evaluates every candidate again, and returns the first node whose verdict differs, in words, or
// nullopt if there is none. Compares the reasons if no row is feasible. Restores the results of
// Filter in the attempt; what plugins do in a call, such as random numbers, happens twice.
// Called:    after ClassCache::Filter() succeeded.
// Threading: [cycle]; calls plugins under [block].
std::optional<std::string> CheckReusedVerdicts(Attempt& attempt, const Nominator& nominator);

// Scores every feasible node again, and returns the first node whose total differs, or that is
// among the best nodes in one of the results only; nullopt if there is none. Replaces
// Attempt::scores.
// Called:    after ClassCache::Score() succeeded.
// Threading: [cycle]; calls plugins under [block].
std::optional<std::string> CheckReusedScores(Attempt& attempt);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_REUSE_CLASS_CHECK_H_
