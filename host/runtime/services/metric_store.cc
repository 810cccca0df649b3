#include "host/runtime/services/metric_store.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include "host/base/assert.h"

namespace berth::host {

// --- metric cell ---------------------------------------------------------------------------------

void MetricCell::Observe(double value) {
  if (std::isnan(value)) return;
  if (family_->kind == MetricKind::kGauge) {
    value_.store(value, std::memory_order_relaxed);
    return;
  }
  if (family_->kind == MetricKind::kCounter && value < 0) return;
  value_.fetch_add(value, std::memory_order_relaxed);
  if (family_->kind == MetricKind::kCounter) return;
  const auto bound = std::ranges::lower_bound(family_->buckets, value);
  const auto index = static_cast<size_t>(bound - family_->buckets.begin());
  buckets_[index].fetch_add(1, std::memory_order_relaxed);
}

void MetricCell::Read(MetricTable::Series& series) const {
  const double value = value_.load(std::memory_order_relaxed);
  if (family_->kind != MetricKind::kHistogram) {
    series.value = value;
    return;
  }
  series.histogram.sum = value;
  for (const auto& bucket : buckets_) {
    series.histogram.buckets.push_back(bucket.load(std::memory_order_relaxed));
  }
}

// --- series table --------------------------------------------------------------------------------

uint64_t SeriesTable::Add(std::shared_ptr<MetricCell> cell) {
  const size_t index = size_.load(std::memory_order_relaxed);
  BERTH_ASSERT(index < kMaxSeries);
  if (chunks_ == nullptr) chunks_ = std::make_unique<Chunks>();
  std::unique_ptr<Chunk>& chunk = (*chunks_)[index / kChunk];
  if (chunk == nullptr) chunk = std::make_unique<Chunk>();
  (*chunk)[index % kChunk] = std::move(cell);
  size_.store(index + 1, std::memory_order_release);
  return index + 1;
}

MetricCell* SeriesTable::Find(uint64_t handle) const {
  if (handle == 0 || handle > size()) return nullptr;
  const uint64_t index = handle - 1;
  return (*(*chunks_)[index / kChunk])[index % kChunk].get();
}

// ---- MetricStore --------------------------------------------------------------------------------

struct MetricStore::Entry {
  // Plugin, profile, label values.
  using Key = std::tuple<std::string, std::string, std::vector<std::string>>;

  Entry(MetricFamily the_family, std::string_view the_plugin)
      : family(std::make_shared<const MetricFamily>(std::move(the_family))), plugin(the_plugin) {}

  const std::shared_ptr<const MetricFamily> family;
  const std::string plugin;  // The owner.
  std::map<Key, std::shared_ptr<MetricCell>> series;
  std::atomic<uint32_t> defined = 0;  // How many metrics have not begun.
};

class MetricStore::Metric {
 public:
  Metric(std::shared_ptr<Entry> the_entry, std::string_view the_plugin,
         std::string_view the_profile)
      : entry(std::move(the_entry)), plugin(the_plugin), profile(the_profile) {
    ++entry->defined;
  }
  ~Metric() { Begin(); }
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;

  void Begin() {
    if (!std::exchange(begun_, true)) --entry->defined;
  }

  const std::shared_ptr<Entry> entry;
  const std::string plugin;
  const std::string profile;

 private:
  bool begun_ = false;
};

Status MetricStore::Conflict(const Entry& entry, bool is_other_owner) {
  const std::string metric = "metric " + entry.family->name;
  if (is_other_owner) {
    return Status::AlreadyExists(metric + " is already defined by plugin \"" + entry.plugin + "\"");
  }
  return Status::AlreadyExists(metric + " has another definition in another profile of plugin \"" +
                               entry.plugin + "\"; expected the same definition in every profile");
}

Result<std::shared_ptr<MetricStore::Metric>> MetricStore::Define(MetricFamily family,
                                                                 std::string_view plugin,
                                                                 std::string_view profile) {
  std::string wrong = internal::WrongMetric({.name = family.name,
                                             .is_histogram = family.kind == MetricKind::kHistogram,
                                             .label_names = family.label_names,
                                             .buckets = family.buckets});
  if (!wrong.empty()) return Status::InvalidArgument(std::move(wrong));
  const std::scoped_lock lock(mutex_);
  Name& name = names_[family.name];
  std::shared_ptr<Entry> entry = name.next.lock();
  if (entry == nullptr) entry = name.entry;
  const bool is_other_owner = entry != nullptr && entry->plugin != plugin;
  if (entry != nullptr && (is_other_owner || *entry->family != family)) {
    // The instances that have not begun are those of the profiles that are being loaded.
    if (entry->defined > 0) return Conflict(*entry, is_other_owner);
    entry = nullptr;
  }
  if (entry == nullptr) {
    entry = std::make_shared<Entry>(std::move(family), plugin);
    // Every metric that may observe holds a reference.
    const bool is_used = name.entry != nullptr && name.entry.use_count() > 1;
    if (is_used) {
      name.next = entry;
    } else {
      name.entry = entry;
    }
  }
  return std::make_shared<Metric>(std::move(entry), plugin, profile);
}

void MetricStore::Begin(Metric& metric) {
  const std::scoped_lock lock(mutex_);
  metric.Begin();
  Name& name = names_.find(metric.entry->family->name)->second;
  if (name.next.lock() != metric.entry) return;
  name.entry = metric.entry;
  name.next.reset();
}

Result<std::shared_ptr<MetricCell>> MetricStore::SeriesOf(
    Metric& metric, std::span<const std::string_view> label_values) {
  Entry& entry = *metric.entry;
  BERTH_ASSERT(label_values.size() == entry.family->label_names.size());
  Entry::Key key(metric.plugin, metric.profile, {label_values.begin(), label_values.end()});
  const std::scoped_lock lock(mutex_);
  const auto known = entry.series.find(key);
  if (known != entry.series.end()) return known->second;
  if (entry.series.size() >= kMaxSeries) {
    return Status::OutOfRange("metric " + entry.family->name + " has more than " +
                              std::to_string(kMaxSeries) + " series");
  }
  auto cell = std::make_shared<MetricCell>(entry.family);
  entry.series.emplace(std::move(key), cell);
  return cell;
}

std::vector<MetricTable::Metric> MetricStore::Read() const {
  const std::scoped_lock lock(mutex_);
  std::vector<MetricTable::Metric> metrics;
  metrics.reserve(names_.size());
  for (const auto& [text, name] : names_) {
    const MetricFamily& family = *name.entry->family;
    MetricTable::Metric& metric = metrics.emplace_back();
    metric.kind = family.kind;
    metric.name = family.name;
    metric.help = family.help;
    metric.labels = {"plugin", "profile"};
    std::ranges::copy(family.label_names, std::back_inserter(metric.labels));
    metric.bounds = family.buckets;
    for (const auto& [key, cell] : name.entry->series) {
      const auto& [plugin, profile, label_values] = key;
      MetricTable::Series& series = metric.series.emplace_back();
      series.label_values = {plugin, profile};
      std::ranges::copy(label_values, std::back_inserter(series.label_values));
      cell->Read(series);
    }
  }
  return metrics;
}

std::span<const double> DefaultBuckets() { return internal::kDefaultBuckets; }

}  // namespace berth::host
