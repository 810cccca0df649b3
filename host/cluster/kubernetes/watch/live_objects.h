// Reads all objects of some kinds from an API server once, for commands that look at a cluster and
// change nothing.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIVE_OBJECTS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIVE_OBJECTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/executor.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/watch/list_and_watch.h"
#include "host/http/transport.h"

namespace berth::host {

struct LiveObjects {
  // The objects of each kind, in the order of namespace and name. Kinds that the server does not
  // serve have none.
  std::vector<AnyObject> objects;
  // Objects that could not be decoded, objects with values that could not be read, kinds that may
  // not be listed, with the missing rule, and kinds that are not served: one line for each.
  std::vector<std::string> warnings;
};

struct LiveRequest {
  // The kinds, as plugins declare them; of several versions, the first one that is served is read.
  // Pods and nodes are always read.
  std::vector<std::string> kinds;
  // Called on the executor's thread with the number of objects of the kind so far, from time to
  // time and at the end of each kind. May be empty.
  std::function<void(std::string_view kind, size_t count)> progress = {};
  // Returns who needs a kind, for warnings and errors. May be empty.
  std::function<std::string(std::string_view kind)> needed_by = {};
  // The bounds of each list; `path`, `kind` and `field_selector` are set for each kind.
  PagedList::Options list = {};
};

// Lists the kinds one after the other, with pages, and decodes items while they arrive.
//
// Threading: the executor's thread, except Create() and the destructor, which any thread may call
//            before Start(), and after `done` was called.
// Lifetime:  transport, executor and interner must outlive it.
class LiveReader {
 public:
  using Done = std::function<void(Result<LiveObjects> objects)>;

  static std::unique_ptr<LiveReader> Create(Interner& interner, const DecodeOptions& decode,
                                            Transport& transport, Executor& executor,
                                            LiveRequest request);
  virtual ~LiveReader() = default;

  // Called once. `done` is called once, never within the call, when no request is under way.
  // Errors: the first error of pods or nodes, or of discovery; an error of another kind is a
  //         warning only if it is 403, because a plugin may then decide differently.
  virtual void Start(Done done) = 0;
};

// Reads everything with a LiveReader.
// Threading: blocks the calling thread, which must not be that of the executor.
// Lifetime:  the executor must run its tasks until the function returns. Transport::Close() ends it
//            with an error.
Result<LiveObjects> ReadLiveObjects(Interner& interner, const DecodeOptions& decode,
                                    Transport& transport, Executor& executor, LiveRequest request);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIVE_OBJECTS_H_
