#include "host/cli/standard_output.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "host/base/assert.h"

namespace berth::host {
namespace {

// The descriptor of the output, or -1. A handler of fork() takes no arguments.
std::atomic<int> owned_descriptor = -1;

// Calls only functions that are async-signal-safe.
void LeaveOutputToParent() {
  const int descriptor = owned_descriptor.load();
  if (descriptor >= 0) ::dup3(STDOUT_FILENO, descriptor, O_CLOEXEC);
}

void RedirectToStandardError() {
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return;
  FileDescriptor nowhere(::open("/dev/null", O_WRONLY));
  if (nowhere.get() == STDOUT_FILENO) {
    nowhere.Release();
  } else if (nowhere.ok()) {
    ::dup2(nowhere.get(), STDOUT_FILENO);
  }
}

// Returns a number that is not one of the three standard descriptors.
FileDescriptor Duplicate(int descriptor) {
  return FileDescriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace

StandardOutput::StandardOutput()
    : file_(Duplicate(STDOUT_FILENO)), buffer_(file_.get()), stream_(&buffer_) {
  static const bool is_registered = ::pthread_atfork(nullptr, nullptr, LeaveOutputToParent) == 0;
  BERTH_ASSERT(is_registered);
  RedirectToStandardError();
  owned_descriptor.store(file_.get());
}

StandardOutput::~StandardOutput() { owned_descriptor.store(-1); }

}  // namespace berth::host
