// Checks that the declarations of a plugin are consistent.
#ifndef BERTH_TESTING_CHECK_SHAPE_H_
#define BERTH_TESTING_CHECK_SHAPE_H_

#include <cstring>
#include <optional>
#include <string>

#include <berth/abi.h>
#include <berth/testing/instance.h>
#include <berth/testing/report.h>

namespace berth::testing {

class ShapeChecker {
 public:
  ShapeChecker(const World& world, Instance& instance);

  void Run();

 private:
  void Expect(bool holds, const std::string& text);

  void CheckEntry();

  void CheckPoints();

  template <class Point, class Function>
  void ExpectPoint(const std::optional<Point>& point, const char* id, Function Point::*function) {
    if (!point) return;
    Expect((*point).*function != nullptr, std::string(id) + " has no function");
    for (const char* const* named = world_.info->points; named != nullptr && *named != nullptr;
         ++named) {
      if (std::strcmp(*named, id) == 0) return;
    }
    Expect(false,
           std::string("get_point returns ") + id + ", which berth_plugin_info does not name");
  }

  void CheckDependence(const char* point, const berth_dependence* dependence);

  void CheckColumns();

  void CheckSlots();

  void CheckReasons();

  const World& world_;
  Instance& instance_;
  berth_plugin& plugin_;
  Reporter& reporter_;
};

}  // namespace berth::testing

#endif  // BERTH_TESTING_CHECK_SHAPE_H_
