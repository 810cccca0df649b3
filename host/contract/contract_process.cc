#include "host/contract/contract_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include <berth/testing/call.h>

#include "host/base/child_process.h"
#include "host/contract/contract_watch.h"

namespace berth::host {
namespace {

// What the child writes: lines of "promise<tab>text". These are not findings.
constexpr std::string_view kLoaded = "loaded";    // From here on the plugin is asked.
constexpr std::string_view kRefused = "refused";  // The text is the name of the loader's error.
// All was asked. The text is the effort; empty: there was nobody to ask.
constexpr std::string_view kAsked = "asked";
constexpr std::string_view kCrash = "crash";  // The text is the function, a space, the signal.
// Every call has a limit of its own, so this is for those who get around it.
constexpr int64_t kLongestNs = int64_t{3600} * 1'000'000'000;
constexpr const char* kLoading = "a static constructor";

// ---- The child ----------------------------------------------------------------------------------

// Where the crash handler writes; it can be told by nothing else.
int crash_pipe = -1;  // NOLINT(readability-identifier-naming)

// Only what may be called within a signal handler.
void TellCrash(int signal) {
  const testing::CallScope* call = testing::CallScope::current();
  const char* function = call == nullptr ? "no call" : call->point();
  const std::array<char, 3> number = {static_cast<char>('0' + signal / 10 % 10),
                                      static_cast<char>('0' + signal % 10), '\n'};
  WriteToParent(crash_pipe, "\ncrash\t");
  WriteToParent(crash_pipe, std::string_view(function, ::strlen(function)));
  WriteToParent(crash_pipe, " ");
  WriteToParent(crash_pipe, std::string_view(number.data(), number.size()));
  ::_exit(1);
}

void CatchCrashes(int pipe) {
  crash_pipe = pipe;
  static std::array<char, 64 * 1024> stack;  // A stack that is full has no room for the handler.
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  ::sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_handler = &TellCrash;
  action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS}) {
    ::sigaction(signal, &action, nullptr);
  }
}

std::string LineOf(std::string_view promise, std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return std::string(promise) + "\t" + text + "\n";
}

std::string EffortText(const std::optional<ContractEffort>& effort) {
  if (!effort.has_value()) return "";
  return std::to_string(effort->pods) + " " + std::to_string(effort->pods_of) + " " +
         std::to_string(effort->instances);
}

LoadResult<std::shared_ptr<PluginLibrary>> Load(const PluginLibrary::Source& source,
                                                ContractWatch& watch) {
  testing::Reporter reporter("");
  reporter.set_observer(&watch);
  const testing::CallScope call(&reporter, kLoading, testing::kLoad);
  return PluginLibrary::Open(source);
}

void RunChild(const PluginLibrary::Source& source, const ContractQuestion& question,
              const std::function<int64_t()>& steady_ns, int pipe) {
  CatchCrashes(pipe);
  std::mutex mutex;
  const auto tell = [&](std::string_view promise, std::string text) {
    const std::lock_guard lock(mutex);
    WriteToParent(pipe, LineOf(promise, std::move(text)));
  };
  // A plugin that is late once is late a thousand times: nothing more is asked.
  ContractWatch watch(steady_ns, [&](const std::string& text) {
    tell(kDeadlinesPromise, text);
    ::_exit(0);
  });
  const auto library = Load(source, watch);
  if (!library.ok()) {
    tell(kLibraryPromise, library.error().ToString());
    tell(kRefused, std::string(LoadErrorName(library.error().code)));
    ::_exit(0);
  }
  tell(kLoaded, "");
  const auto sink = [&](const ContractFinding& finding) { tell(finding.promise, finding.text); };
  const std::optional<ContractEffort> effort =
      CheckContract({&(*library)->entry(), question, steady_ns}, watch, sink);
  tell(kAsked, EffortText(effort));
  ::_exit(0);
}

// ---- The parent ---------------------------------------------------------------------------------

ContractFinding CrashOf(std::string_view text) {
  const size_t space = text.rfind(' ');
  const int signal = std::atoi(std::string(text.substr(space + 1)).c_str());
  return {std::string(kSurvivesPromise),
          SignalText(signal) + " in " + std::string(text.substr(0, space)) + " ends the process"};
}

ContractFinding EndOf(const ChildEnd& end, bool is_loaded) {
  if (end.is_late) {
    return {std::string(kDeadlinesPromise),
            "it is not through after " + std::to_string(kLongestNs / 1'000'000'000) + " s"};
  }
  std::string text =
      WIFSIGNALED(end.status)
          ? SignalText(WTERMSIG(end.status)) + " ends the process"
          : "it ends the process with exit status " + std::to_string(WEXITSTATUS(end.status));
  return {std::string(kSurvivesPromise), is_loaded ? text : text + " while it is loaded"};
}

std::optional<ContractEffort> ParseEffort(const std::string& text) {
  ContractEffort effort;
  const int read =
      std::sscanf(text.c_str(), "%d %d %d", &effort.pods, &effort.pods_of, &effort.instances);
  return read == 3 ? std::optional(effort) : std::nullopt;
}

// False: the last line, which says why there are no more.
bool AddLine(std::string_view promise, std::string text, ContractOutcome& outcome) {
  if (promise == kLoaded) {
    outcome.is_loaded = true;
  } else if (promise == kRefused) {
    outcome.refusal = std::move(text);
    return false;
  } else if (promise == kAsked) {
    outcome.effort = ParseEffort(text);
    return false;
  } else {
    outcome.findings.push_back(
        promise == kCrash ? CrashOf(text) : ContractFinding{std::string(promise), std::move(text)});
    return promise != kCrash && promise != kDeadlinesPromise;
  }
  return true;
}

ContractOutcome OutcomeOf(const ChildEnd& end) {
  ContractOutcome outcome;
  bool is_through = false;
  for (std::string_view text = end.text; !text.empty();) {
    const size_t line_end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, line_end);
    text.remove_prefix(std::min(line_end + 1, text.size()));
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    is_through =
        !AddLine(line.substr(0, tab), std::string(line.substr(tab + 1)), outcome) || is_through;
  }
  if (!is_through) outcome.findings.push_back(EndOf(end, outcome.is_loaded));
  return outcome;
}

}  // namespace

Result<ContractOutcome> CheckContractApart(const PluginLibrary::Source& library,
                                           const ContractQuestion& question,
                                           const std::function<int64_t()>& steady_ns) {
  const auto end = RunInChild([&](int pipe) { RunChild(library, question, steady_ns, pipe); },
                              kLongestNs, steady_ns);
  if (!end.ok()) return end.status();
  return OutcomeOf(*end);
}

}  // namespace berth::host
