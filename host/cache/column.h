// Columns of the node table: one array per fact about nodes, with one value per row. <berth/abi.h>
// lists the column names; this file turns a name into a rule that computes the column's values.
#ifndef BERTH_HOST_CACHE_COLUMN_H_
#define BERTH_HOST_CACHE_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <berth/abi.h>

#include "host/base/interner.h"
#include "host/base/status.h"

namespace berth::host {

// The rule that computes a column's values.
enum class ColumnRule : uint8_t {
  kName,
  kUnschedulable,
  kAllocCpu,
  kAllocMemory,
  kAllocEphemeralStorage,
  kAllocPods,
  kAllocScalar,
  kTaints,
  kTaintsHard,
  kTaintsSoft,
  kLabel,
  kImages,
  kFeatures,
  kAnnotation,
  kObject,
  // The following rules are sums over the node's pods, all of type I64.
  kReqCpu,
  kReqMemory,
  kReqEphemeralStorage,
  kReqScalar,
  kNonzeroCpu,
  kNonzeroMemory,
  kPodsCount,
  kHostPort,
};

// A parsed column name. It holds a reference to the interned id of its resource or label key.
class ColumnSpec {
 public:
  // Parses a column name. Errors: NotFound when there is no such column; the message lists the
  // accepted forms.
  static Result<ColumnSpec> Parse(std::string_view name, Interner& interner);

  ColumnRule rule() const { return rule_; }
  uint32_t type() const { return type_; }  // BERTH_TYPE_*
  // Returns the size of one value in bytes.
  uint32_t width() const;
  // Returns true for sums over pods, whose values change when a pod is added or removed.
  bool is_pod_sum() const { return rule_ >= ColumnRule::kReqCpu; }
  // Returns the resource whose amounts the column has, unless it is cpu, memory, ephemeral storage
  // or pods; no value for a column of anything else.
  std::optional<Id> scalar() const {
    const bool is_scalar = rule_ == ColumnRule::kAllocScalar || rule_ == ColumnRule::kReqScalar;
    return is_scalar ? std::optional<Id>(argument_) : std::nullopt;
  }
  // Returns true for a column of objects, whose values the node alone does not determine.
  bool is_object() const { return rule_ == ColumnRule::kObject; }
  // Returns the canonical spelling of the name: "alloc.cpu" for "alloc:cpu".
  const std::string& name() const { return name_; }
  // Returns the part of the name after the colon: the key of an annotation, the kind of an object.
  std::string_view argument() const { return std::string_view(name_).substr(name_.find(':') + 1); }

  // Writes the node's value to `out`, which has width() bytes. REQUIRES: !is_pod_sum() and
  // !is_object().
  void NodeValue(const berth_node& node, void* out) const;
  // Returns the amount, 0 or more, that a pod adds to its node's value.
  // REQUIRES: is_pod_sum(), and the pod's host_ports are sorted by host_port, as the decoder
  //           returns them.
  int64_t PodAmount(const berth_pod& pod) const;
  // Returns the value of a node with these pods: the sum of their amounts, limited to kMaxAmount.
  // REQUIRES: is_pod_sum().
  int64_t SumOver(std::span<const berth_pod* const> pods) const;

 private:
  ColumnSpec(ColumnRule rule, uint32_t type, std::string name, Interner& interner);

  // Parses the part after the colon. Returns false if it is not valid for the rule.
  bool ReadArgument(std::string_view text);
  bool ReadHostPort(std::string_view text);
  int64_t CountUses(std::span<const berth_port> ports) const;

  ColumnRule rule_;
  uint32_t type_;
  Id argument_ = kNoId;  // Resource name, label key, or a host port's address; kNoId: all of them.
  Id every_address_ = kNoId;
  uint32_t protocol_ = 0;
  int32_t port_ = 0;
  std::string name_;
  IdRefs ids_;
};

// Returns the kind, as a plugin declares it, of a column "object:<kind>"; empty for another column.
std::string_view ObjectKindOf(std::string_view column);

// Returns the amount of a scalar resource; 0 when it is not listed.
int64_t ScalarAmount(const berth_resources& resources, Id name);

// Zero-initialised memory for one value per row, aligned to a cache line. It is empty until the
// first Resize().
class ColumnStorage {
 public:
  explicit ColumnStorage(uint32_t width) : width_(width) {}

  bool empty() const { return capacity_ == 0; }
  void Resize(uint32_t rows);
  void* At(uint32_t row) { return data_ + size_t{row} * width_; }
  const void* At(uint32_t row) const { return data_ + size_t{row} * width_; }
  void Clear(uint32_t row);
  uint32_t width() const { return width_; }
  size_t bytes() const { return size_t{capacity_} * width_; }

 private:
  static constexpr size_t kCacheLine = 64;

  uint32_t width_;
  uint32_t capacity_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::byte* data_ = nullptr;  // The first aligned byte of memory_.
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_COLUMN_H_
