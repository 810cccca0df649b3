// Helpers for the tests of `berth doctor`.
#ifndef BERTH_HOST_PROCESS_DOCTOR_DOCTOR_TESTING_H_
#define BERTH_HOST_PROCESS_DOCTOR_DOCTOR_TESTING_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "host/base/status.h"
#include "host/http/transport.h"
#include "host/process/doctor/doctor_checks.h"

namespace berth::host {

// Returns an answer of the server.
inline HttpResponse Answer(uint32_t http_status, std::string body = "") {
  HttpResponse response;
  response.delivery = Delivery::kAnswered;
  response.head.http_status = http_status;
  response.body = std::move(body);
  return response;
}

// Returns what a transport answers if the server does not.
inline HttpResponse NoAnswer(Status status) {
  HttpResponse response;
  response.status = std::move(status);
  return response;
}

// Prints a finding in the messages of failed tests.
inline std::ostream& operator<<(std::ostream& out, const DoctorFinding& finding) {
  return out << finding.check << " " << static_cast<int>(finding.level) << " [" << finding.found
             << "] [" << finding.fix << "]";
}

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_DOCTOR_TESTING_H_
