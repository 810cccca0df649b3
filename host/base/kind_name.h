// The names of kinds, as plugins declare them.
#ifndef BERTH_HOST_BASE_KIND_NAME_H_
#define BERTH_HOST_BASE_KIND_NAME_H_

#include <berth/internal/kinds.h>

namespace berth::host {

using internal::HasSeveralVersions;
using internal::KindsOf;
using internal::WhyNotDeclarable;

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_KIND_NAME_H_
