// A text that must not reach a log, a message or an endpoint: a token, a key, a password.
#ifndef BERTH_HOST_BASE_SECRET_H_
#define BERTH_HOST_BASE_SECRET_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace berth::host {

// Owns the text and overwrites it when it is destroyed or replaced. It has no conversion to text
// and no output operator: code that needs the text calls Reveal(), which a reviewer can search for.
// Threading: a value type.
class Secret {
 public:
  Secret() = default;
  // Copies the text, and overwrites `text`. Copies that the caller has made are not affected.
  explicit Secret(std::string text);
  Secret(const Secret& other);
  Secret(Secret&& other) noexcept
      : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
  Secret& operator=(Secret other) noexcept {
    bytes_.swap(other.bytes_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Secret();

  // Lifetime: until this object is assigned to, moved from or destroyed.
  std::string_view Reveal() const { return {bytes_.get(), size_}; }
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  friend bool operator==(const Secret& a, const Secret& b) { return a.Reveal() == b.Reveal(); }

 private:
  // A std::string would leave the characters of a short text behind when it is moved.
  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_SECRET_H_
