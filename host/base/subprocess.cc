#include "host/base/subprocess.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "host/base/assert.h"
#include "host/base/child_process.h"
#include "host/base/file_descriptor.h"
#include "host/base/time_units.h"

namespace berth::host {
namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// Returns a copy of the descriptor whose number is not that of a standard stream: the copies that
// the child makes for its own standard streams must not replace it.
FileDescriptor AboveStandardStreams(FileDescriptor descriptor) {
  if (descriptor.get() > STDERR_FILENO) return descriptor;
  return FileDescriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Status::Unavailable(std::string("pipe: ") + std::strerror(errno));
  }
  Pipe pipe = {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  pipe.write_end = AboveStandardStreams(std::move(pipe.write_end));
  if (!pipe.write_end.ok()) return Status::Unavailable("pipe: no descriptor is free");
  return pipe;
}

// The attributes and file actions of posix_spawn().
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawn_file_actions_init(&actions_);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  // Returns 0 or an errno.
  int Set(const std::string& directory, int output, int errors) {
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    constexpr short kFlags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    const std::array<int, 9> results = {
        ::posix_spawnattr_setflags(&attributes_, kFlags),
        ::posix_spawnattr_setpgroup(&attributes_, 0),
        ::posix_spawnattr_setsigdefault(&attributes_, &all),
        ::posix_spawnattr_setsigmask(&attributes_, &none),
        ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
        ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO),
        ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO),
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1),
        directory.empty() ? 0
                          : ::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str()),
    };
    const auto failed = std::find_if(results.begin(), results.end(), [](int r) { return r != 0; });
    return failed == results.end() ? 0 : *failed;
  }

  const posix_spawnattr_t* attributes() const { return &attributes_; }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool IsProgram(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// Returns the path of a program that is searched in PATH; empty if there is none. An empty part of
// PATH is the working directory in POSIX; it is skipped, as Go's os/exec does.
std::string SearchPath(const std::string& name, const std::vector<std::string>& environment) {
  constexpr std::string_view kPath = "PATH=";
  for (const std::string& variable : environment) {
    if (!variable.starts_with(kPath)) continue;
    const std::string_view list = std::string_view(variable).substr(kPath.size());
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find(':', begin), list.size());
      const std::string folder(list.substr(begin, end - begin));
      begin = end + 1;
      std::string path = folder;
      path.append("/").append(name);
      if (!folder.empty() && IsProgram(path)) return path;
    }
    return "";
  }
  return "";
}

Status SpawnError(const std::string& program, int error) {
  std::string message = program + ": " + std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: return Status::NotFound(std::move(message));
    case EACCES:
    case EPERM:
    case ENOEXEC: return Status::PermissionDenied(std::move(message));
    case E2BIG: return Status::OutOfRange(std::move(message));
    default: return Status::Unavailable(std::move(message));
  }
}

// Reads what a program prints until it ends. `begin_ns`: the time just before it was started.
Result<SubprocessResult> ReadProgram(const Subprocess& what, pid_t child,
                                     const std::vector<int>& files, int64_t begin_ns,
                                     const std::function<int64_t()>& steady_ns) {
  SubprocessResult result;
  ProcessReader reader(child, files, [&](size_t file, std::string_view text) {
    if (file == 0) {
      result.output.append(text);
      return result.output.size() <= what.max_output_bytes;
    }
    result.errors.append(text.substr(0, what.max_error_bytes - result.errors.size()));
    return true;
  });
  switch (reader.Run(begin_ns, what.limit_ns, steady_ns)) {
    case ProcessReader::Outcome::kEnded: break;
    case ProcessReader::Outcome::kStopped:
      reader.Kill(-child);
      return Status::OutOfRange(what.program + ": expected at most " +
                                std::to_string(what.max_output_bytes) +
                                " bytes on standard output");
    case ProcessReader::Outcome::kLate:
      reader.Kill(-child);
      return Status::Unavailable(what.program + ": the program did not end within " +
                                 std::to_string(what.limit_ns / kMillisecond) + "ms");
  }
  result.status = reader.status();
  return result;
}

}  // namespace

Result<SubprocessResult> RunSubprocess(const Subprocess& what,
                                       const std::function<int64_t()>& steady_ns) {
  BERTH_ASSERT(what.limit_ns > 0);
  const bool is_path = what.program.find('/') != std::string::npos;
  const std::string path = is_path ? what.program : SearchPath(what.program, what.environment);
  if (path.empty()) {
    return Status::NotFound(what.program + ": there is no such program in PATH");
  }
  Result<Pipe> output = MakePipe();
  Result<Pipe> errors = MakePipe();
  if (!output.ok()) return output.status().Annotate(what.program);
  if (!errors.ok()) return errors.status().Annotate(what.program);

  SpawnSettings settings;
  int error = settings.Set(what.directory, output->write_end.get(), errors->write_end.get());
  if (error != 0) return SpawnError(what.program, error);
  std::vector<std::string> arguments = what.arguments;
  arguments.insert(arguments.begin(), what.program);
  std::vector<std::string> environment = what.environment;
  pid_t child = -1;
  const int64_t begin_ns = steady_ns();
  error = ::posix_spawn(&child, path.c_str(), settings.actions(), settings.attributes(),
                        Pointers(arguments).data(), Pointers(environment).data());
  if (error != 0) return SpawnError(what.program, error);
  { const FileDescriptor closed = std::move(output->write_end); }
  { const FileDescriptor closed = std::move(errors->write_end); }
  const std::vector<int> files = {output->read_end.get(), errors->read_end.get()};
  return ReadProgram(what, child, files, begin_ns, steady_ns);
}

}  // namespace berth::host
