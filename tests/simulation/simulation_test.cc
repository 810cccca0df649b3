// Runs the simulation for many seeds. Prints each finding with the command that reproduces it.
//
//   simulation_test [--live] [--first=N] [--seeds=N]
//       runs the seeds N, N+1, ... in a child process, so that a failed assertion is reported as a
//       finding
//   simulation_test [--live] --seed=N [--trace]
//       runs one seed in this process; --trace prints every action
//
// --live runs KubernetesClient over a model of an API server; without it, an embedded cluster is
// behind a client with faults.
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "host/loader/library_store.h"
#include "host/loader/plugin_catalog.h"
#include "host/loader/private_copy.h"
#include "tests/simulation/live_run.h"
#include "tests/simulation/run.h"

namespace berth::host {
namespace {

constexpr uint32_t kMaxSecondsPerSeed = 120;
constexpr uint64_t kMaxFindings = 10;
// So many seeds bind at least one pod each, on average; they bind five.
constexpr uint64_t kSeedsThatBind = 20;
// Every 50th seed runs twice, to check that equal seeds give equal runs.
constexpr uint64_t kRepeatEvery = 50;

struct Options {
  uint64_t first = 1;
  uint64_t seeds = BERTH_SIMULATION_SEEDS;
  std::optional<uint64_t> only;
  bool is_live = false;
  bool trace = false;
};

struct Totals {
  uint64_t seeds = 0, steps = 0, assumed = 0, bound = 0, failed = 0, skipped = 0;
  uint64_t spread_checks = 0, affinity_checks = 0;

  template <class AnyRun>
  void Add(const AnyRun& run) {
    ++seeds;
    steps += run.steps();
    assumed += run.counts().assumed;
    bound += run.counts().bound;
    failed += run.counts().failed;
    skipped += run.counts().skipped;
    spread_checks += run.counts().spread_checks;
    affinity_checks += run.counts().affinity_checks;
  }
  void Add(const Totals& other) {
    seeds += other.seeds;
    steps += other.steps;
    assumed += other.assumed;
    bound += other.bound;
    failed += other.failed;
    skipped += other.skipped;
    spread_checks += other.spread_checks;
    affinity_checks += other.affinity_checks;
  }
};

// A child process sends a report before and after each seed.
struct Report {
  uint64_t seed = 0;
  bool is_done = false;
  Totals totals = {};
};

std::optional<uint64_t> ReadNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool ReadOptions(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    const size_t equals = arg.find('=');
    const std::string_view name = arg.substr(0, equals);
    const auto number =
        equals == std::string_view::npos ? std::nullopt : ReadNumber(arg.substr(equals + 1));
    if (name == "--trace" && equals == std::string_view::npos) {
      options.trace = true;
    } else if (name == "--live" && equals == std::string_view::npos) {
      options.is_live = true;
    } else if (name == "--seed" && number) {
      options.only = number;
    } else if (name == "--first" && number) {
      options.first = *number;
    } else if (name == "--seeds" && number) {
      options.seeds = *number;
    } else {
      std::fprintf(stderr,
                   "usage: %s [--live] [--first=N] [--seeds=N] | [--live] --seed=N [--trace]\n"
                   "unknown argument: %s\n",
                   argv[0], argv[i]);
      return false;
    }
  }
  return true;
}

bool LoadPlugins(PluginCatalog& catalog) {
  LoadOptions options;
  options.trust.check_owner = false;  // A build tree may belong to any user.
  for (const char* directory : {BERTH_TEST_PLUGIN_DIR, BERTH_PLUGIN_DIR}) {
    const auto found = catalog.AddDirectory(directory, options);
    if (!found.ok()) {
      std::fprintf(stderr, "%s\n", found.error().ToString().c_str());
      return false;
    }
    for (const auto& library : *found) {
      if (library.ok()) continue;
      std::fprintf(stderr, "%s\n", library.error().ToString().c_str());
      return false;
    }
  }
  return true;
}

template <class AnyRun>
std::string PlayOnce(const PluginCatalog& catalog, uint64_t seed, std::FILE* trace,
                     Totals& totals) {
  AnyRun run(catalog, seed, trace);
  std::string finding = run.Play();
  totals.Add(run);
  if (!finding.empty() || trace != nullptr || seed % kRepeatEvery != 0) return finding;
  AnyRun again(catalog, seed, nullptr);
  finding = again.Play();
  if (finding.empty() && again.digest() != run.digest()) finding = "two runs of this seed differ";
  return finding;
}

// Runs one seed with one of the clients.
struct Player {
  const PluginCatalog& catalog;
  const char* program;
  bool is_live;

  std::string Play(uint64_t seed, std::FILE* trace, Totals& totals) const {
    return is_live ? PlayOnce<LiveRun>(catalog, seed, trace, totals)
                   : PlayOnce<Run>(catalog, seed, trace, totals);
  }
  void Print(uint64_t seed, const std::string& finding) const {
    const auto number = static_cast<unsigned long long>(seed);
    std::fprintf(stderr, "seed %llu: %s\n  reproduce: %s%s --seed=%llu --trace\n", number,
                 finding.c_str(), program, is_live ? " --live" : "", number);
  }
};

// ---- Child processes ----------------------------------------------------------------------------

void Send(int to, const Report& report) {
  if (write(to, &report, sizeof report) != sizeof report) std::_Exit(3);
}

[[noreturn]] void PlayAsChild(const Player& player, uint64_t first, uint64_t end, int to) {
  for (uint64_t seed = first; seed < end; ++seed) {
    Report report{.seed = seed};
    Send(to, report);
    alarm(kMaxSecondsPerSeed);
    const std::string finding = player.Play(seed, nullptr, report.totals);
    if (!finding.empty()) player.Print(seed, finding);
    report.is_done = finding.empty();
    if (!report.is_done) std::exit(1);
    Send(to, report);
  }
  std::exit(0);
}

// Runs the seeds from `first` to `end` in a child process, until the first finding. Returns the
// seed with the finding, or `end` if there is none.
uint64_t PlaySome(const Player& player, uint64_t first, uint64_t end, Totals& totals) {
  int ends[2];
  if (pipe(ends) != 0) return first;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) return first;
  if (child == 0) {
    close(ends[0]);
    PlayAsChild(player, first, end, ends[1]);
  }
  close(ends[1]);
  Report last{.seed = first};
  Report report;
  while (read(ends[0], &report, sizeof report) == sizeof report) {
    last = report;
    if (report.is_done) totals.Add(report.totals);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
  if (WIFSIGNALED(status)) {
    player.Print(last.seed, std::string("the process was ended by ") + strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 1) {
    player.Print(last.seed, "the process ended with status " + std::to_string(WEXITSTATUS(status)));
  }
  return last.seed;
}

int PlayMany(const Player& player, const Options& options) {
  const uint64_t end = options.first + options.seeds;
  Totals totals;
  uint64_t findings = 0;
  for (uint64_t next = options.first; next < end && findings < kMaxFindings; ++next) {
    next = PlaySome(player, next, end, totals);
    if (next < end) ++findings;
  }
  const auto number = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf(
      "%llu seeds: %llu steps, %llu assumed, %llu bound, %llu failed, %llu skipped, %llu spread "
      "constraints and %llu affinities checked; %llu findings\n",
      number(totals.seeds), number(totals.steps), number(totals.assumed), number(totals.bound),
      number(totals.failed), number(totals.skipped), number(totals.spread_checks),
      number(totals.affinity_checks), number(findings));
  // A scheduler that does nothing breaks no rule. A few seeds may have no pod that fits.
  const bool is_idle =
      totals.seeds >= kSeedsThatBind &&
      (totals.bound < totals.seeds || totals.spread_checks == 0 || totals.affinity_checks == 0);
  if (is_idle) {
    std::fprintf(stderr,
                 "expected at least one binding per seed on average, and pods with spread "
                 "constraints and affinity among them\n");
  }
  return findings == 0 && !is_idle && totals.seeds == options.seeds ? 0 : 1;
}

int PlayOnly(const Player& player, uint64_t seed, bool trace) {
  Totals totals;
  const std::string finding = player.Play(seed, trace ? stdout : nullptr, totals);
  if (!finding.empty()) player.Print(seed, finding);
  std::printf("seed %llu: %llu steps, %llu bound\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(totals.steps),
              static_cast<unsigned long long>(totals.bound));
  return finding.empty() ? 0 : 1;
}

int Main(int argc, char** argv) {
  Options options;
  if (!ReadOptions(argc, argv, options)) return 2;
  LibraryStore store(CopyToMemory());
  PluginCatalog catalog(store);
  if (!LoadPlugins(catalog)) return 1;
  const Player player = {catalog, argv[0], options.is_live};
  if (options.only) return PlayOnly(player, *options.only, options.trace);
  return PlayMany(player, options);
}

}  // namespace
}  // namespace berth::host

int main(int argc, char** argv) { return berth::host::Main(argc, argv); }
