// The standard output of the process, apart from what plugins write.
#ifndef BERTH_HOST_CLI_STANDARD_OUTPUT_H_
#define BERTH_HOST_CLI_STANDARD_OUTPUT_H_

#include <ostream>

#include "host/base/descriptor_buffer.h"
#include "host/base/file_descriptor.h"

namespace berth::host {

// Takes over the file of descriptor 1, and replaces descriptor 1 by standard error. A plugin that
// prints to its standard output then writes to standard error, and cannot corrupt the output of the
// command. Descriptor 1 keeps this meaning until the process ends, because plugins may print until
// then. If standard error is closed, the output of plugins is lost.
//
// In a process that is forked, also by a plugin, descriptor() is standard error too: a process that
// a plugin leaves behind must not hold the output open, whose reader would wait for it.
//
// Called: by main(), once, before it starts a thread.
class StandardOutput {
 public:
  StandardOutput();
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // The descriptor of the file. -1 if standard output is closed: then writing to stream() fails.
  int descriptor() const { return file_.get(); }
  // Threading: one thread at a time.
  std::ostream& stream() { return stream_; }

 private:
  const FileDescriptor file_;
  DescriptorBuffer buffer_;
  std::ostream stream_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_STANDARD_OUTPUT_H_
