#include "host/runtime/bind_pool.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "host/api/assert.h"

namespace berth::host {

class BindPool::Threads {
 public:
  explicit Threads(size_t threads) : pool_(threads) {}

  void Post(std::function<void()> task) { boost::asio::post(pool_, std::move(task)); }
  void Stop() {
    pool_.stop();
    pool_.join();
  }

 private:
  boost::asio::thread_pool pool_;
};

BindPool::BindPool(size_t threads) {
  BERTH_ASSERT(threads > 0);
  threads_ = std::make_unique<Threads>(threads);
}

BindPool::~BindPool() { threads_->Stop(); }

void BindPool::Run(std::function<void()> task) { threads_->Post(std::move(task)); }

}  // namespace berth::host
