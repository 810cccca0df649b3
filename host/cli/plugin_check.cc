// `berth plugin check`: does a library keep the contract?
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "host/cli/commands.h"
#include "host/cli/contract_check.h"
#include "host/cli/contract_process.h"
#include "host/runtime/point.h"

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

// One broken promise is often found a hundred times.
constexpr size_t kMostOfOnePromise = 3;

// Arguments that are no JSON object are bad input, not a fault of the plugin.
Result<std::string> ParseArgs(const std::string& text) {
  if (text.empty()) return text;
  const Json args = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (args.is_object()) return args.dump();
  return Status::InvalidArgument("--args: expected a JSON object as {\"cpuMilli\": 200}, found " +
                                 text);
}

// The file itself could not be judged, or not copied: nothing is known of the plugin.
bool IsBadInput(const LoadError& error) {
  return error.code <= LoadErrorCode::kTooLarge || error.code == LoadErrorCode::kCopyFailed;
}

Json FindingsOf(const std::vector<ContractFinding>& findings) {
  std::map<std::string, std::set<std::string>> told;
  Json list = Json::array();
  for (const ContractFinding& finding : findings) {
    std::set<std::string>& texts = told[finding.promise];
    if (texts.size() == kMostOfOnePromise || !texts.insert(finding.text).second) continue;
    list.push_back({{"promise", finding.promise}, {"text", finding.text}});
  }
  return list;
}

Json PromisesOf(const std::vector<ContractFinding>& findings) {
  Json list = Json::array();
  for (const ContractPromise& promise : ContractPromises()) {
    const bool kept = std::ranges::none_of(
        findings, [&](const ContractFinding& finding) { return finding.promise == promise.name; });
    list.push_back({{"name", promise.name}, {"text", promise.text}, {"kept", kept}});
  }
  return list;
}

Json ReportOf(const PluginInfo& info, const std::vector<ContractFinding>& findings) {
  Json points = Json::array();
  for (const std::string& id : info.points) {
    const PointInfo* point = FindPoint(id);
    points.push_back(point == nullptr ? id : std::string(point->name));
  }
  return {{"name", info.name},
          {"version", info.version},
          {"points", std::move(points)},
          {"kept", findings.empty()},
          {"promises", PromisesOf(findings)},
          {"findings", FindingsOf(findings)}};
}

void AppendReport(const Json& plugin, TerminalWidth width, std::string& out) {
  std::string points;
  for (const Json& point : plugin["points"]) {
    points += (points.empty() ? "" : ", ") + point.get<std::string>();
  }
  const bool kept = plugin["kept"];
  out += "\n" + plugin["name"].get<std::string>() + " " + plugin["version"].get<std::string>() +
         (kept ? " keeps the contract" : " BREAKS the contract") + " (" + points + ")\n\n";
  Table table({"PROMISE", "KEPT", "WHAT"});
  for (const Json& promise : plugin["promises"]) {
    table.AddRow({promise["name"], promise["kept"].get<bool>() ? "yes" : "NO", promise["text"]});
  }
  table.Append(width, out);
  if (!kept) out += "\nWhat is broken:\n";
  for (const Json& finding : plugin["findings"]) {
    out += "  ";
    AppendWrapped(Printable(finding["promise"].get<std::string>() + ": " +
                            finding["text"].get<std::string>()),
                  4, width, out);
  }
}

int PrintReport(const Json& report, const PluginCheckFlags& flags, CommandEnvironment& env) {
  std::string out;
  if (flags.output == OutputFormat::kTable) {
    out = "Library   " + Printable(report["library"].get<std::string>()) + "\n";
    for (const Json& finding : report["findings"]) {
      out += "\nIt is not loaded:\n  ";
      AppendWrapped(Printable(finding["text"].get<std::string>()), 4, env.out_width, out);
    }
    for (const Json& plugin : report["plugins"]) AppendReport(plugin, env.out_width, out);
  } else {
    AppendDocument(report, flags.output, out);
  }
  return Print(env, out, report["kept"].get<bool>() ? kExitDone : kExitNotAllScheduled);
}

// Of a library that the loader refuses.
Json RefusedReport(const std::string& path, const LoadError& error) {
  return {{"library", path},
          {"kept", false},
          {"findings",
           {{{"promise", kLibraryPromise},
             {"code", LoadErrorName(error.code)},
             {"text", error.ToString()}}}},
          {"plugins", Json::array()}};
}

// create() wants other arguments, and says which.
Status NotCreated(const std::string& plugin, const std::string& answer) {
  return Status::InvalidArgument(plugin + ": create answers " + answer +
                                 "\nname arguments that it takes: --args '{\"key\": value}'; "
                                 "berth plugin describe shows them");
}

}  // namespace

int RunPluginCheck(const PluginCheckFlags& flags, CommandEnvironment& env) {
  const Result<std::string> args = ParseArgs(flags.args);
  if (!args.ok()) return Fail(env, args.status());
  PluginSet plugins(env.temporary_directory);
  const auto library = plugins.AddLibrary(flags.library);
  if (!library.ok() && IsBadInput(library.error())) return Fail(env, library.error().ToStatus());
  if (!library.ok()) return PrintReport(RefusedReport(flags.library, library.error()), flags, env);

  Json reports = Json::array();
  bool kept = true;
  for (const PluginInfo& info : (*library)->description().plugins) {
    const ContractSubject subject{&(*library)->entry(), info.name, *args};
    const auto findings = CheckContractApart(subject, env.steady_ns);
    if (!findings.ok()) return Fail(env, findings.status());
    const auto created = std::ranges::find(*findings, kNotCreated, &ContractFinding::promise);
    if (created != findings->end()) return Fail(env, NotCreated(info.name, created->text));
    kept = kept && findings->empty();
    reports.push_back(ReportOf(info, *findings));
  }
  return PrintReport({{"library", (*library)->description().path},
                      {"kept", kept},
                      {"findings", Json::array()},
                      {"plugins", std::move(reports)}},
                     flags, env);
}

}  // namespace berth::host
