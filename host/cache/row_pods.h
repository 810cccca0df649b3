// The pods on one row of the node table.
#ifndef BERTH_HOST_CACHE_ROW_PODS_H_
#define BERTH_HOST_CACHE_ROW_PODS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include <berth/abi.h>

#include "host/api/objects.h"
#include "host/base/assert.h"

namespace berth::host {

// References to the pods, and their views as blocks need them. Both are in one block of memory,
// because a cluster has many rows.
// Lifetime: spans are valid until the next change.
class RowPods {
 public:
  RowPods() = default;
  ~RowPods() {
    std::destroy_n(refs_, count_);
    ::operator delete(refs_);
  }
  RowPods(const RowPods&) = delete;
  RowPods& operator=(const RowPods&) = delete;
  RowPods(RowPods&& other) noexcept
      : refs_(std::exchange(other.refs_, nullptr)),
        count_(std::exchange(other.count_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  RowPods& operator=(RowPods&& other) noexcept {
    RowPods moved(std::move(other));
    std::swap(refs_, moved.refs_);
    std::swap(count_, moved.count_);
    std::swap(capacity_, moved.capacity_);
    return *this;
  }

  bool empty() const { return count_ == 0; }
  std::span<const PodRef> refs() const { return {refs_, count_}; }
  std::span<const berth_pod* const> views() const { return {Views(), count_}; }

  // REQUIRES: the pod is not null.
  void Add(PodRef pod) {
    if (count_ == capacity_) Grow();
    Views()[count_] = &pod->view();
    std::construct_at(refs_ + count_, std::move(pod));
    ++count_;
  }

  // Removes the pod with this view, and returns it. The last pod takes its place.
  // REQUIRES: the pod is on the row.
  PodRef Remove(const berth_pod* view) {
    const auto index = static_cast<uint32_t>(std::ranges::find(views(), view) - views().begin());
    BERTH_ASSERT_MSG(index < count_, "pod is not on the row");
    PodRef removed = std::move(refs_[index]);
    --count_;
    refs_[index] = std::move(refs_[count_]);
    Views()[index] = Views()[count_];
    std::destroy_at(refs_ + count_);
    return removed;
  }

 private:
  // The views follow the references.
  const berth_pod** Views() const { return reinterpret_cast<const berth_pod**>(refs_ + capacity_); }

  // Makes room for half as many pods again, at least for one more.
  void Grow() {
    static_assert(alignof(PodRef) >= alignof(const berth_pod*));
    RowPods grown;
    grown.capacity_ = capacity_ + std::max<uint32_t>(1, capacity_ / 2);
    grown.refs_ = static_cast<PodRef*>(
        ::operator new(grown.capacity_*(sizeof(PodRef) + sizeof(const berth_pod*))));
    std::uninitialized_move_n(refs_, count_, grown.refs_);
    std::copy_n(Views(), count_, grown.Views());
    grown.count_ = count_;
    *this = std::move(grown);
  }

  PodRef* refs_ = nullptr;  // Room for capacity_ references and as many views.
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_ROW_PODS_H_
