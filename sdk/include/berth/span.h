// The boundary's arrays as ranges, and its strings as string views.
#ifndef BERTH_SPAN_H_
#define BERTH_SPAN_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

#include <berth/abi.h>

namespace berth {

inline std::string_view Str(berth_str text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}
constexpr berth_str Str(std::string_view text) { return {text.data(), text.size()}; }

// A view of a berth_array. Elements are `stride` bytes apart, because a newer host may have larger
// elements. Use Span<const berth_taint> like std::span.
//
// Lifetime:  that of the object or block that it was taken from.
template <class T>
class Span {
  static_assert(std::is_const_v<T>, "the data of the host is read-only: write Span<const T>");

 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = std::remove_const_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    Iterator() = default;
    Iterator(const char* at, uint32_t stride) : at_(at), stride_(stride) {}
    T& operator*() const { return *reinterpret_cast<T*>(at_); }
    T* operator->() const { return reinterpret_cast<T*>(at_); }
    Iterator& operator++() {
      at_ += stride_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++*this;
      return old;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    const char* at_ = nullptr;
    uint32_t stride_ = 0;
  };

  Span() = default;
  explicit Span(const berth_array& array)
      : data_(static_cast<const char*>(array.data)), count_(array.count), stride_(array.stride) {}
  // A view of the plugin's own data, such as a std::vector<berth_toleration> in its State.
  explicit Span(std::span<T> items)
      : Span(items.data(), static_cast<uint32_t>(items.size()), uint32_t{sizeof(T)}) {}
  Span(const void* data, uint32_t count, uint32_t stride)
      : data_(static_cast<const char*>(data)), count_(count), stride_(stride) {}

  berth_array abi() const { return {data_, count_, stride_}; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  // REQUIRES: i < size().
  T& operator[](std::size_t i) const {
    return *reinterpret_cast<T*>(data_ + static_cast<uint64_t>(i) * stride_);
  }
  T& front() const { return (*this)[0]; }
  T& back() const { return (*this)[count_ - 1]; }
  Iterator begin() const { return Iterator(data_, stride_); }
  Iterator end() const {
    return Iterator(count_ == 0 ? data_ : data_ + static_cast<uint64_t>(count_) * stride_, stride_);
  }

 private:
  const char* data_ = nullptr;
  uint32_t count_ = 0;
  uint32_t stride_ = 0;
};

}  // namespace berth

#endif  // BERTH_SPAN_H_
