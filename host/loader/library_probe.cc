#include "host/loader/library_probe.h"

#include <sys/wait.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "host/base/child_process.h"

namespace berth::host {
namespace {

// The child writes this after it has loaded a library.
constexpr std::string_view kLoaded = "+";

LoadError ProbeError(std::string text) {
  return MakeLoadError(LoadErrorCode::kProbeFailed, "", std::move(text));
}

std::string ProblemOf(const ChildResult& end) {
  if (end.is_late) {
    return "the library has not finished loading after " +
           std::to_string(LibraryProbe::kLimitNs / kSecond) + " s";
  }
  if (WIFSIGNALED(end.status)) {
    return "the library ends the process with " + SignalText(WTERMSIG(end.status)) +
           " while it is loaded";
  }
  return "the library calls exit(" + std::to_string(WEXITSTATUS(end.status)) +
         ") while it is loaded";
}

}  // namespace

Result<std::vector<std::optional<LoadError>>> LibraryProbe::Run(
    std::span<const Source> libraries) const {
  std::vector<std::optional<LoadError>> errors(libraries.size());
  for (size_t next = 0; next < libraries.size();) {
    const auto together = LoadInChild(libraries.subspan(next));
    if (!together.ok()) return together.status();
    if (together->problem.empty()) break;
    const size_t at = next + together->loaded;
    next = at + 1;
    if (together->loaded == 0) {
      errors[at] = ProbeError(together->problem);
      continue;
    }
    const auto alone = LoadInChild(libraries.subspan(at, 1));
    if (!alone.ok()) return alone.status();
    if (!alone->problem.empty()) {
      errors[at] = ProbeError(alone->problem);
    } else if (!together->is_late) {  // All libraries of the child have used up the time.
      errors[at] = ProbeError(together->problem + " after other libraries (" +
                              std::to_string(together->loaded) + "), but not when it is the first");
    }
  }
  return errors;
}

Result<LibraryProbe::ChildEnd> LibraryProbe::LoadInChild(std::span<const Source> libraries) const {
  const auto end = RunInChild(
      [libraries](int pipe) {
        for (const Source& library : libraries) {
          // The process keeps a rejected library too, as the host would.
          static_cast<void>(PluginLibrary::Open(library));
          WriteToParent(pipe, kLoaded);
        }
      },
      kLimitNs, steady_ns_);
  if (!end.ok()) return end.status();
  ChildEnd outcome{.loaded = std::min(end->text.size(), libraries.size()), .is_late = end->is_late};
  const bool is_done = !end->is_late && end->status == 0 && outcome.loaded == libraries.size();
  if (is_done) return outcome;
  // A thread of the last library can end the process after all were loaded.
  outcome.loaded = std::min(outcome.loaded, libraries.size() - 1);
  outcome.problem = ProblemOf(*end);
  return outcome;
}

}  // namespace berth::host
