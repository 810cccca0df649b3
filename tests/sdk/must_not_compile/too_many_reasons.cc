// expected: kReasons: at most 64 reasons

#include "tests/sdk/must_not_compile/sample.h"

#ifdef BAD
constexpr std::size_t kCount = 65;
#else
constexpr std::size_t kCount = 64;
#endif
constexpr berth::Reasons<kCount> ManyReasons() {
  berth::Reasons<kCount> reasons{};
  for (std::string_view& text : reasons.texts) text = "one of many";
  return reasons;
}
class Sample : public Filtering {
 public:
  static constexpr berth::Reasons<kCount> kReasons = ManyReasons();
};
BERTH_PLUGIN(Sample)
