#include "host/cli/doctor_output.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::host {
namespace {

using Json = nlohmann::ordered_json;

std::string_view ResultName(DoctorFinding::Level level) {
  switch (level) {
    case DoctorFinding::Level::kOk: return "ok";
    case DoctorFinding::Level::kNote: return "note";
    case DoctorFinding::Level::kWarning: return "warning";
    case DoctorFinding::Level::kFailure: return "failed";
  }
  return "";
}

std::string FoundText(const DoctorFinding& finding) {
  return finding.fix.empty() ? finding.found : finding.found + "; " + finding.fix;
}

// Appends the lines of a text. Its control characters cannot reach the terminal.
void AppendLines(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.append(Printable(text.substr(0, end))).append(1, '\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

Json DoctorDocument(const DoctorReport& report) {
  Json findings = Json::array();
  for (const DoctorFinding& finding : report.findings) {
    findings.push_back({{"check", finding.check},
                        {"result", ResultName(finding.level)},
                        {"found", finding.found},
                        {"fix", finding.fix}});
  }
  return {{"failed", report.has_failure()},
          {"server", report.server},
          {"user", report.user},
          {"findings", std::move(findings)},
          {"missingRoles", report.missing_roles}};
}

void AppendDoctorTable(const DoctorReport& report, TerminalWidth width, std::string& out) {
  Table table({"CHECK", "RESULT", "FOUND"});
  for (const DoctorFinding& finding : report.findings) {
    const bool is_failure = finding.level == DoctorFinding::Level::kFailure;
    table.AddRow({finding.check, is_failure ? "FAILED" : std::string(ResultName(finding.level)),
                  FoundText(finding)});
  }
  table.Append(width, out);
  if (report.missing_roles.empty()) return;
  // The shell must not replace anything in the text, and must find its end in the first column.
  out += "\nAdd the missing rules:\nkubectl apply -f - <<'EOF'\n";
  AppendLines(report.missing_roles, out);
  out += "EOF\n";
}

}  // namespace berth::host
