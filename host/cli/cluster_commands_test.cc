#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/cli/commands.h"
#include "host/process/doctor/doctor_checks.h"

namespace berth::host {
namespace {

using Level = DoctorFinding::Level;

DoctorReport ReportWith(std::vector<DoctorFinding> findings) {
  DoctorReport report;
  report.server = "https://10.0.0.1:6443";
  report.user = "admin";
  report.findings = std::move(findings);
  return report;
}

std::string TableOf(const DoctorReport& report, TerminalWidth width = std::nullopt) {
  std::string out;
  AppendDoctorTable(report, width, out);
  return out;
}

TEST(DoctorTableTest, HasARowForEachFinding) {
  const DoctorReport report = ReportWith({{"version", Level::kOk, "1.36.2"},
                                          {"lease", Level::kNote, "held", "wait"},
                                          {"clock", Level::kWarning, "5s ahead", "set it"},
                                          {"permissions", Level::kFailure, "1 of 2 is missing"}});
  EXPECT_EQ(TableOf(report),
            "CHECK         RESULT    FOUND\n"
            "version       ok        1.36.2\n"
            "lease         note      held; wait\n"
            "clock         warning   5s ahead; set it\n"
            "permissions   FAILED    1 of 2 is missing\n");
}

TEST(DoctorTableTest, WrapsTheLastColumnOnATerminal) {
  const DoctorReport report =
      ReportWith({{"lease", Level::kNote, "kube-system/kube-scheduler is held by a", "set it"}});
  EXPECT_EQ(TableOf(report, 48),
            "CHECK   RESULT   FOUND\n"
            "lease   note     kube-system/kube-scheduler is\n"
            "                 held by a; set it\n");
}

TEST(DoctorTableTest, PrintsACommandThatAddsTheMissingRules) {
  DoctorReport report = ReportWith({{"permissions", Level::kFailure, "1 of 2 is missing"}});
  report.missing_roles = "kind: ClusterRole\nmetadata:\n  name: berth\n";
  EXPECT_EQ(TableOf(report),
            "CHECK         RESULT   FOUND\n"
            "permissions   FAILED   1 of 2 is missing\n"
            "\n"
            "Add the missing rules:\n"
            "kubectl apply -f - <<'EOF'\n"
            "kind: ClusterRole\n"
            "metadata:\n"
            "  name: berth\n"
            "EOF\n");
}

// The server chooses the name of the user.
TEST(DoctorTableTest, ControlCharactersDoNotReachTheTerminal) {
  DoctorReport report = ReportWith({{"credentials", Level::kOk, "a\x1b[2Jb"}});
  report.missing_roles = "# \x1b[2J\n";
  EXPECT_EQ(TableOf(report).find('\x1b'), std::string::npos);
}

TEST(DoctorDocumentTest, HasEveryFindingAndTheMissingRules) {
  DoctorReport report = ReportWith({{"version", Level::kOk, "1.36.2"},
                                    {"lease", Level::kNote, "held", "wait"},
                                    {"clock", Level::kWarning, "5s ahead"}});
  EXPECT_EQ(DoctorDocument(report), nlohmann::ordered_json::parse(R"({
      "failed": false, "server": "https://10.0.0.1:6443", "user": "admin",
      "findings": [
        {"check": "version", "result": "ok", "found": "1.36.2", "fix": ""},
        {"check": "lease", "result": "note", "found": "held", "fix": "wait"},
        {"check": "clock", "result": "warning", "found": "5s ahead", "fix": ""}],
      "missingRoles": ""})"));
  report.findings.push_back({"permissions", Level::kFailure, "none"});
  report.missing_roles = "kind: ClusterRole\n";
  const nlohmann::ordered_json document = DoctorDocument(report);
  EXPECT_EQ(document["failed"], true);
  EXPECT_EQ(document["findings"][3]["result"], "failed");
  EXPECT_EQ(document["missingRoles"], "kind: ClusterRole\n");
}

}  // namespace
}  // namespace berth::host
