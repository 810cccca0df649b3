// Status: what a method outside the blocks answers: a code and why.
// Verdict: what Filter answers for one node: a code and a set of reasons from the plugin's table.
// Error:   the exception for what cannot go on.
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

// A code and any number of reasons. Success carries none and costs no allocation.
//
// What the host does with a code stands at the extension point that returns it. Texts should be
// constant, without the name of a pod or node, so that equal ones can be counted over nodes:
// "Insufficient cpu", not "node a7 has only 3 cpus".
class [[nodiscard]] Status {
 public:
  Status() = default;
  explicit Status(berth_code code) : code_(code) {}
  Status(berth_code code, std::string_view reason) : code_(code) { Add(reason); }

  static Status Success() { return Status(); }
  // It could not be worked out: the pod backs off and is tried again.
  static Status Error(std::string_view reason) { return {BERTH_ERROR, reason}; }
  // No; removing pods may help.
  static Status Unschedulable(std::string_view reason) { return {BERTH_UNSCHEDULABLE, reason}; }
  // No; removing pods does not help. Kubernetes' UnschedulableAndUnresolvable.
  static Status Unresolvable(std::string_view reason) {
    return {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, reason};
  }
  // Permit only: hold the pod.
  static Status Wait(std::string_view reason = {}) { return {BERTH_WAIT, reason}; }
  // Nothing to do here for this pod.
  static Status Skip() { return Status(BERTH_SKIP); }
  // No, until something outside happens; of Bind and PreBind: completed later.
  static Status Pending(std::string_view reason = {}) { return {BERTH_PENDING, reason}; }
  // The caller stopped waiting; see Cycle::canceled.
  static Status Cancelled() { return Status(BERTH_CANCELLED); }

  bool ok() const { return code_ == BERTH_SUCCESS; }
  berth_code code() const { return code_; }
  const std::vector<std::string>& reasons() const { return reasons_; }

  // Adds one more reason; an empty one is dropped.
  Status& Add(std::string_view reason) {
    if (!reason.empty()) reasons_.emplace_back(reason);
    return *this;
  }

 private:
  berth_code code_ = BERTH_SUCCESS;
  std::vector<std::string> reasons_;
};

// Thrown by a plugin, and by this layer for a broken precondition: the call answers BERTH_ERROR
// with the text. Anything else that leaves a method answers BERTH_BUG and counts against the
// plugin, but for std::bad_alloc, which answers BERTH_ERROR.
class Error : public std::exception {
 public:
  explicit Error(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

// The answer for one node. Reasons are bits: bit i stands for entry i of the plugin's kReasons, or
// for what PreFilterOut::AddReason gave. Verdicts are joined with `|`: all reasons, the gravest
// code.
struct Verdict {
  uint8_t code = BERTH_SUCCESS;
  uint64_t reasons = 0;

  constexpr bool ok() const { return code == BERTH_SUCCESS; }
  friend constexpr bool operator==(const Verdict&, const Verdict&) = default;
  friend constexpr Verdict operator|(Verdict a, Verdict b) {
    return {Rank(a.code) >= Rank(b.code) ? a.code : b.code, a.reasons | b.reasons};
  }

 private:
  // An error outweighs every refusal.
  static constexpr unsigned Rank(uint8_t code) { return code == BERTH_ERROR ? 0x100U : code; }
};

inline constexpr Verdict kPass{};

namespace internal {

// No bit for a negative number, which is a reason that found no place in the table.
constexpr uint64_t ReasonBit(int reason) {
  return reason < 0 ? 0 : uint64_t{1} << (static_cast<unsigned>(reason) & 63U);
}

}  // namespace internal

// No; removing pods from the node may help.
template <class... Reason>
constexpr Verdict Unschedulable(Reason... reason) {
  return {BERTH_UNSCHEDULABLE, (uint64_t{0} | ... | internal::ReasonBit(reason))};
}
// No; removing pods from the node does not help.
template <class... Reason>
constexpr Verdict Unresolvable(Reason... reason) {
  return {BERTH_UNSCHEDULABLE_AND_UNRESOLVABLE, (uint64_t{0} | ... | internal::ReasonBit(reason))};
}
// No, until something outside happens.
template <class... Reason>
constexpr Verdict Pending(Reason... reason) {
  return {BERTH_PENDING, (uint64_t{0} | ... | internal::ReasonBit(reason))};
}
// It could not be worked out for this node: the cycle fails.
template <class... Reason>
constexpr Verdict Failed(Reason... reason) {
  return {BERTH_ERROR, (uint64_t{0} | ... | internal::ReasonBit(reason))};
}
// The same for a condition, without a branch: UnschedulableIf(free < wanted, kNoCpu) | ...
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
