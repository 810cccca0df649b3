# The test kit (sdk/include/berth/testing), tried on plugins that break one promise each, and on plugins of other
# compilers and languages, loaded as shared objects.
berth_gtest(sdk_testing_test
  SOURCES testing_builders_test.cc testing_kit_test.cc testing_plugins.cc testing_points_test.cc
  DEPENDS berth::testing
  LABELS unit threads)
