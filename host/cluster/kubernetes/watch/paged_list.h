// Lists the objects of one kind, page by page, and decodes the items while they arrive.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_PAGED_LIST_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_PAGED_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/api/list_splitter.h"
#include "host/api/objects.h"
#include "host/base/status.h"
#include "host/cluster/kubernetes/http/transport.h"
#include "host/cluster/kubernetes/watch/object_reader.h"

namespace berth::host {

// The field selector of pods: the scheduler needs no pod in a final phase.
// kube-scheduler: pkg/scheduler/scheduler.go, NewInformerFactory
inline constexpr std::string_view kActivePods = "status.phase!=Succeeded,status.phase!=Failed";

// One consistent read. If the token for a later page has expired, the list starts again, once,
// without pages. (client-go: tools/pager/pager.go)
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
    // An item cannot be decoded. Returns the object that takes its place; nullopt leaves it out.
    virtual std::optional<AnyObject> OnUndecodable(const ObjectMark& mark,
                                                   const Status& status) = 0;
    // Called once, last, and never within Start(). May destroy the list.
    virtual void OnListEnd(Outcome outcome) = 0;
  };

  PagedList(Transport& transport, ObjectReader& reader, Owner& owner, Options options);
  ~PagedList() override;
  PagedList(const PagedList&) = delete;
  PagedList& operator=(const PagedList&) = delete;

  void Start();

 private:
  void OnHead(const HttpHead& head) override;
  void OnBytes(std::string_view bytes) override;
  void OnEnd(HttpResponse response) override;

  void OpenPage();
  Status TakeItem(std::string_view item);
  void End(Status status, HttpResponse response = {});

  Transport& transport_;
  ObjectReader& reader_;
  Owner& owner_;
  Options options_;
  std::string continue_token_;
  std::string resource_version_;  // That of the first page, which all pages have.
  std::vector<AnyObject> objects_;
  std::optional<ListSplitter> splitter_;
  std::unique_ptr<HttpStream> stream_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_PAGED_LIST_H_
