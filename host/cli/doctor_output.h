// Writes the report of `berth doctor`.
#ifndef BERTH_HOST_CLI_DOCTOR_OUTPUT_H_
#define BERTH_HOST_CLI_DOCTOR_OUTPUT_H_

#include <string>

#include <nlohmann/json.hpp>

#include "host/cli/output.h"
#include "host/process/doctor/doctor_checks.h"

namespace berth::host {

// Returns the report as json_output.md describes it.
nlohmann::ordered_json DoctorDocument(const DoctorReport& report);

// Appends a row for each finding, with what to do after what was found. If rules are missing, a
// command follows that adds them, ready for a shell.
void AppendDoctorTable(const DoctorReport& report, TerminalWidth width, std::string& out);

}  // namespace berth::host

#endif  // BERTH_HOST_CLI_DOCTOR_OUTPUT_H_
