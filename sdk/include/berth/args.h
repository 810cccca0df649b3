// Arguments of a plugin: none so far.
#ifndef BERTH_ARGS_H_
#define BERTH_ARGS_H_

namespace berth {
struct NoArgs {};
}  // namespace berth

#endif  // BERTH_ARGS_H_
