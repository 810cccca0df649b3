#include "host/runtime/metric_store.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "host/api/assert.h"

namespace berth::host {
namespace {

constexpr std::array<double, 15> kDefaultBuckets = {0.001, 0.002, 0.004, 0.008, 0.016,
                                                    0.032, 0.064, 0.128, 0.256, 0.512,
                                                    1.024, 2.048, 4.096, 8.192, 16.384};

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Prometheus' data model: metric names may have colons besides what label names may have.
bool IsName(std::string_view name, bool colons) {
  const auto fits = [colons](char c) { return IsLetter(c) || (colons && c == ':'); };
  return !name.empty() && fits(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return fits(c) || (c >= '0' && c <= '9'); });
}

Status CheckLabels(const MetricFamily& family) {
  std::vector<std::string> names = family.label_names;
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) {
    return Status::InvalidArgument("metric " + family.name + ": a label is named twice");
  }
  for (const std::string& name : names) {
    const bool taken = name == "plugin" || name == "profile" || name.starts_with("__") ||
                       (name == "le" && family.kind == MetricKind::kHistogram);
    if (!IsName(name, false) || taken) {
      return Status::InvalidArgument("metric " + family.name + ": \"" + name +
                                     "\" is no name that a label may have");
    }
  }
  return {};
}

Status Check(const MetricFamily& family) {
  if (!IsName(family.name, true)) {
    return Status::InvalidArgument("\"" + family.name + "\" is no name that a metric may have");
  }
  for (size_t i = 0; i < family.buckets.size(); ++i) {
    const bool rises = i == 0 || family.buckets[i - 1] < family.buckets[i];
    if (!std::isfinite(family.buckets[i]) || !rises) {
      return Status::InvalidArgument("metric " + family.name +
                                     ": buckets must be finite and ascend");
    }
  }
  return CheckLabels(family);
}

}  // namespace

// ---- The store ----------------------------------------------------------------------------------

struct MetricStore::Entry {
  struct Values {
    double value = 0;
    uint64_t count = 0;
    std::vector<uint64_t> bucket_counts;
  };
  // Plugin, profile, label values.
  using Key = std::tuple<std::string, std::string, std::vector<std::string>>;

  MetricFamily family;
  std::string plugin;  // Whose name it is.
  std::map<Key, Values> series;
};

class MetricStore::Metric {
 public:
  Metric(std::shared_ptr<Entry> the_entry, std::string_view the_plugin,
         std::string_view the_profile)
      : entry(std::move(the_entry)), plugin(the_plugin), profile(the_profile) {}

  const std::shared_ptr<Entry> entry;
  const std::string plugin;
  const std::string profile;
};

Result<std::shared_ptr<MetricStore::Metric>> MetricStore::Define(MetricFamily family,
                                                                 std::string_view plugin,
                                                                 std::string_view profile) {
  if (Status status = Check(family); !status.ok()) return status;
  const std::scoped_lock lock(mutex_);
  auto& entry = families_[family.name];
  if (entry != nullptr && entry->family != family) {
    // Who may observe holds it too.
    if (entry->plugin != plugin || entry.use_count() > 1) {
      return Status::AlreadyExists("metric " + family.name + " is defined otherwise by plugin \"" +
                                   entry->plugin + "\"");
    }
    entry = nullptr;  // What it meant is over.
  }
  if (entry == nullptr) {
    entry = std::make_shared<Entry>();
    entry->family = std::move(family);
    entry->plugin = plugin;
  } else if (entry->plugin != plugin) {
    return Status::AlreadyExists("metric " + family.name + " is plugin \"" + entry->plugin +
                                 "\"'s");
  }
  return std::make_shared<Metric>(entry, plugin, profile);
}

void MetricStore::Observe(Metric& metric, std::span<const std::string_view> label_values,
                          double value) {
  Entry& entry = *metric.entry;
  const MetricFamily& family = entry.family;
  BERTH_ASSERT(label_values.size() == family.label_names.size());
  if (std::isnan(value)) return;
  if (family.kind == MetricKind::kCounter && !(value >= 0)) return;
  Entry::Key key(metric.plugin, metric.profile, {label_values.begin(), label_values.end()});
  const std::scoped_lock lock(mutex_);
  auto series = entry.series.find(key);
  if (series == entry.series.end()) {
    if (entry.series.size() >= kMaxSeries) {
      ++dropped_;
      return;
    }
    series = entry.series.try_emplace(std::move(key)).first;
    series->second.bucket_counts.resize(family.buckets.size());
  }
  Entry::Values& values = series->second;
  if (family.kind == MetricKind::kGauge) {
    values.value = value;
    return;
  }
  values.value += value;
  if (family.kind == MetricKind::kCounter) return;
  ++values.count;
  const auto bucket = std::ranges::lower_bound(family.buckets, value);
  if (bucket != family.buckets.end()) {
    ++values.bucket_counts[static_cast<size_t>(bucket - family.buckets.begin())];
  }
}

std::vector<MetricStore::Family> MetricStore::Read() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Family> families;
  families.reserve(families_.size());
  for (const auto& [name, entry] : families_) {
    Family& family = families.emplace_back(Family{entry->family, {}});
    for (const auto& [key, values] : entry->series) {
      const auto& [plugin, profile, label_values] = key;
      family.series.push_back(
          {plugin, profile, label_values, values.value, values.count, values.bucket_counts});
    }
  }
  return families;
}

uint64_t MetricStore::dropped() const {
  const std::scoped_lock lock(mutex_);
  return dropped_;
}

std::span<const double> DefaultBuckets() { return kDefaultBuckets; }

}  // namespace berth::host
