#include "host/cluster/kubernetes/watch/page_progress.h"

#include <utility>

namespace berth::host {

Status PageProgress::EndPage(std::string_view token) {
  ++pages_;
  const std::string first = std::exchange(first_, {});
  const bool is_idle = first.empty() || !firsts_.insert(first).second;
  idle_ = is_idle ? idle_ + 1 : 0;
  const bool is_same = token == std::exchange(token_, std::string(token));
  if (token.empty()) return {};
  if (is_idle && is_same) {
    return Status::InvalidArgument(
        "the list continues with the same token and has no new objects; the server or a proxy "
        "before it ignores the token");
  }
  if (idle_ >= kMaxIdlePages) {
    return Status::InvalidArgument("the list has no end: the last " + std::to_string(idle_) +
                                   " pages have continue tokens, and no new objects");
  }
  if (pages_ >= kMaxPages) {
    return Status::InvalidArgument("the list has no end: expected at most " +
                                   std::to_string(kMaxPages) + " pages, found more");
  }
  return {};
}

}  // namespace berth::host
