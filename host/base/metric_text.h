// The text format of Prometheus, version 0.0.4.
// (prometheus.io/docs/instrumenting/exposition_formats)
#ifndef BERTH_HOST_BASE_METRIC_TEXT_H_
#define BERTH_HOST_BASE_METRIC_TEXT_H_

#include <span>
#include <string>

#include "host/base/metrics.h"

namespace berth::host {

// Returns the shortest text that is read as the same number. Numbers below 1e-4 and from 1e+06 on
// have an exponent, as Go's client of Prometheus writes them (strconv.FormatFloat(value, 'g', -1,
// 64)), so that the label "le" of a bucket is equal to that of kube-scheduler. The other values are
// "+Inf", "-Inf" and "NaN".
std::string FormatMetricNumber(double value);

// Returns the text of metrics, in their order. The labels of a series are in the order of
// Metric::labels.
std::string ToText(std::span<const MetricTable::Metric> metrics);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_METRIC_TEXT_H_
