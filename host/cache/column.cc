#include "host/cache/column.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include <berth/amounts.h>
#include <berth/pod.h>

#include "host/api/objects.h"
#include "host/base/kind_name.h"
#include "host/base/saturating.h"
#include "host/base/text.h"
#include "host/base/vectors.h"

namespace berth::host {
namespace {

// A name, or the part of a name before its argument.
struct KnownName {
  std::string_view name;
  ColumnRule rule;
  uint32_t type;
};

constexpr std::array kFixedNames{
    KnownName{"name", ColumnRule::kName, BERTH_TYPE_ID},
    KnownName{"unschedulable", ColumnRule::kUnschedulable, BERTH_TYPE_U8},
    KnownName{"alloc.cpu", ColumnRule::kAllocCpu, BERTH_TYPE_I64},
    KnownName{"alloc.memory", ColumnRule::kAllocMemory, BERTH_TYPE_I64},
    KnownName{"alloc.ephemeral-storage", ColumnRule::kAllocEphemeralStorage, BERTH_TYPE_I64},
    KnownName{"alloc.pods", ColumnRule::kAllocPods, BERTH_TYPE_I64},
    KnownName{"req.cpu", ColumnRule::kReqCpu, BERTH_TYPE_I64},
    KnownName{"req.memory", ColumnRule::kReqMemory, BERTH_TYPE_I64},
    KnownName{"req.ephemeral-storage", ColumnRule::kReqEphemeralStorage, BERTH_TYPE_I64},
    KnownName{"nonzero.cpu", ColumnRule::kNonzeroCpu, BERTH_TYPE_I64},
    KnownName{"nonzero.memory", ColumnRule::kNonzeroMemory, BERTH_TYPE_I64},
    KnownName{"pods.count", ColumnRule::kPodsCount, BERTH_TYPE_I64},
    KnownName{"taints", ColumnRule::kTaints, BERTH_TYPE_ARRAY},
    KnownName{"taints.hard", ColumnRule::kTaintsHard, BERTH_TYPE_U32},
    KnownName{"taints.soft", ColumnRule::kTaintsSoft, BERTH_TYPE_U32},
    KnownName{"images", ColumnRule::kImages, BERTH_TYPE_ARRAY},
    KnownName{"features", ColumnRule::kFeatures, BERTH_TYPE_ARRAY},
};

constexpr std::string_view kObjectPrefix = "object:";

constexpr std::array kPrefixes{
    KnownName{"alloc:", ColumnRule::kAllocScalar, BERTH_TYPE_I64},
    KnownName{"req:", ColumnRule::kReqScalar, BERTH_TYPE_I64},
    KnownName{"label:", ColumnRule::kLabel, BERTH_TYPE_ID},
    KnownName{"hostport:", ColumnRule::kHostPort, BERTH_TYPE_I64},
    KnownName{"annotation:", ColumnRule::kAnnotation, BERTH_TYPE_STR},
    KnownName{kObjectPrefix, ColumnRule::kObject, BERTH_TYPE_OBJECT},
};

constexpr std::array kProtocols{
    std::pair<std::string_view, uint32_t>{"TCP/", BERTH_PROTOCOL_TCP},
    std::pair<std::string_view, uint32_t>{"UDP/", BERTH_PROTOCOL_UDP},
    std::pair<std::string_view, uint32_t>{"SCTP/", BERTH_PROTOCOL_SCTP},
};

// Returns the canonical name: "alloc:cpu" and "req:memory" name resources that have a column of
// their own. "req:pods" becomes "req.pods", which does not exist: the number of pods is pods.count.
std::string Canonical(std::string_view name) {
  constexpr std::array<std::string_view, 4> kOwnColumn{"cpu", "memory", "ephemeral-storage",
                                                       "pods"};
  std::string canonical(name);
  const size_t colon = name.find(':');
  const std::string_view family = name.substr(0, colon);
  if (colon == std::string_view::npos || (family != "alloc" && family != "req")) return canonical;
  if (std::ranges::find(kOwnColumn, name.substr(colon + 1)) != kOwnColumn.end()) {
    canonical[colon] = '.';
  }
  return canonical;
}

template <class T>
void Store(void* out, T value) {
  std::memcpy(out, &value, sizeof(value));
}

uint32_t CountTaints(const berth_node& node, bool soft) {
  uint32_t count = 0;
  for (const berth_taint& taint : Elements<berth_taint>(node.taints)) {
    count += (taint.effect == BERTH_EFFECT_PREFER_NO_SCHEDULE) == soft;
  }
  return count;
}

berth_str AnnotationOf(const berth_node& node, std::string_view key) {
  const auto value = FindAnnotation(Annotations(node.meta->annotations), key);
  return value.has_value() ? AsStr(*value) : berth_str{};
}

}  // namespace

std::string_view ObjectKindOf(std::string_view column) {
  return column.starts_with(kObjectPrefix) ? column.substr(kObjectPrefix.size())
                                           : std::string_view();
}

int64_t ScalarAmount(const berth_resources& resources, Id name) {
  return FindAmount(resources, name);
}

ColumnSpec::ColumnSpec(ColumnRule rule, uint32_t type, std::string name, Interner& interner)
    : rule_(rule), type_(type), name_(std::move(name)), ids_(interner) {}

Result<ColumnSpec> ColumnSpec::Parse(std::string_view name, Interner& interner) {
  std::string canonical = Canonical(name);
  for (const KnownName& known : kFixedNames) {
    if (known.name == canonical) {
      return ColumnSpec(known.rule, known.type, std::move(canonical), interner);
    }
  }
  for (const KnownName& known : kPrefixes) {
    if (!canonical.starts_with(known.name) || canonical.size() == known.name.size()) continue;
    ColumnSpec spec(known.rule, known.type, std::move(canonical), interner);
    if (spec.ReadArgument(spec.argument())) return spec;
    break;
  }
  return Status::NotFound("no column \"" + std::string(name) +
                          "\": expected a name of the catalogue in berth/abi.h, "
                          "alloc:<resource>, req:<resource>, label:<key>, annotation:<key>, "
                          "object:<kind> or hostport:<protocol>/<port>[/<address>]");
}

bool ColumnSpec::ReadArgument(std::string_view text) {
  if (rule_ == ColumnRule::kHostPort) return ReadHostPort(text);
  if (rule_ == ColumnRule::kObject) return WhyNotDeclarable(text).empty();
  if (rule_ == ColumnRule::kAnnotation) return true;
  argument_ = ids_.Intern(text);
  return true;
}

// Accepts one spelling of each part only: two spellings would be two columns.
bool ColumnSpec::ReadHostPort(std::string_view text) {
  for (const auto& [prefix, protocol] : kProtocols) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    protocol_ = protocol;
    const size_t slash = text.find('/');
    const std::string_view number = text.substr(0, slash);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), port_);
    if (error != std::errc() || port_ <= 0 || number != std::to_string(port_)) return false;
    every_address_ = ids_.Intern("0.0.0.0");
    if (slash == text.npos) return true;
    const std::string_view address = text.substr(slash + 1);
    argument_ = ids_.Intern(address);
    return !address.empty() && argument_ != every_address_;
  }
  return false;
}

// (kube-scheduler: framework/types.go, HostPortInfo.CheckConflict)
int64_t ColumnSpec::CountUses(std::span<const berth_port> ports) const {
  auto port = std::ranges::lower_bound(ports, port_, {}, &berth_port::host_port);
  int64_t uses = 0;
  for (; port != ports.end() && port->host_port == port_; ++port) {
    if (port->protocol != protocol_) continue;
    const bool at_all = port->host_ip == kNoId || port->host_ip == every_address_;
    if (at_all || argument_ == kNoId || port->host_ip == argument_) ++uses;
  }
  return uses;
}

uint32_t ColumnSpec::width() const {
  switch (type_) {
    case BERTH_TYPE_I64: return sizeof(int64_t);
    case BERTH_TYPE_U32: return sizeof(uint32_t);
    case BERTH_TYPE_ID: return sizeof(berth_id);
    case BERTH_TYPE_U8: return sizeof(uint8_t);
    case BERTH_TYPE_OBJECT: return sizeof(const berth_object*);
    case BERTH_TYPE_STR: return sizeof(berth_str);
    default: return sizeof(berth_array);
  }
}

void ColumnSpec::NodeValue(const berth_node& node, void* out) const {
  switch (rule_) {
    case ColumnRule::kName: return Store<berth_id>(out, node.name);
    case ColumnRule::kUnschedulable: return Store<uint8_t>(out, node.unschedulable != 0);
    case ColumnRule::kAllocCpu: return Store<int64_t>(out, node.allocatable->milli_cpu);
    case ColumnRule::kAllocMemory: return Store<int64_t>(out, node.allocatable->memory);
    case ColumnRule::kAllocEphemeralStorage:
      return Store<int64_t>(out, node.allocatable->ephemeral_storage);
    case ColumnRule::kAllocPods: return Store<int64_t>(out, node.allocatable->pods);
    case ColumnRule::kAllocScalar:
      return Store<int64_t>(out, ScalarAmount(*node.allocatable, argument_));
    case ColumnRule::kTaints: return Store<berth_array>(out, node.taints);
    case ColumnRule::kTaintsHard: return Store<uint32_t>(out, CountTaints(node, false));
    case ColumnRule::kTaintsSoft: return Store<uint32_t>(out, CountTaints(node, true));
    case ColumnRule::kLabel: return Store<berth_id>(out, FindValue(node.meta->labels, argument_));
    case ColumnRule::kImages: return Store<berth_array>(out, node.images);
    case ColumnRule::kFeatures: return Store<berth_array>(out, node.declared_features);
    case ColumnRule::kAnnotation: return Store<berth_str>(out, AnnotationOf(node, argument()));
    default: BERTH_ASSERT_MSG(false, "column %s is not a part of the node", name_.c_str());
  }
}

int64_t ColumnSpec::PodAmount(const berth_pod& pod) const {
  switch (rule_) {
    case ColumnRule::kReqCpu: return pod.accounted->milli_cpu;
    case ColumnRule::kReqMemory: return pod.accounted->memory;
    case ColumnRule::kReqEphemeralStorage: return pod.accounted->ephemeral_storage;
    case ColumnRule::kReqScalar: return ScalarAmount(*pod.accounted, argument_);
    case ColumnRule::kNonzeroCpu: return pod.nonzero_milli_cpu;
    case ColumnRule::kNonzeroMemory: return pod.nonzero_memory;
    case ColumnRule::kPodsCount: return 1;
    case ColumnRule::kHostPort: return CountUses(Elements<berth_port>(pod.host_ports));
    default: BERTH_ASSERT_MSG(false, "column %s is not a sum over pods", name_.c_str());
  }
}

int64_t ColumnSpec::SumOver(std::span<const berth_pod* const> pods) const {
  int64_t sum = 0;
  for (const berth_pod* pod : pods) sum = AddAmounts(sum, PodAmount(*pod));
  return sum;
}

void ColumnStorage::Resize(uint32_t rows) {
  if (rows <= capacity_) return;
  const auto capacity = std::max(rows, static_cast<uint32_t>(GrownCapacity(capacity_)));
  const size_t used = size_t{capacity_} * width_;
  const size_t size = size_t{capacity} * width_;
  // Aligned by hand, because glibc frees small aligned memory more slowly.
  size_t space = size + kCacheLine - 1;
  std::unique_ptr<std::byte[]> memory(new std::byte[space]);
  void* first = memory.get();
  std::byte* data = static_cast<std::byte*>(std::align(kCacheLine, size, first, space));
  if (used > 0) std::memcpy(data, data_, used);
  std::memset(data + used, 0, size - used);
  memory_ = std::move(memory);
  data_ = data;
  capacity_ = capacity;
}

void ColumnStorage::Clear(uint32_t row) { std::memset(At(row), 0, width_); }

}  // namespace berth::host
