// Owns something that the host keeps for the plugin until it is released.
#ifndef BERTH_INTERNAL_HANDLE_H_
#define BERTH_INTERNAL_HANDLE_H_

#include <utility>

#include <berth/abi.h>

namespace berth::internal {

// Movable only. It refers to the host alone, so that it may outlive the instance: the host has then
// released what the instance held, and releasing it again has no effect.
template <class T>
class Handle {
 public:
  using Release = void (*)(const berth_host* host, T held) BERTH_NOEXCEPT;

  Handle() = default;
  Handle(const berth_host* host, Release release, T held)
      : host_(host), release_(release), held_(held) {}
  Handle(Handle&& other) noexcept
      : host_(other.host_),
        release_(std::exchange(other.release_, nullptr)),
        held_(std::exchange(other.held_, T())) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this == &other) return *this;
    Drop();
    host_ = other.host_;
    release_ = std::exchange(other.release_, nullptr);
    held_ = std::exchange(other.held_, T());
    return *this;
  }
  ~Handle() { Drop(); }

  // False if it is empty: default-constructed, or moved away.
  explicit operator bool() const { return release_ != nullptr; }
  // Returns T() if it is empty.
  const T& get() const { return held_; }
  // REQUIRES: it is not empty.
  const berth_host* host() const { return host_; }

 private:
  void Drop() {
    if (release_ != nullptr) release_(host_, held_);
    release_ = nullptr;
  }

  const berth_host* host_ = nullptr;
  Release release_ = nullptr;
  T held_ = T();
};

}  // namespace berth::internal

#endif  // BERTH_INTERNAL_HANDLE_H_
