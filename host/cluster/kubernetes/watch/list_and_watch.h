// The requests for the objects of one kind: lists, watches and refreshes, and why they ended.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIST_AND_WATCH_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIST_AND_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/list_splitter.h"
#include "host/api/objects.h"
#include "host/base/executor.h"
#include "host/base/status.h"
#include "host/cluster/client.h"
#include "host/cluster/kubernetes/access/discovery.h"
#include "host/cluster/kubernetes/answers/api_error.h"
#include "host/cluster/kubernetes/watch/object_index.h"
#include "host/cluster/kubernetes/watch/object_reader.h"
#include "host/cluster/kubernetes/watch/page_progress.h"
#include "host/http/pacing.h"
#include "host/http/transport.h"

namespace berth::host {

// ---- Ends ---------------------------------------------------------------------------------------

// Why a stream ended.
enum class EndReason : uint8_t {
  kEnded,       // In order, or the connection was lost after the answer had begun.
  kExpired,     // 410.
  kTooLarge,    // 504: the server has not reached the resourceVersion.
  kRefused,     // 400 or 422.
  kDenied,      // 401 or 403, or the connection cannot be verified.
  kNotFound,    // 404.
  kBusy,        // No connection, or 429.
  kError,       // Any other answer or ERROR event.
  kUnreadable,  // A line that is no event.
  kLagged,      // An older state than before.
};

struct StreamEnd {
  EndReason why = EndReason::kEnded;
  Status status = {};
  int64_t retry_after_ns = 0;
};

StreamEnd EndOf(const HttpResponse& response);
// Returns the end that an ERROR event of a watch causes.
StreamEnd EndOf(const ServerStatus& server);

// Returns the error of a request that RBAC denied, with the rule that is missing:
//   cannot list nodes (needed by the host): the user "system:serviceaccount:kube-system:berth" may
//   not. Add this rule to one of its roles: {apiGroups: [""], resources: [nodes], verbs: [get,
//   list, watch]}
// `needed_by`: the host or the plugins that need the kind.
std::string MissingRuleText(const Resource& resource, std::string_view verb,
                            std::string_view needed_by, std::string_view server_message);

// ---- Lists --------------------------------------------------------------------------------------

// The field selector of pods: the scheduler needs no pod in a final phase.
// kube-scheduler: pkg/scheduler/scheduler.go, NewInformerFactory
inline constexpr std::string_view kActivePods = "status.phase!=Succeeded,status.phase!=Failed";

// Lists the objects of one kind, page by page, and decodes the items while they arrive. One
// consistent read. If the token for a later page has expired, the list starts again, once,
// without pages. A list whose pages have no end is an error; see PageProgress. (client-go:
// tools/pager/pager.go)
//
// Threading: the executor's thread of the transport.
// Lifetime:  transport, reader and owner must outlive it. Its destruction ends the list without a
//            call of the owner.
class PagedList final : private StreamSink {
 public:
  struct Options {
    std::string path = {};  // Resource::CollectionPath()
    std::string kind = {};
    std::string field_selector = {};
    size_t page = 500;  // 0: no pages.
    ListSplitter::Limits limits = {};
    int64_t head_timeout_ns = 0;
    int64_t silence_ns = 0;
  };

  struct Outcome {
    Status status;          // Ok: the list is complete.
    HttpResponse response;  // The answer with the error, if the server sent one.
    std::vector<AnyObject> objects;
    std::string resource_version;
  };

  // Threading: the executor's thread.
  class Owner {
   public:
    virtual ~Owner() = default;

    // Returns the object that the list keeps: this one, or an equal one that exists already.
    virtual AnyObject OnItem(AnyObject object) = 0;
    // An item could be read. `problems`: Ok, or the values that cannot be read and count as absent.
    // Called before OnItem().
    virtual void OnRead(const AnyObject& object, const Status& problems) = 0;
    // An item cannot be decoded. Returns the object that takes its place; nullopt leaves it out.
    virtual std::optional<AnyObject> OnUndecodable(const ObjectMark& mark,
                                                   const Status& status) = 0;
    // The list begins anew: what was read so far does not count.
    virtual void OnRestart() = 0;
    // Called once, last, and never within Start(). May destroy the list.
    virtual void OnListEnd(Outcome outcome) = 0;
  };

  PagedList(Transport& transport, ObjectReader& reader, Owner& owner, Options options);
  ~PagedList() override;

  // Requests the next page; called once by the owner.
  void Start();

 private:
  void OnHead(const HttpHead& /*head*/) override {}
  void OnBytes(std::string_view bytes) override;
  void OnEnd(HttpResponse response) override;

  Status TakeItem(std::string_view item);
  void End(Status status, HttpResponse response = {});

  Transport& transport_;
  ObjectReader& reader_;
  Owner& owner_;
  Options options_;
  PageProgress progress_;
  std::string continue_token_;
  std::string resource_version_;  // That of the first page, which all pages have.
  std::vector<AnyObject> objects_;
  std::optional<ListSplitter> splitter_;
  std::unique_ptr<HttpStream> stream_;
};

// ---- Watches ------------------------------------------------------------------------------------

// A watch that may begin with initial events. They are collected until their bookmark, and then
// passed on as one list; the same stream goes on as the watch.
//
// Threading: the executor's thread.
// Lifetime:  what it refers to must outlive it. Its destruction closes the connection without a
//            call of the owner.
class WatchStream final : private StreamSink {
 public:
  // How long initial events are collected, from the head of the answer on, before the stream ends
  // with kEnded. A server that never ends them, but sends changes or bookmarks, is never silent:
  // without this limit the kind would not be synced before the end of the watch. It is twice the
  // time that an API server has for a list, which brings the same objects (its --request-timeout of
  // 60 s); the pages that follow have no such limit.
  static constexpr int64_t kMaxCollectNs = 120'000'000'000;

  struct Options {
    std::string kind;
    size_t max_line_bytes = ObjectReader::kMaxLineBytes;
    bool collects = false;  // The watch begins with initial events.
    // The silence that ends the stream: while initial events are collected, and afterwards until
    // the first bookmark.
    int64_t collect_silence_ns = 0;
    int64_t watch_silence_ns = 0;
  };

  // Threading: the executor's thread.
  // Must not:  destroy the stream, except in OnStreamEnd().
  class Owner {
   public:
    virtual ~Owner() = default;

    // The server has accepted the watch. Not called for initial events.
    virtual void OnWatchHead() = 0;
    // A line has arrived that is no error.
    virtual void OnWatchLine() = 0;
    // Everything up to this resourceVersion has arrived. Its events follow before OnWatchPart().
    virtual void OnVersion(std::string_view version) = 0;
    // The events of a part of the stream that arrived together.
    virtual void OnWatchEvents(std::vector<WatchEvent> events) = 0;
    // A part has been read completely, and the stream goes on.
    virtual void OnWatchPart() = 0;
    // An object, which an event added or changed, could be read. `problems`: Ok, or the values that
    // cannot be read and count as absent.
    virtual void OnRead(const AnyObject& object, const Status& problems) = 0;
    // An object was deleted. Follows OnUndecodable() if its last state cannot be decoded.
    virtual void OnDeleted(std::string_view ns, std::string_view name) = 0;
    // An object cannot be decoded. Returns its last good state; nullopt if there is none.
    virtual std::optional<AnyObject> OnUndecodable(const ObjectMark& mark,
                                                   const Status& status) = 0;
    // An event has an older state than one before, and was left out. The stream goes on. Such a
    // state among the initial events ends it with kLagged instead.
    virtual void OnOlderState(const Status& status) = 0;
    // The initial events are complete. An error ends the stream with kLagged.
    virtual Status OnInitialEvents(std::vector<AnyObject> objects, const std::string& version) = 0;
    // Called once, last. `was_collecting`: the initial events were not complete. `is_short`: the
    // server ended the watch at once and without a line.
    virtual void OnStreamEnd(StreamEnd end, bool was_collecting, bool is_short) = 0;
  };

  // `index` has the objects that were delivered before. The stream applies each event to it.
  WatchStream(Executor& executor, ObjectReader& reader, ObjectIndex& index, Owner& owner,
              Options options);
  ~WatchStream() override;

  void Open(Transport& transport, HttpRequest request);
  // See HttpStream::SetPaused(). Initial events are collected also during a pause: their number is
  // limited by that of the objects.
  void SetPaused(bool is_paused);
  // Returns whether the watch should move to a new connection; see HttpStream::IsOutdated().
  // Collecting initial events is not interrupted: the connection is new enough then.
  bool IsOutdated() const { return !is_collecting_ && stream_->IsOutdated(); }

 private:
  void OnHead(const HttpHead& head) override;
  void OnBytes(std::string_view bytes) override;
  void OnEnd(HttpResponse response) override;

  // These methods return why the stream ends, or nullopt if it goes on.
  std::optional<StreamEnd> TakeLine(std::string_view text);
  std::optional<StreamEnd> TakeBookmark(const WatchLine& line);
  std::optional<StreamEnd> TakeObject(WatchLine line);
  void TakeUndecodable(const WatchLine& line);
  void Add(std::optional<WatchEvent> event);
  void End(StreamEnd end);

  Executor& executor_;
  ObjectReader& reader_;
  ObjectIndex& index_;
  Owner& owner_;
  const Options options_;
  LineSplitter splitter_;
  bool is_collecting_;
  bool is_paused_ = false;
  ObjectIndex initial_;             // What the initial events have brought so far.
  std::vector<WatchEvent> events_;  // Events of the part that is being read.
  OwnedTimer collect_timer_;        // The end of kMaxCollectNs.
  int64_t started_ns_ = 0;
  bool has_head_ = false;
  bool has_line_ = false;
  std::unique_ptr<HttpStream> stream_;
};

// ---- Refreshes ----------------------------------------------------------------------------------

// The callers that wait until a watch has delivered everything that the server had at some time.
// Asks the server for its current resourceVersion with a list of one object, which is a consistent
// read, and waits until the watch has reached it. The owner lists again if that takes too long.
//
// Threading: the executor's thread.
// Lifetime:  transport, executor and owner must outlive it.
class RefreshWaiters {
 public:
  struct Options {
    RetryDelay::Options delay;
    uint64_t seed = 0;
    ListSplitter::Limits list_limits;
    int64_t timeout_ns = 0;
  };

  // Threading: the executor's thread.
  class Owner {
   public:
    virtual ~Owner() = default;

    // A version is known. Calls OnReached() with the current version.
    virtual void OnVersionKnown() = 0;
    // The watch has not reached a version in time. Called again until it has.
    virtual void OnImpatient() = 0;
  };

  RefreshWaiters(Transport& transport, Executor& executor, Owner& owner, Options options);
  ~RefreshWaiters();
  RefreshWaiters(const RefreshWaiters&) = delete;
  RefreshWaiters& operator=(const RefreshWaiters&) = delete;

  // Sets the path of the collection, and asks for the waiters that were not asked for. An empty
  // path stops the questions.
  void SetPath(std::string path);
  void Add(int64_t patience_ns, std::function<void()> done);
  // Calls `done` of those whose version was reached.
  void OnReached(std::string_view version);
  // Calls `done` of all: the server does not serve the kind.
  void ReleaseAll();
  // Returns the newer one of `version` and the versions that are waited for.
  std::string NewestOf(std::string_view version) const;
  bool is_empty() const { return waiters_.empty(); }

 private:
  struct Waiter;

  void Ask(const Waiter& waiter);
  void OnAnswer(uint64_t id, const HttpResponse& response);
  void OnTimer(uint64_t id);
  // Returns the resourceVersion of a list; empty if the answer is none.
  std::string VersionOf(const HttpResponse& response) const;
  Waiter* Find(uint64_t id);

  Transport& transport_;
  Executor& executor_;
  Owner& owner_;
  const Options options_;
  RetryDelay delay_;
  std::string path_;
  std::vector<std::unique_ptr<Waiter>> waiters_;
  uint64_t last_ = 0;
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // For callbacks of requests.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_LIST_AND_WATCH_H_
