// The texts that the findings of `berth doctor` consist of.
#ifndef BERTH_HOST_PROCESS_DOCTOR_DOCTOR_TEXT_H_
#define BERTH_HOST_PROCESS_DOCTOR_DOCTOR_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::host {

// Returns a time of at least 0 for people: "3 ms", "7.2s", "51m", "3h", "12d". A time between two
// milliseconds is rounded up, so that no time is "0 ms"; longer ones are rounded down.
std::string ApproximateDuration(int64_t nanoseconds);

// Returns the text with "; " for each line end between two lines.
std::string OneLine(std::string_view text);

}  // namespace berth::host

#endif  // BERTH_HOST_PROCESS_DOCTOR_DOCTOR_TEXT_H_
