// A stream buffer that writes to a file descriptor.
#ifndef BERTH_HOST_BASE_DESCRIPTOR_BUFFER_H_
#define BERTH_HOST_BASE_DESCRIPTOR_BUFFER_H_

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <streambuf>
#include <string_view>

namespace berth::host {

// Writes when 16 KiB are buffered, when the stream is flushed, and when the object is destroyed. If
// a write fails, the stream becomes bad and the buffered text is lost.
// Threading: one thread at a time.
// Lifetime:  the descriptor must outlive the object, which does not close it.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) { Empty(); }
  ~DescriptorBuffer() override { WriteBuffer(); }
  DescriptorBuffer(const DescriptorBuffer&) = delete;
  DescriptorBuffer& operator=(const DescriptorBuffer&) = delete;

 protected:
  int_type overflow(int_type next) override {
    if (!WriteBuffer()) return traits_type::eof();
    if (traits_type::eq_int_type(next, traits_type::eof())) return traits_type::not_eof(next);
    return sputc(traits_type::to_char_type(next));
  }
  int sync() override { return WriteBuffer() ? 0 : -1; }

 private:
  static constexpr size_t kBytes = size_t{16} << 10;

  void Empty() { setp(buffer_.data(), buffer_.data() + buffer_.size()); }

  // Writes the buffered text and empties the buffer. Returns false if not all could be written.
  bool WriteBuffer() {
    std::string_view text(pbase(), static_cast<size_t>(pptr() - pbase()));
    Empty();
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      text.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }

  const int descriptor_;
  std::array<char, kBytes> buffer_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_DESCRIPTOR_BUFFER_H_
