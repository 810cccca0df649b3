// Compares the results of a cycle that reuses answers with those of one that does not.
#ifndef BERTH_HOST_RUNTIME_CLASS_CHECK_H_
#define BERTH_HOST_RUNTIME_CLASS_CHECK_H_

#include <optional>
#include <string>

#include "host/queue/nominator.h"
#include "host/runtime/attempt.h"

namespace berth::host {

// After ClassCache::Filter() succeeded, evaluates every candidate again. Returns the first node
// whose verdict differs, in words, or nullopt if there is none. The attempt is as before. Verdicts
// are compared if no row is feasible.
// Threading: [cycle]; calls plugins under [block].
std::optional<std::string> CheckReusedVerdicts(Attempt& attempt, const Nominator& nominator);

// Does the same for the totals, after ClassCache::Score() succeeded.
std::optional<std::string> CheckReusedScores(Attempt& attempt);

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_CLASS_CHECK_H_
