// expected: FilterChanged has the wrong signature; expected
#include "tests/sdk/must_not_compile/sample.h"

class Sample : public Filtering {
 public:
  static constexpr berth::Dependence kFilterDependence{.cluster = berth::kOther, .pod_parts = 0};
#ifdef BAD
  berth::Stale FilterChanged(const berth::Cycle& /*cycle*/, uint64_t token,
                             berth::RowSink& rows) const {
    rows.Put(static_cast<uint32_t>(token));
    return berth::Stale::kRows;
  }
#else
  berth::Stale FilterChanged(const berth::Cycle& /*cycle*/, uint64_t& token,
                             berth::RowSink& rows) const {
    rows.Put(static_cast<uint32_t>(token));
    return berth::Stale::kRows;
  }
#endif
};
BERTH_PLUGIN(Sample)
