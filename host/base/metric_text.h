// Parts of the text format of Prometheus, version 0.0.4.
// (prometheus.io/docs/instrumenting/exposition_formats)
#ifndef BERTH_HOST_BASE_METRIC_TEXT_H_
#define BERTH_HOST_BASE_METRIC_TEXT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::host {

// Returns the shortest text that is read as the same number. Numbers below 1e-4 and from 1e+06 on
// have an exponent, as Go's client of Prometheus writes them (strconv.FormatFloat(value, 'g', -1,
// 64)), so that the label "le" of a bucket is equal to that of kube-scheduler. The other values are
// "+Inf", "-Inf" and "NaN".
std::string FormatMetricNumber(double value);

// Appends `name="value"` to a list of labels, after a comma if the list is not empty.
void AppendMetricLabel(std::string& labels, std::string_view name, std::string_view value);

// Appends the lines "# HELP" and "# TYPE". `type`: "counter", "gauge" or "histogram".
void AppendMetricHead(std::string& out, std::string_view name, std::string_view help,
                      std::string_view type);

// Appends the line of one value. `labels`: the list that AppendMetricLabel() made; may be empty.
void AppendMetricLine(std::string& out, std::string_view name, std::string_view labels,
                      double value);

// Appends the lines of one histogram: the cumulative buckets, the sum and the count.
// `counts`: the observations in each bucket, not cumulative; the last ones are above every bound.
// REQUIRES: counts.size() == bounds.size() + 1.
void AppendMetricHistogram(std::string& out, std::string_view name, const std::string& labels,
                           std::span<const double> bounds, std::span<const uint64_t> counts,
                           double sum);

}  // namespace berth::host

#endif  // BERTH_HOST_BASE_METRIC_TEXT_H_
