// Columns: one array per fact about nodes, one value per row. The catalogue of names stands in
// <berth/abi.h>; this file turns a name into a rule that computes the column's values.
#ifndef BERTH_HOST_CACHE_COLUMN_H_
#define BERTH_HOST_CACHE_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <berth/abi.h>

#include "host/base/interner.h"
#include "host/base/status.h"

namespace berth::host {

// Which rule of the catalogue a column follows.
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
  // From here on sums over the node's pods, all of type I64.
  kReqCpu,
  kReqMemory,
  kReqEphemeralStorage,
  kReqScalar,
  kNonzeroCpu,
  kNonzeroMemory,
  kPodsCount,
  kHostPort,
};

// A parsed column name. Holds a reference to the id of its resource or label key.
class ColumnSpec {
 public:
  // Errors: NotFound when the catalogue has no such name; the message names the nearest forms.
  static Result<ColumnSpec> Parse(std::string_view name, Interner& interner);

  ColumnRule rule() const { return rule_; }
  uint32_t type() const { return type_; }  // BERTH_TYPE_*
  // Bytes of one value.
  uint32_t width() const;
  // True for sums over pods: the value changes when a pod comes or goes.
  bool of_pods() const { return rule_ >= ColumnRule::kReqCpu; }
  // The one spelling of the name: "alloc:cpu" is "alloc.cpu".
  const std::string& name() const { return name_; }

  // The value for a node. REQUIRES: !of_pods(). `out` has width() bytes.
  void NodeValue(const berth_node& node, void* out) const;
  // What a pod adds to its node's value. REQUIRES: of_pods().
  int64_t PodAmount(const berth_pod& pod) const;

 private:
  ColumnSpec(ColumnRule rule, uint32_t type, std::string name, Interner& interner);

  // What follows the colon. False: the rule takes no such argument.
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

// The amount of a scalar resource; 0 when it is not listed.
int64_t ScalarAmount(const berth_resources& resources, Id name);

// Zeroed memory for one value per row, aligned to a cache line, growing by doubling.
class ColumnStorage {
 public:
  explicit ColumnStorage(uint32_t width) : width_(width) {}

  void Resize(uint32_t rows);
  void* At(uint32_t row) { return data_.get() + size_t{row} * width_; }
  const void* At(uint32_t row) const { return data_.get() + size_t{row} * width_; }
  void Clear(uint32_t row);
  uint32_t width() const { return width_; }
  size_t bytes() const { return size_t{capacity_} * width_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  uint32_t width_;
  uint32_t capacity_ = 0;
  std::unique_ptr<std::byte[], Free> data_;
};

}  // namespace berth::host

#endif  // BERTH_HOST_CACHE_COLUMN_H_
