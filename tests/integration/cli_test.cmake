# The commands with this build's own plugins, found where `berth` finds them.
berth_gtest(cli_test
  SOURCES cli_test.cc
  DEPENDS host_cli yaml-cpp
  LABELS integration)
target_compile_definitions(cli_test PRIVATE
  BERTH_BINARY_DIR="${PROJECT_BINARY_DIR}"
  BERTH_LIBDIR="${CMAKE_INSTALL_LIBDIR}"
  BERTH_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(cli_test default_binder node_name node_resources_balanced_allocation
                 node_resources_fit node_unschedulable priority_sort taint_toleration)
