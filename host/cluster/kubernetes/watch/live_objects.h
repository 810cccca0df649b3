// Reads all objects of some kinds from an API server once, for commands that look at a cluster and
// change nothing.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIVE_OBJECTS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIVE_OBJECTS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/decode.h"
#include "host/api/objects.h"
#include "host/base/executor.h"
#include "host/base/interner.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "host/cluster/kubernetes/watch/paged_list.h"

namespace berth::host {

struct LiveObjects {
  // The objects of each kind, in the order of namespace and name. Kinds that the server does not
  // serve have none.
  std::vector<AnyObject> objects;
  // Objects that could not be decoded, kinds that may not be listed, with the missing rule, and
  // kinds that are not served: one line for each.
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
// Threading: the executor's thread, except the constructor and the destructor, which any thread may
//            call before Start(), and after `done` was called.
// Lifetime:  transport, executor and interner must outlive it.
class LiveReader final : private PagedList::Owner {
 public:
  using Done = std::function<void(Result<LiveObjects> objects)>;

  LiveReader(Interner& interner, const DecodeOptions& decode, Transport& transport,
             Executor& executor, LiveRequest request);
  ~LiveReader() override;
  LiveReader(const LiveReader&) = delete;
  LiveReader& operator=(const LiveReader&) = delete;

  // Called once. `done` is called once, never within the call, when no request is under way.
  // Errors: the first error of pods or nodes, or of discovery; an error of another kind is a
  //         warning only if it is 403, because a plugin may then decide differently.
  void Start(Done done);

 private:
  AnyObject OnItem(AnyObject object) override;
  std::optional<AnyObject> OnUndecodable(const ObjectMark& mark, const Status& status) override;
  void OnListEnd(PagedList::Outcome outcome) override;

  // Goes on with the next question or list.
  void Step();
  // Asks about the versions of a declared kind until one is served. Returns false if a question is
  // under way; otherwise sets resource_, or leaves it empty.
  bool FindResource(const std::string& declared);
  void OnAnswer(const std::string& group_version, const HttpResponse& response);
  void BeginList();
  void Finish(Status status);
  std::string NeededBy(std::string_view kind) const;

  Transport& transport_;
  Executor& executor_;
  const LiveRequest request_;
  ObjectReader reader_;
  std::vector<std::string> declared_;  // Pods and nodes first; each once.
  size_t next_ = 0;                    // The next element of declared_.
  std::map<std::string, std::vector<Resource>, std::less<>> served_;  // By group and version.
  std::optional<Resource> resource_;  // The resource of the kind that is being listed.
  size_t count_ = 0;                  // The objects of this kind so far.
  std::unique_ptr<PagedList> pages_;
  LiveObjects result_;
  Done done_;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // For callbacks of requests.
};

// Reads everything with a LiveReader.
// Threading: blocks the calling thread, which must not be that of the executor.
// Lifetime:  the executor must run its tasks until the function returns. Transport::Close() ends it
//            with an error.
Result<LiveObjects> ReadLiveObjects(Interner& interner, const DecodeOptions& decode,
                                    Transport& transport, Executor& executor, LiveRequest request);

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIVE_OBJECTS_H_
