// Status:  the result of a method outside blocks: a code and the reasons for it.
// Verdict: the result of Filter for one node: a code and a set of reasons from the plugin's table.
// Error:   the exception that a plugin throws when a call cannot continue.
#ifndef BERTH_STATUS_H_
#define BERTH_STATUS_H_

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <berth/abi.h>

namespace berth {

// A code and any number of reasons. Success has no reasons and allocates no memory.
//
// The header of each extension point states what the host does with a code. Texts should be
// constant, without the name of a pod or node, so that the host can count equal texts over all
// nodes: "Insufficient cpu", not "node a7 has only 3 cpus".
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(berth_code code) : code_(code) {}
  Status(berth_code code, std::string_view reason) : code_(code) { Add(reason); }

  static Status Success() { return Status(); }
  // No result was determined: the pod backs off and is tried again.
  static Status Error(std::string_view reason) { return {BERTH_ERROR, reason}; }
  // The pod is rejected; removing pods may help.
  static Status Unschedulable(std::string_view reason) { return {BERTH_UNSCHEDULABLE, reason}; }
  // The pod is rejected; removing pods does not help. Kubernetes' UnschedulableAndUnresolvable.
  static Status Unresolvable(std::string_view reason) {
    return {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, reason};
  }
  // Permit only: the pod waits.
  static Status Wait(std::string_view reason = {}) { return {BERTH_WAIT, reason}; }
  // The plugin has nothing to do for this pod.
  static Status Skip() { return Status(BERTH_SKIP); }
  // The pod is rejected until an external event occurs. In Bind and PreBind: completed later.
  static Status Pending(std::string_view reason = {}) { return {BERTH_PENDING, reason}; }
  // The caller stopped waiting; see Cycle::cancelled.
  static Status Cancelled() { return Status(BERTH_CANCELLED); }

  bool ok() const { return code_ == BERTH_SUCCESS; }
  berth_code code() const { return code_; }
  const std::vector<std::string>& reasons() const { return reasons_; }

  // Adds one more reason. An empty reason is dropped.
  Status& Add(std::string_view reason) {
    if (!reason.empty()) reasons_.emplace_back(reason);
    return *this;
  }

 private:
  berth_code code_ = BERTH_SUCCESS;
  std::vector<std::string> reasons_;
};

// Thrown by a plugin, and by the SDK when something is missing that a call requires, such as a
// service: the call returns BERTH_ERROR with the text. std::bad_alloc also returns BERTH_ERROR. Any
// other exception that leaves a method returns BERTH_BUG and counts against the plugin. The SDK
// throws std::logic_error for a wrong use of it, such as an index that is out of range.
class Error : public std::exception {
 public:
  explicit Error(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// The result for one node. Reasons are bits: bit i stands for entry i of the plugin's kReasons, or
// for the reason that PreFilterOut::AddReason returned. `a | b` combines verdicts: it has the
// reasons of both and the more severe code.
struct Verdict {
  uint8_t code = BERTH_SUCCESS;
  uint64_t reasons = 0;

  constexpr bool ok() const { return code == BERTH_SUCCESS; }
  friend constexpr bool operator==(const Verdict&, const Verdict&) = default;
  friend constexpr Verdict operator|(Verdict a, Verdict b) {
    return {Rank(a.code) >= Rank(b.code) ? a.code : b.code, a.reasons | b.reasons};
  }

 private:
  // An error is more severe than every rejection.
  static constexpr unsigned Rank(uint8_t code) { return code == BERTH_ERROR ? 0x100U : code; }
};

inline constexpr Verdict kPass{};

namespace internal {

// Returns no bit for a number that is no index into the table, such as -1, which stands for a
// reason that did not fit into it.
constexpr uint64_t ReasonBit(int reason) {
  const auto bit = static_cast<unsigned>(reason);
  return bit > 63U ? 0 : uint64_t{1} << bit;
}

}  // namespace internal

// The node is rejected; removing pods from the node may help.
template <class... Reason>
constexpr Verdict Unschedulable(Reason... reason) {
  return {BERTH_UNSCHEDULABLE, (uint64_t{0} | ... | internal::ReasonBit(reason))};
}
// The node is rejected; removing pods from the node does not help.
template <class... Reason>
constexpr Verdict Unresolvable(Reason... reason) {
  return {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, (uint64_t{0} | ... | internal::ReasonBit(reason))};
}
// The node is rejected until an external event occurs.
template <class... Reason>
constexpr Verdict Pending(Reason... reason) {
  return {BERTH_PENDING, (uint64_t{0} | ... | internal::ReasonBit(reason))};
}
// No result was determined for this node: the cycle fails.
template <class... Reason>
constexpr Verdict Failed(Reason... reason) {
  return {BERTH_ERROR, (uint64_t{0} | ... | internal::ReasonBit(reason))};
}
// Return the verdict for a condition without a branch: UnschedulableIf(free < wanted, kNoCpu) | ...
constexpr Verdict UnschedulableIf(bool condition, int reason) {
  return {static_cast<uint8_t>(condition ? BERTH_UNSCHEDULABLE : BERTH_SUCCESS),
          condition ? internal::ReasonBit(reason) : 0};
}
constexpr Verdict UnresolvableIf(bool condition, int reason) {
  return {static_cast<uint8_t>(condition ? BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE : BERTH_SUCCESS),
          condition ? internal::ReasonBit(reason) : 0};
}

}  // namespace berth

#endif  // BERTH_STATUS_H_
