#include "host/contract/isolated_check.h"

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
#include <vector>

#include <nlohmann/json.hpp>

#include <berth/testing/call.h>

#include "host/base/json_text.h"
#include "host/base/kind_name.h"
#include "host/base/text.h"
#include "host/base/time_units.h"
#include "host/config/args_schema.h"
#include "host/config/config_errors.h"
#include "host/config/profile.h"
#include "host/contract/deadline_observer.h"
#include "host/contract/try_instance.h"
#include "host/guard/crash_handler.h"
#include "host/loader/library_store.h"
#include "host/loader/plugin_catalog.h"
#include "host/loader/private_copy.h"
#include "host/plan/plan.h"

namespace berth::host {
namespace {

// The child writes lines of "promise<tab>text", which are findings, except those with these words.
constexpr std::string_view kLoaded = "loaded";      // The library is loaded; the check begins.
constexpr std::string_view kAccepted = "accepted";  // The host accepts the plugin.
constexpr std::string_view kRejected = "rejected";  // The text is the name of the loader's error.
// The check is complete. The text is the coverage, or empty if the plugin could not be created.
constexpr std::string_view kChecked = "checked";
// A promise that was not observed, before kChecked. The text is its name, a space, and the
// sentence.
constexpr std::string_view kUnseen = "unseen";
constexpr std::string_view kCrash = "crash";  // The text is the function, a space, and the signal.
constexpr std::string_view kExit = "exit";    // The text is the call, such as "exit(3) in Filter".
// The limit of the whole check, for plugins that evade the limits of single calls.
constexpr int64_t kMaxCheckNs = kHour;
constexpr const char* kLoading = "a static constructor";
constexpr const char* kCreating = "create or destroy";

// ---- In the child process -----------------------------------------------------------------------

// Handlers of signals and of exit() can only reach global variables.
int report_pipe = -1;       // NOLINT(readability-identifier-naming)
pid_t checked_process = 0;  // NOLINT(readability-identifier-naming)

// Returns the plugin's function that this thread is in.
std::string_view CurrentFunction() {
  const testing::CallScope* call = testing::CallScope::current();
  const char* function = call == nullptr ? "no call" : call->point();
  return {function, ::strlen(function)};
}

// Calls only functions that are async-signal-safe.
void WriteCrash(int signal) {
  const std::array<char, 3> number = {static_cast<char>('0' + signal / 10 % 10),
                                      static_cast<char>('0' + signal % 10), '\n'};
  WriteToParent(report_pipe, "\ncrash\t");
  WriteToParent(report_pipe, CurrentFunction());
  WriteToParent(report_pipe, " ");
  WriteToParent(report_pipe, std::string_view(number.data(), number.size()));
  ::_exit(1);
}

void WriteExit(const std::string& call, int status) {
  if (::getpid() != checked_process) return;  // A process that the plugin forked.
  // A plugin often prints why it exits. _exit() does not write the buffer of stdio.
  static_cast<void>(std::fflush(stdout));
  WriteToParent(report_pipe, "\nexit\t" + call + " in " + std::string(CurrentFunction()) + "\n");
  ::_exit(status);
}

void OnExit(int status, void*) { WriteExit("exit(" + std::to_string(status) + ")", status); }
void OnQuickExit() { WriteExit("quick_exit()", 1); }

// Lets crashes and exits of this process be lines of the pipe. The handlers of crashes are those of
// the scheduler, and are installed before the library is loaded as there: a plugin that survives a
// fault here survives it in the scheduler too.
void CatchEnds(int pipe) {
  report_pipe = pipe;
  checked_process = ::getpid();
  InstallCrashHandler(WriteCrash);
  const bool is_registered =
      ::on_exit(OnExit, nullptr) == 0 && std::at_quick_exit(OnQuickExit) == 0;
  BERTH_ASSERT(is_registered);
}

std::string LineOf(std::string_view promise, std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return std::string(promise) + "\t" + text + "\n";
}

std::string CoverageText(const std::optional<ContractCoverage>& coverage) {
  if (!coverage.has_value()) return "";
  return std::to_string(coverage->pods) + " " + std::to_string(coverage->pods_of) + " " +
         std::to_string(coverage->instances) + " " + std::to_string(coverage->nodes) + " " +
         std::to_string(coverage->nodes_of);
}

LoadResult<std::shared_ptr<PluginLibrary>> Load(const PluginLibrary::Source& source,
                                                DeadlineObserver& observer) {
  testing::Reporter reporter("");
  reporter.set_observer(&observer);
  const testing::CallScope call(&reporter, kLoading, testing::kLoad);
  return PluginLibrary::Open(source);
}

// Returns the cluster that the request names, with the parts that the plugin reads; nullopt if the
// request names none.
Result<std::optional<ContractCluster>> ReadCluster(const PluginLibrary& library,
                                                   const ContractCheckRequest& request) {
  const PluginInfo* info = library.Find(request.plugin);
  if (request.cluster.empty() || info == nullptr) return std::optional<ContractCluster>();
  ClusterParts parts{.fields = {info->fields.begin(), info->fields.end()},
                     .kinds = {},
                     .emulated_version = request.emulated_version};
  for (const std::string& declared : info->kinds) {
    for (std::string& kind : KindsOf(declared)) parts.kinds.insert(std::move(kind));
  }
  auto cluster = ReadContractCluster(request.cluster, parts);
  if (!cluster.ok()) return std::move(cluster).status();
  return std::optional(std::move(cluster).value());
}

std::optional<LoadError> ValidateArgs(const PluginLibrary& library, const std::string& plugin,
                                      const nlohmann::json& args) {
  const PluginInfo* info = library.Find(plugin);
  if (info == nullptr) return std::nullopt;  // Plan::TryPlugin() reports it.
  ConfigErrors errors;
  CheckArgs(ParseJson(info->args_schema), {.value = args}, "", {}, errors);
  if (errors.size() == 0) return std::nullopt;
  std::vector<std::string> lines;
  for (const ConfigError& error : errors.errors()) lines.push_back(error.ToString());
  LoadError error = MakeLoadError(LoadErrorCode::kBadArguments, "", Join(lines, "; "));
  error.path = library.path();
  error.plugin = plugin;
  return error;
}

// Checks the arguments against the plugin's schema, then creates the plugin with the code and the
// services with which the host creates the plugins of a profile, and destroys it again. `args`: a
// JSON object, or empty; `deadline_ns`: that of the profile, or 0. Returns why the host rejects the
// plugin, or nullopt if the host accepts it.
// Errors: kBadArguments for arguments that the schema forbids; those of PluginInstance::Create.
std::optional<HostRejection> ValidateByHost(const std::shared_ptr<PluginLibrary>& library,
                                            const std::string& plugin, const std::string& args,
                                            int64_t deadline_ns) {
  const nlohmann::json given = args.empty() ? nlohmann::json() : ParseJson(args);
  if (auto error = ValidateArgs(*library, plugin, given)) {
    return HostRejection{*std::move(error), true};
  }
  LibraryStore store(CopyToMemory());
  PluginCatalog catalog(store);
  if (auto added = catalog.AddLoaded(library); !added.ok()) {
    return HostRejection{std::move(added).error()};
  }
  PluginSpec spec;
  spec.name = plugin;
  spec.args = std::make_shared<const nlohmann::json>(given);
  spec.deadline_ns = deadline_ns;
  std::optional<LoadError> error = TryInstance(spec, catalog, {});
  if (!error.has_value()) return std::nullopt;
  return HostRejection{*std::move(error)};
}

// Lets the host create the plugin. Ends the use of the library, whose code stays loaded, so that
// the test kit can initialise it again.
std::optional<HostRejection> Validate(std::shared_ptr<PluginLibrary> library,
                                      const ContractCheckRequest& request,
                                      DeadlineObserver& observer) {
  testing::Reporter reporter("");
  reporter.set_observer(&observer);
  const testing::CallScope call(&reporter, kCreating, testing::kLoad);
  std::optional<HostRejection> rejection =
      ValidateByHost(library, request.plugin, request.args, request.deadline_ns);
  library.reset();
  return rejection;
}

void RunChild(const PluginLibrary::Source& source, const ContractCheckRequest& request,
              const std::function<int64_t()>& steady_ns, int pipe) {
  CatchEnds(pipe);
  std::mutex mutex;
  const auto write_line = [&](std::string_view promise, std::string text) {
    const std::lock_guard lock(mutex);
    WriteToParent(pipe, LineOf(promise, std::move(text)));
  };
  // A plugin that is late once is late a thousand times, so the check ends.
  DeadlineObserver observer(steady_ns, request.deadline_ns, [&](const std::string& text) {
    write_line(kDeadlinesPromise, text);
    ::_exit(0);
  });
  auto library = Load(source, observer);
  if (!library.ok()) {
    write_line(kLibraryPromise, library.error().ToString());
    write_line(kRejected, std::string(LoadErrorName(library.error().code)));
    ::_exit(0);
  }
  write_line(kLoaded, "");
  const berth_entry& entry = (*library)->entry();
  const auto cluster = ReadCluster(**library, request);
  if (!cluster.ok()) {
    write_line(kNotCreated, std::string(cluster.status().message()));
    write_line(kChecked, "");
    ::_exit(0);
  }
  const std::optional<HostRejection> rejection = Validate(*std::move(library), request, observer);
  if (!rejection.has_value()) write_line(kAccepted, "");
  const auto sink = [&](const ContractFinding& finding) {
    write_line(finding.promise, finding.text);
  };
  const std::optional<ContractCoverage> coverage =
      CheckContract({.entry = &entry,
                     .rejection = rejection,
                     .cluster = cluster->has_value() ? &**cluster : nullptr,
                     .request = request,
                     .steady_ns = steady_ns},
                    observer, sink);
  // Before kChecked, so that a promise counts as kept only after all gaps were sent.
  const std::vector<ContractGap> gaps = coverage.value_or(ContractCoverage()).gaps;
  for (const ContractGap& gap : gaps) write_line(kUnseen, gap.promise + " " + gap.text);
  write_line(kChecked, CoverageText(coverage));
  ::_exit(0);
}

// ---- In the parent process ----------------------------------------------------------------------

ContractFinding CrashOf(std::string_view text) {
  const size_t space = text.rfind(' ');
  const int signal = std::atoi(std::string(text.substr(space + 1)).c_str());
  return {std::string(kSurvivesPromise),
          SignalText(signal) + " in " + std::string(text.substr(0, space)) + " ends the process"};
}

ContractFinding EndOf(const ChildResult& end, bool is_loaded) {
  if (end.is_late) {
    return {std::string(kDeadlinesPromise),
            "the check has not ended after " + std::to_string(kMaxCheckNs / kSecond) + " s"};
  }
  std::string text = WIFSIGNALED(end.status)
                         ? SignalText(WTERMSIG(end.status)) + " ends the process"
                         : "the library ends the process with status " +
                               std::to_string(WEXITSTATUS(end.status)) +
                               " and without exit(), as _exit() does, or os.Exit() of Go";
  return {std::string(kSurvivesPromise), is_loaded ? text : text + ", while the library is loaded"};
}

std::optional<ContractCoverage> ParseCoverage(const std::string& text) {
  ContractCoverage coverage;
  const int read = std::sscanf(text.c_str(), "%d %d %d %d %d", &coverage.pods, &coverage.pods_of,
                               &coverage.instances, &coverage.nodes, &coverage.nodes_of);
  return read == 5 ? std::optional(coverage) : std::nullopt;
}

// Adds a line of the child to the outcome. `gaps`: the gaps of the lines so far. Returns false if
// no further line is expected.
bool AddLine(std::string_view promise, std::string text, std::vector<ContractGap>& gaps,
             ContractOutcome& outcome) {
  if (promise == kLoaded) {
    outcome.is_loaded = true;
  } else if (promise == kAccepted) {
    outcome.is_accepted = true;
  } else if (promise == kRejected) {
    outcome.rejection = std::move(text);
    return false;
  } else if (promise == kUnseen) {
    const size_t space = std::min(text.find(' '), text.size() - 1);
    gaps.push_back({text.substr(0, space), text.substr(space + 1)});
  } else if (promise == kChecked) {
    outcome.coverage = ParseCoverage(text);
    if (outcome.coverage.has_value()) outcome.coverage->gaps = std::move(gaps);
    return false;
  } else if (promise == kExit) {
    outcome.findings.push_back({std::string(kSurvivesPromise), text + " ends the process"});
    return false;
  } else {
    outcome.findings.push_back(
        promise == kCrash ? CrashOf(text) : ContractFinding{std::string(promise), std::move(text)});
    return promise != kCrash && promise != kDeadlinesPromise;
  }
  return true;
}

}  // namespace

ContractOutcome OutcomeOf(const ChildResult& end) {
  ContractOutcome outcome;
  std::vector<ContractGap> gaps;
  bool is_complete = false;
  for (std::string_view text = end.text; !text.empty();) {
    const size_t line_end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, line_end);
    text.remove_prefix(std::min(line_end + 1, text.size()));
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    const bool is_last =
        !AddLine(line.substr(0, tab), std::string(line.substr(tab + 1)), gaps, outcome);
    is_complete = is_complete || is_last;
  }
  if (!is_complete) outcome.findings.push_back(EndOf(end, outcome.is_loaded));
  return outcome;
}

Result<ContractOutcome> CheckContractIsolated(const PluginLibrary::Source& library,
                                              const ContractCheckRequest& request,
                                              const std::function<int64_t()>& steady_ns) {
  const auto end = RunInChild([&](int pipe) { RunChild(library, request, steady_ns, pipe); },
                              kMaxCheckNs, steady_ns);
  if (!end.ok()) return end.status();
  return OutcomeOf(*end);
}

}  // namespace berth::host
