// `berth plugin check`: checks that a plugin library keeps the contract.
#include <algorithm>
#include <istream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/json_text.h"
#include "host/base/text.h"
#include "host/cli/commands.h"
#include "host/contract/cluster_reader.h"
#include "host/contract/contract_check.h"
#include "host/contract/contract_cluster.h"
#include "host/contract/isolated_check.h"
#include "host/guard/point.h"
#include "host/process/assemble/input_files.h"
#include "host/process/assemble/profile_set.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// One broken promise often has a hundred findings. The report has this many of them.
constexpr size_t kMaxFindingsPerPromise = 3;

template <class T>
using ByPlugin = std::map<std::string, T, std::less<>>;

// A flag that is given once for each plugin of the library: "VALUE" or "NAME=VALUE".
struct PluginFlag {
  const char* name;   // "--args"
  const char* value;  // An example, for errors.
};
constexpr PluginFlag kArgsFlag = {"--args", "{\"key\": value}"};
constexpr PluginFlag kDeadlineFlag = {"--deadline", "5s"};
constexpr PluginFlag kPointsFlag = {"--points", "Filter,Score"};

// Adds the value of a flag, "VALUE" or "NAME=VALUE", to the values by plugin. `name_end`: where
// NAME ends, or npos if there is none. `parse`: returns nullopt if VALUE is not what is `expected`.
// Errors: the plugin is unknown or has a value already, or VALUE is invalid.
template <class T, class Parse>
Status AddValue(const PluginFlag& flag, std::string_view text, size_t name_end,
                const PluginNote& note, const char* expected, Parse parse, ByPlugin<T>& all) {
  const bool is_named = name_end != std::string_view::npos;
  std::string name(is_named ? text.substr(0, name_end) : "");
  std::vector<std::string> known;
  for (const PluginInNote& plugin : note.plugins) known.push_back(plugin.name);
  const std::string begin = std::string(flag.name) + ": ";
  if (name.empty() && known.size() > 1) {
    return Status::InvalidArgument(begin + "the library has " + std::to_string(known.size()) +
                                   " plugins (" + Join(known, ", ") +
                                   "); name the plugin that it is for: " + flag.name + " '" +
                                   known.front() + "=" + flag.value + "'");
  }
  if (name.empty()) name = known.front();
  if (std::ranges::find(known, name) == known.end()) {
    return Status::InvalidArgument(begin + "expected a plugin of the library (" +
                                   Join(known, ", ") + "), found " + name +
                                   DidYouMean(name, known));
  }
  const std::string_view value = is_named ? text.substr(name_end + 1) : text;
  std::optional<T> parsed = parse(value);
  if (!parsed.has_value()) {
    return Status::InvalidArgument(begin + "expected " + expected + ", found " +
                                   std::string(value));
  }
  if (all.emplace(name, *std::move(parsed)).second) return {};
  return Status::InvalidArgument(begin + "expected one value for each plugin, found two for " +
                                 name);
}

// Arguments that are not a JSON object are invalid input, not a fault of the plugin.
Result<ByPlugin<std::string>> ParseArgs(const std::vector<std::string>& given,
                                        const PluginNote& note) {
  const auto parse = [](std::string_view text) -> std::optional<std::string> {
    const Json args = ParseOrderedJson(text);
    return args.is_object() ? std::optional(DumpJson(args)) : std::nullopt;
  };
  ByPlugin<std::string> all;
  for (const std::string_view text : given) {
    const size_t end = text.find_first_of("=[{\"");
    const bool is_named = end != std::string_view::npos && text[end] == '=';
    Status status = AddValue(kArgsFlag, text, is_named ? end : std::string_view::npos, note,
                             "a JSON object such as {\"cpuMilli\": 200}", parse, all);
    if (!status.ok()) return status;
  }
  return all;
}

Result<ByPlugin<int64_t>> ParseDeadlines(const std::vector<std::string>& given,
                                         const PluginNote& note) {
  const auto parse = [](std::string_view text) -> std::optional<int64_t> {
    const Result<int64_t> ns = ParseDuration(text);
    return ns.ok() && *ns > 0 ? std::optional(*ns) : std::nullopt;
  };
  ByPlugin<int64_t> all;
  for (const std::string_view text : given) {
    Status status = AddValue(kDeadlineFlag, text, text.find('='), note,
                             "a duration of more than 0, such as 5s or 1m30s", parse, all);
    if (!status.ok()) return status;
  }
  return all;
}

// Returns the ids of the points of the plugin that are among `points`.
// Errors: the plugin does not implement one of the points.
Result<std::vector<std::string>> IdsOf(const std::vector<Point>& points,
                                       const PluginInNote& plugin) {
  std::vector<std::string> ids;
  for (const Point point : points) {
    if (!HasPoint(plugin.points, point)) {
      return Status::InvalidArgument("--points: expected points of the plugin " + plugin.name +
                                     " (" + Join(PointNames(plugin.points), ", ") + "), found " +
                                     std::string(InfoOf(point).name));
    }
    std::ranges::copy_if(plugin.points, std::back_inserter(ids), [point](const std::string& id) {
      const PointInfo* info = FindPoint(id);
      return info != nullptr && info->point == point;
    });
  }
  return ids;
}

// Returns the ids of the points to check; nothing for a plugin whose points are all checked.
Result<ByPlugin<std::vector<std::string>>> ParsePointFlags(const std::vector<std::string>& given,
                                                           const PluginNote& note) {
  ByPlugin<std::string> texts;
  ByPlugin<std::vector<std::string>> all;
  for (const std::string_view text : given) {
    const auto keep = [](std::string_view value) { return std::optional(std::string(value)); };
    Status status =
        AddValue(kPointsFlag, text, text.find('='), note, "extension points", keep, texts);
    if (!status.ok()) return status;
  }
  for (const auto& [name, text] : texts) {
    const Result<std::vector<Point>> points = ParsePoints(text);
    if (!points.ok()) return points.status();
    auto ids = IdsOf(*points, *std::ranges::find(note.plugins, name, &PluginInNote::name));
    if (!ids.ok()) return std::move(ids).status();
    all.emplace(name, std::move(ids).value());
  }
  return all;
}

// Reads the files of --cluster, and reports errors in them before any plugin is checked.
Result<std::vector<ClusterManifest>> ReadClusterFiles(const std::vector<std::string>& files,
                                                      std::istream& in) {
  if (Status status = CheckStandardInput("plugin check", files); !status.ok()) return status;
  std::vector<ClusterManifest> manifests;
  for (const std::string& file : files) {
    Result<std::string> text = ReadInput(file, in);
    if (!text.ok()) return std::move(text).status();
    manifests.push_back({std::string(InputName(file)), std::move(text).value()});
  }
  if (manifests.empty()) return manifests;
  const auto cluster = ReadContractCluster(manifests, {});
  if (!cluster.ok()) return cluster.status();
  return manifests;
}

// Returns true if the file could not be read or copied, so that nothing is known about the plugins.
bool IsBadInput(const LoadError& error) {
  return error.code <= LoadErrorCode::kTooLarge || error.code == LoadErrorCode::kCopyFailed;
}

Json FindingsOf(const std::vector<ContractFinding>& findings) {
  std::map<std::string, std::set<std::string>> listed;
  Json list = Json::array();
  for (const ContractFinding& finding : findings) {
    std::set<std::string>& texts = listed[finding.promise];
    if (texts.size() == kMaxFindingsPerPromise || !texts.insert(finding.text).second) continue;
    list.push_back({{"promise", finding.promise}, {"text", finding.text}});
  }
  return list;
}

// Returns the sentence about what would be needed to observe the promise; null if it was observed.
const std::string* Needed(std::string_view promise, const ContractOutcome& outcome) {
  if (!outcome.coverage.has_value()) return nullptr;
  const auto& gaps = outcome.coverage->gaps;
  const auto gap = std::ranges::find(gaps, promise, &ContractGap::promise);
  return gap == gaps.end() ? nullptr : &gap->text;
}

// The answers of checks. A check that ended early has the answer kNotChecked for most promises.
constexpr std::string_view kYes = "yes";
constexpr std::string_view kNo = "no";
constexpr std::string_view kNotSeen = "not seen";
constexpr std::string_view kNotChecked = "not checked";

// REQUIRES: the library was loaded.
std::string_view AnswerOf(std::string_view promise, const ContractOutcome& outcome) {
  const auto breaks = [promise](const ContractFinding& finding) {
    return finding.promise == promise;
  };
  if (std::ranges::any_of(outcome.findings, breaks)) return kNo;
  if (Needed(promise, outcome) != nullptr) return kNotSeen;
  if (outcome.coverage.has_value() || promise == kLibraryPromise) return kYes;
  return promise == kHostPromise && outcome.is_accepted ? kYes : kNotChecked;
}

Json PromisesOf(const ContractOutcome& outcome) {
  Json list = Json::array();
  for (const ContractPromise& promise : ContractPromises()) {
    const std::string_view answer = AnswerOf(promise.name, outcome);
    Json entry = {{"name", promise.name}, {"text", promise.text}, {"answer", answer}};
    entry["kept"] = answer == kYes ? Json(true) : answer == kNo ? Json(false) : Json(nullptr);
    if (answer == kNotSeen) entry["needed"] = *Needed(promise.name, outcome);
    list.push_back(std::move(entry));
  }
  return list;
}

// Returns the report of a plugin. `points`: the ids of those that are checked. `outcome`: null if
// it was not checked.
Json ReportOf(const PluginInNote& plugin, const std::vector<std::string>& points,
              const ContractOutcome* outcome) {
  Json report = {{"name", plugin.name}, {"version", plugin.version}, {"points", PointNames(points)},
                 {"kept", nullptr},     {"notSeen", nullptr},        {"promises", Json::array()},
                 {"asked", nullptr},    {"findings", Json::array()}};
  if (outcome == nullptr) return report;
  report["kept"] = outcome->findings.empty();
  report["promises"] = PromisesOf(*outcome);
  report["notSeen"] = std::ranges::count_if(
      report["promises"], [](const Json& promise) { return promise["answer"] == kNotSeen; });
  report["findings"] = FindingsOf(outcome->findings);
  if (!outcome->coverage.has_value()) return report;
  const ContractCoverage& coverage = *outcome->coverage;
  Json& asked = report["asked"];
  asked = {{"pods", coverage.pods},
           {"podsOf", coverage.pods_of},
           {"nodes", coverage.nodes},
           {"instances", coverage.instances}};
  if (coverage.nodes_of > 0) asked["nodesOf"] = coverage.nodes_of;
  return report;
}

std::string AnswerText(std::string_view answer) {
  if (answer == kNotChecked) return "-";
  return answer == kNo ? "NO" : std::string(answer);
}

std::string CoverageSentence(const Json& asked) {
  if (asked.is_null()) return "The check ended early: the rows marked - were not checked.";
  const int pods = asked["pods"];
  const int pods_of = asked["podsOf"];
  const int instances = asked["instances"];
  const bool is_less = pods < pods_of || instances < kMaxInstances;
  const std::string what = asked.contains("nodesOf")
                               ? " selected pods, on " + DumpJson(asked["nodes"]) + " of the " +
                                     DumpJson(asked["nodesOf"]) + " nodes of the cluster"
                               : " pods";
  return "Checked with " + std::to_string(pods) + " of " + std::to_string(pods_of) + what + "; " +
         std::to_string(instances) + " instances were created and destroyed one after the other." +
         (is_less ? " The plugin's calls take too long to check more." : "");
}

// Appends "  whatif: No pod ...".
void AppendItem(const std::string& promise, const std::string& text, TerminalWidth width,
                std::string& out) {
  out += "  ";
  AppendWrapped(Printable(promise + ": " + text), 4, width, out);
}

void AppendReport(const Json& plugin, TerminalWidth width, std::string& out) {
  const std::string points = JoinTexts(plugin["points"], ", ");
  const std::string name =
      "\n" + plugin["name"].get<std::string>() + " " + plugin["version"].get<std::string>();
  if (plugin["kept"].is_null()) {
    out += name + " was not checked (" + points + ")\n";
    return;
  }
  const bool kept = plugin["kept"];
  const bool is_complete = plugin["notSeen"] == 0;
  out += name + (kept ? " keeps the contract" : " BREAKS the contract") +
         (kept && !is_complete ? " as far as it was seen" : "") + " (" + points + ")\n\n";
  Table table({"CHECK", "PASSED", "MEANING"});
  // What would be needed, and the checks that need it: "outputs, repeat".
  std::vector<std::pair<std::string, std::string>> unseen;
  for (const Json& promise : plugin["promises"]) {
    const std::string answer = promise["answer"];
    table.AddRow({promise["name"], AnswerText(answer), promise["text"]});
    if (answer != kNotSeen) continue;
    const std::string needed = promise["needed"];
    auto same = std::ranges::find(unseen, needed, &std::pair<std::string, std::string>::first);
    if (same == unseen.end()) same = unseen.insert(same, {needed, ""});
    same->second += (same->second.empty() ? "" : ", ") + promise["name"].get<std::string>();
  }
  table.Append(width, out);
  out += '\n';
  AppendWrapped(CoverageSentence(plugin["asked"]), 0, width, out);
  if (!unseen.empty()) out += "\nNot seen:\n";
  for (const auto& [needed, checks] : unseen) AppendItem(checks, needed, width, out);
  if (!kept) out += "\nViolations:\n";
  for (const Json& finding : plugin["findings"]) {
    AppendItem(finding["promise"], finding["text"], width, out);
  }
}

void AppendReports(const Json& report, TerminalWidth width, std::string& out) {
  out += "Library   " + Printable(report["library"].get<std::string>()) + "\n";
  for (const Json& finding : report["findings"]) {
    out += "\nThe library was not loaded:\n  ";
    AppendWrapped(Printable(finding["text"].get<std::string>()), 4, width, out);
  }
  for (const Json& plugin : report["plugins"]) AppendReport(plugin, width, out);
}

int PrintReport(const Json& report, const PluginCheckFlags& flags, CommandEnvironment& env) {
  return PrintAs(flags.output, report, AppendReports, env,
                 report["kept"] == true ? kExitDone : kExitNotAllScheduled);
}

// Returns a finding about the library as a whole. `rejection`: the name of the loader's error, or
// empty.
Json LibraryFinding(const ContractFinding& finding, const std::string& rejection) {
  Json json = {{"promise", finding.promise}, {"text", finding.text}};
  if (!rejection.empty()) json["code"] = rejection;
  return json;
}

// Returns the report of a library that the loader rejected before running any of its code.
Json RejectionReport(const std::string& path, const LoadError& error) {
  return {{"library", path},
          {"kept", false},
          {"findings",
           {LibraryFinding({std::string(kLibraryPromise), error.ToString()},
                           std::string(LoadErrorName(error.code)))}},
          {"plugins", Json::array()}};
}

// Returns why the plugin could not be created, and what to do; empty if it could.
std::string CreationError(const std::string& plugin, const std::vector<ContractFinding>& findings,
                          bool is_only) {
  const auto found = std::ranges::find_if(findings, [](const ContractFinding& finding) {
    return finding.promise == kWantsArguments || finding.promise == kNotCreated;
  });
  if (found == findings.end()) return "";
  const std::string answer = plugin + ": " + found->text;
  if (found->promise == kNotCreated) return answer;
  return answer + "\nuse --args to set arguments that the plugin accepts: --args '" +
         (is_only ? "" : plugin + "=") +
         "{\"key\": value}'; use berth plugin describe to list them";
}

// Checks one plugin after the other, each in a process of its own.
class LibraryCheck {
 public:
  LibraryCheck(const PluginLibrary::Source& source, const ByPlugin<std::string>& args,
               const ByPlugin<int64_t>& deadlines, const ByPlugin<std::vector<std::string>>& points,
               std::span<const ClusterManifest> cluster, KubeVersion emulated_version,
               const CommandEnvironment& env)
      : source_(source),
        args_(args),
        deadlines_(deadlines),
        points_(points),
        cluster_(cluster),
        emulated_version_(emulated_version),
        env_(env) {}

  // Errors: a process could not be created.
  Status Run() {
    for (const PluginInNote& plugin : note().plugins) {
      if (!is_loaded_) {
        plugins_.push_back(ReportFor(plugin, nullptr));
      } else if (Status status = Check(plugin); !status.ok()) {
        return status;
      }
    }
    return {};
  }

  // Returns why plugins could not be created, in one or two lines for each plugin. Returns an empty
  // text if all plugins were created.
  const std::string& not_created() const { return not_created_; }
  // Returns true if at least one plugin was created, so that there is something to report.
  bool has_results() const { return has_results_; }

  // REQUIRES: Run().
  Json Report() const {
    const Json kept = !kept_ ? Json(false) : not_created_.empty() ? Json(true) : Json(nullptr);
    return {
        {"library", source_.path}, {"kept", kept}, {"findings", findings_}, {"plugins", plugins_}};
  }

 private:
  const PluginNote& note() const { return source_.checked.note; }

  Json ReportFor(const PluginInNote& plugin, const ContractOutcome* outcome) const {
    const auto points = points_.find(plugin.name);
    return ReportOf(plugin, points == points_.end() ? plugin.points : points->second, outcome);
  }

  ContractCheckRequest RequestFor(const std::string& plugin) const {
    ContractCheckRequest request;
    request.plugin = plugin;
    if (const auto args = args_.find(plugin); args != args_.end()) request.args = args->second;
    request.cluster = cluster_;
    request.emulated_version = emulated_version_;
    const auto deadline = deadlines_.find(plugin);
    if (deadline != deadlines_.end()) request.deadline_ns = deadline->second;
    const auto points = points_.find(plugin);
    if (points != points_.end()) request.points = points->second;
    return request;
  }

  Status Check(const PluginInNote& plugin) {
    const auto outcome = CheckContractIsolated(source_, RequestFor(plugin.name), env_.steady_ns);
    if (!outcome.ok()) return outcome.status();
    const std::string why =
        CreationError(plugin.name, outcome->findings, note().plugins.size() == 1);
    if (!why.empty()) {
      not_created_ += (not_created_.empty() ? "" : "\n") + why;
      plugins_.push_back(ReportFor(plugin, nullptr));
      return {};
    }
    has_results_ = true;
    kept_ = kept_ && outcome->findings.empty();
    is_loaded_ = outcome->is_loaded;
    if (is_loaded_) {
      plugins_.push_back(ReportFor(plugin, &*outcome));
      return {};
    }
    for (const ContractFinding& finding : outcome->findings) {
      findings_.push_back(LibraryFinding(finding, outcome->rejection));
    }
    plugins_.push_back(ReportFor(plugin, nullptr));
    return {};
  }

  const PluginLibrary::Source& source_;
  const ByPlugin<std::string>& args_;
  const ByPlugin<int64_t>& deadlines_;
  const ByPlugin<std::vector<std::string>>& points_;
  const std::span<const ClusterManifest> cluster_;
  const KubeVersion emulated_version_;
  const CommandEnvironment& env_;
  bool is_loaded_ = true;
  bool kept_ = true;
  bool has_results_ = false;
  std::string not_created_;
  Json findings_ = Json::array();
  Json plugins_ = Json::array();
};

}  // namespace

int ExecutePluginCheck(const PluginCheckFlags& flags, CommandEnvironment& env) {
  const auto store = MakeLibraryStore(env.temporary_directory, env.steady_ns);
  const auto source = store->Prepare(flags.library, {});
  if (!source.ok() && IsBadInput(source.error())) return Fail(env, source.error().ToStatus());
  if (!source.ok()) return PrintReport(RejectionReport(flags.library, source.error()), flags, env);
  const auto args = ParseArgs(flags.args, source->checked.note);
  if (!args.ok()) return Fail(env, args.status());
  const auto deadlines = ParseDeadlines(flags.deadlines, source->checked.note);
  if (!deadlines.ok()) return Fail(env, deadlines.status());
  const auto points = ParsePointFlags(flags.points, source->checked.note);
  if (!points.ok()) return Fail(env, points.status());
  const auto cluster = ReadClusterFiles(flags.cluster_files, env.in);
  if (!cluster.ok()) return Fail(env, cluster.status());
  LibraryCheck check(*source, *args, *deadlines, *points, *cluster, flags.emulated_version, env);
  if (const Status status = check.Run(); !status.ok()) return Fail(env, status);
  const std::string& not_created = check.not_created();
  if (not_created.empty()) return PrintReport(check.Report(), flags, env);
  if (check.has_results()) PrintReport(check.Report(), flags, env);
  return Fail(env, Status::InvalidArgument(not_created));
}

}  // namespace berth::host
