// The values of an object that cannot be read and are skipped.
#ifndef BERTH_HOST_API_DECODE_PROBLEMS_H_
#define BERTH_HOST_API_DECODE_PROBLEMS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/base/status.h"

namespace berth::host {

// Returns "/<segment>", escaped as in a JSON pointer.
std::string PointerSegment(std::string_view segment);

// Why a value cannot be read.
struct DecodeFault {
  ErrorCode code = ErrorCode::kOk;
  std::string path;  // The JSON pointer of the value, from where the reader is.
  std::string message;
};

// Decides whether an error rejects the object, or is a problem of one value, which is skipped.
class DecodeProblems {
 public:
  // The number of problems that are kept; others are counted.
  static constexpr size_t kMaxKept = 8;

  // Begins an object: every error rejects it, until StartSkipping() is called.
  void Clear();
  void StartSkipping() { is_skipping_ = true; }

  // Returns `ok`. If it is false, the error rejects the object: it is malformed JSON, an exceeded
  // limit, or an error in a value that must not be skipped.
  bool Require(bool ok) {
    if (!ok) is_fatal_ = true;
    return ok;
  }
  // Takes the error of a value as a problem. Returns false if the error rejects the object; then
  // `error` is unchanged.
  bool Take(DecodeFault& error);
  // Puts "/<segment>" in front of the paths of the kept problems beginning with number `first`.
  void Place(size_t first, std::string_view segment);

  // Why the first invalid selector of the object is invalid; empty if there was none. An invalid
  // selector is no problem: it matches nothing.
  void SetInvalidSelector(std::string why) { invalid_selector_ = std::move(why); }
  const std::string& invalid_selector() const { return invalid_selector_; }

  bool empty() const { return count_ == 0; }
  size_t count() const { return count_; }
  size_t kept() const { return kept_.size(); }
  // Returns the first problem and clears the others.
  // REQUIRES: !empty()
  DecodeFault TakeFirst();
  // Returns Ok, or kInvalidArgument with "<path>: <message>" for each problem.
  Status ToStatus() const;

 private:
  std::vector<DecodeFault> kept_;
  std::string invalid_selector_;
  size_t count_ = 0;
  bool is_skipping_ = false;
  bool is_fatal_ = false;
};

}  // namespace berth::host

#endif  // BERTH_HOST_API_DECODE_PROBLEMS_H_
