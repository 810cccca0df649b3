// The functions that one plugin instance has posted: berth_timer.post.
#ifndef BERTH_HOST_RUNTIME_SERVICES_POSTS_H_
#define BERTH_HOST_RUNTIME_SERVICES_POSTS_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include <berth/abi.h>

namespace berth::host {

class InstanceHost;

// Lifetime: owned by its InstanceHost; others hold it only while a task runs.
class Posts : public std::enable_shared_from_this<Posts> {
 public:
  using Run = void (*)(void* to, berth_code code) BERTH_NOEXCEPT;

  explicit Posts(InstanceHost& host) : host_(host) {}
  Posts(const Posts&) = delete;
  Posts& operator=(const Posts&) = delete;

  // Lets the scheduling thread call `run` later, in the order of the calls. Returns the code of the
  // service: SUCCESS; BAD_ARGUMENT without `run`; CANCELLED after Close(); CONFLICT if
  // kMaxWaitingWork functions wait. REQUIRES: the services have an inbox. Threading: any.
  berth_code Add(Run run, void* to);

  // --- the scheduling thread ---

  // Calls all that remain with CANCELLED, and refuses later ones.
  void Close();
  // Drops all that remain, and refuses later ones.
  void DropAll();

 private:
  struct Post {
    Run run;
    void* to;
  };

  void RunNext();
  void Call(const Post& post, berth_code code);

  InstanceHost& host_;
  std::mutex mutex_;  // Guards what follows.
  std::deque<Post> waiting_;
  bool closed_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_RUNTIME_SERVICES_POSTS_H_
