// Decides whether a list that has pages goes on.
#ifndef BERTH_HOST_CLUSTER_KUBERNETES_WATCH_PAGE_PROGRESS_H_
#define BERTH_HOST_CLUSTER_KUBERNETES_WATCH_PAGE_PROGRESS_H_

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "host/base/status.h"

namespace berth::host {

// Finds a list that has no end, so that its owner reports it and waits before the next try. A
// server or a proxy that returns a continue token with every page would otherwise be asked as fast
// as it answers, for ever, while the kind is never synced.
//
// A page brings nothing new if it has no object, or if its first object was the first one of an
// earlier page: the pages of one list have no object in common. Such a page is an error if its
// token is that of the page before, because the next answer would be the same, and otherwise after
// kMaxIdlePages in a row: a server that filters a page after it was cut may send empty ones.
//
// Threading: one thread at a time.
class PageProgress {
 public:
  static constexpr size_t kMaxIdlePages = 10;
  // The pages of one list. With 500 objects each they have 5 million, 33 times the 150,000 pods
  // that Kubernetes supports in one cluster. The limit ends a list of ever new objects.
  static constexpr size_t kMaxPages = 10'000;

  // Adds an object of the page. One without a name, which could not be read, is ignored.
  void AddItem(std::string_view ns, std::string_view name) {
    if (first_.empty() && !name.empty()) first_.append(ns).append("/").append(name);
  }
  // Ends the page. `token` is its continue token; empty for the last page.
  // Errors: kInvalidArgument: the next page must not be requested.
  Status EndPage(std::string_view token);

 private:
  std::string first_;                          // The first object of the page that is being read.
  std::set<std::string, std::less<>> firsts_;  // The first objects of the pages before.
  std::string token_;
  size_t pages_ = 0;
  size_t idle_ = 0;  // Pages in a row that brought nothing new.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLUSTER_KUBERNETES_WATCH_PAGE_PROGRESS_H_
