#include "host/runtime/services/posts.h"

#include <utility>

#include "host/runtime/instance_host.h"
#include "host/runtime/invoke.h"
#include "host/runtime/work_limits.h"

namespace berth::host {

berth_code Posts::Add(Run run, void* to) {
  if (run == nullptr) return BERTH_BAD_ARGUMENT;
  {
    const std::scoped_lock lock(mutex_);
    if (closed_) return BERTH_CANCELLED;
    if (waiting_.size() >= kMaxWaitingWork) return BERTH_CONFLICT;
    waiting_.push_back({run, to});
  }
  // Each task calls the oldest function, so that the order of the tasks does not matter.
  host_.services().inbox->Push([weak = weak_from_this()] {
    if (const auto posts = weak.lock()) posts->RunNext();
  });
  return BERTH_SUCCESS;
}

void Posts::RunNext() {
  Post next{};
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return;
    next = waiting_.front();
    waiting_.pop_front();
  }
  Call(next, BERTH_SUCCESS);
}

void Posts::Call(const Post& post, berth_code code) {
  Invoke(host_, kCallback, [&] { post.run(post.to, code); });
}

void Posts::Close() {
  std::deque<Post> rest;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    rest.swap(waiting_);
  }
  for (const Post& post : rest) Call(post, BERTH_CANCELLED);
}

void Posts::DropAll() {
  const std::scoped_lock lock(mutex_);
  closed_ = true;
  waiting_.clear();
}

}  // namespace berth::host
