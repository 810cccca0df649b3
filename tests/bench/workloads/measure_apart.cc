#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "tests/bench/workloads/measure.h"

namespace berth::bench {
namespace {

using host::Result;
using host::Status;

// The whole text, or nothing that the other side could read as whole.
void WriteAll(int descriptor, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(descriptor, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<size_t>(wrote);
  }
}

std::string ReadAll(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
}

// What a measurement comes to, as text: of the process that makes it.
std::string Answer(const std::function<Result<Measurement>()>& measure) {
  try {
    const Result<Measurement> found = measure();
    if (!found.ok()) {
      return nlohmann::json{{"error", found.status().message()}}.dump(
          -1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
    return ToJson(*found).dump();
  } catch (const std::exception& error) {
    return nlohmann::json{{"error", error.what()}}.dump();
  }
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return std::string("ended by ") + strsignal(WTERMSIG(status));
  return "ended with exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<Measurement> MeasureApart(const std::function<Result<Measurement>()>& measure) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return Status::Internal(std::strerror(errno));
  const pid_t process = fork();
  if (process < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return Status::Internal(std::strerror(error));
  }
  if (process == 0) {
    close(ends[0]);
    WriteAll(ends[1], Answer(measure));
    _exit(EXIT_SUCCESS);
  }
  close(ends[1]);
  const std::string text = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  rusage usage{};
  while (wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS) {
    return Status::Internal("the process that measured " + HowItEnded(status));
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("error")) {
    return Status::Internal(json["error"].get<std::string>());
  }
  Result<Measurement> found = MeasurementFrom(json);
  if (found.ok()) found->peak_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return found;
}

}  // namespace berth::bench
