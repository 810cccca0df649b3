// A stream buffer that writes to a file descriptor.
#ifndef BERTH_HOST_BASE_DESCRIPTOR_BUFFER_H_
#define BERTH_HOST_BASE_DESCRIPTOR_BUFFER_H_

#include <array>
#include <cstddef>
#include <ios>
#include <streambuf>

namespace berth::host {

// Writes when 16 KiB are buffered, when the stream is flushed, and when the object is destroyed. If
// a write fails, the stream becomes bad and the buffered text is lost.
// Threading: one thread at a time.
// Lifetime:  the descriptor must outlive the object, which does not close it.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor);
  ~DescriptorBuffer() override;
  DescriptorBuffer(const DescriptorBuffer&) = delete;
  DescriptorBuffer& operator=(const DescriptorBuffer&) = delete;

 protected:
  int_type overflow(int_type next) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  static constexpr size_t kBytes = size_t{16} << 10;

  // Writes the buffered text and empties the buffer. Returns false if not all could be written.
  bool WriteBuffer();
  bool Write(const char* text, size_t size) const;

  const int descriptor_;
  std::array<char, kBytes> buffer_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_DESCRIPTOR_BUFFER_H_
