// Owns a file descriptor and closes it when the object goes out of scope.
#ifndef BERTH_HOST_BASE_FILE_DESCRIPTOR_H_
#define BERTH_HOST_BASE_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace berth::host {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}  // -1 stands for no descriptor.
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  bool ok() const { return number_ >= 0; }
  int get() const { return number_; }
  // Returns the descriptor and passes its ownership to the caller.
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_FILE_DESCRIPTOR_H_
