#include "host/base/descriptor_buffer.h"

#include <unistd.h>

#include <cerrno>

namespace berth::host {

DescriptorBuffer::DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

DescriptorBuffer::~DescriptorBuffer() { WriteBuffer(); }

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type next) {
  if (!WriteBuffer()) return traits_type::eof();
  if (traits_type::eq_int_type(next, traits_type::eof())) return traits_type::not_eof(next);
  return sputc(traits_type::to_char_type(next));
}

// Text that does not fit into the buffer is written without being copied.
std::streamsize DescriptorBuffer::xsputn(const char* text, std::streamsize size) {
  if (size <= epptr() - pptr()) return std::streambuf::xsputn(text, size);
  if (!WriteBuffer()) return 0;
  if (size <= epptr() - pptr()) return std::streambuf::xsputn(text, size);
  return Write(text, static_cast<size_t>(size)) ? size : 0;
}

int DescriptorBuffer::sync() { return WriteBuffer() ? 0 : -1; }

bool DescriptorBuffer::WriteBuffer() {
  const bool is_written = Write(pbase(), static_cast<size_t>(pptr() - pbase()));
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return is_written;
}

bool DescriptorBuffer::Write(const char* text, size_t size) const {
  while (size > 0) {
    const ssize_t written = ::write(descriptor_, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

}  // namespace berth::host
