// The findings of `berth doctor`.
#ifndef BERTH_HOST_PROCESS_DOCTOR_DOCTOR_REPORT_H_
#define BERTH_HOST_PROCESS_DOCTOR_DOCTOR_REPORT_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace berth::host {

// The result of one check. The texts have no line ends.
struct DoctorFinding {
  enum class Level : uint8_t {
    kOk,
    kNote,     // Nothing is wrong, but the user may not expect it.
    kWarning,  // Berth works, but something is wrong or will be.
    kFailure,  // Berth cannot schedule, or a plugin cannot decide.
  };

  std::string check;  // "connection", "version", "permissions", "clock", "lease", ...
  Level level = Level::kOk;
  std::string found;     // "1.36.2"
  std::string fix = {};  // The next step for the user; empty if there is none.

  friend bool operator==(const DoctorFinding&, const DoctorFinding&) = default;
};

struct DoctorReport {
  std::string server;  // The URL; empty if the configuration could not be read.
  std::string user;    // Empty if the server does not tell.
  std::vector<DoctorFinding> findings;
  std::string missing_roles;  // RBAC objects in YAML; empty if nothing is missing.

  bool has_failure() const {
    return std::ranges::any_of(findings, [](const DoctorFinding& finding) {
      return finding.level == DoctorFinding::Level::kFailure;
    });
  }
};

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_DOCTOR_REPORT_H_
