# What Berth's own tree needs, and a third party does not: warnings, sanitizers, the compiler cache,
# precompiled headers, and the shape of a host library and of a test.
include_guard(GLOBAL)

# --- warnings ------------------------------------------------------------------------------------
add_library(berth_warnings INTERFACE)
target_compile_options(berth_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${BERTH_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 finds these in std::string's own code once it is inlined (GCC bug 105651); the sanitizer
  # builds look for the real ones.
  target_compile_options(berth_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds
                         -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
endif()
if(BERTH_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC sees uninitialised reads in its own instrumentation; the plain builds keep the warning.
  target_compile_options(berth_warnings INTERFACE -Wno-maybe-uninitialized)
endif()

# --- sanitizers ----------------------------------------------------------------------------------
if(BERTH_SANITIZE)
  add_compile_options(-fsanitize=${BERTH_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BERTH_SANITIZE})
endif()

# --- compiler cache ------------------------------------------------------------------------------
find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Objects built with a precompiled header are cached only where these two are declared harmless.
  # Paths count relative to the tree, so that another checkout finds the same objects.
  set(CMAKE_C_COMPILER_LAUNCHER
      env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_NOHASHDIR=1 ${BERTH_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
  if(BERTH_PCH)
    add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
                        "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endif()

# --- precompiled headers -------------------------------------------------------------------------
# Two for the whole tree, host_pch and test_pch. Called once, after GTest was found.
function(berth_precompile_headers)
  if(NOT BERTH_PCH)
    return()
  endif()
  set(standard <algorithm> <array> <atomic> <chrono> <compare> <condition_variable> <cstddef>
      <cstdint> <deque> <functional> <limits> <map> <memory> <mutex> <optional> <span> <string>
      <string_view> <thread> <tuple> <type_traits> <unordered_map> <utility> <variant> <vector>)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cc CONTENT "// Carries a precompiled header.\n")
  add_library(host_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cc)
  target_link_libraries(host_pch PRIVATE berth_warnings)
  target_precompile_headers(host_pch PRIVATE ${standard})
  if(BERTH_TESTS)
    add_library(test_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cc)
    target_link_libraries(test_pch PRIVATE berth_warnings GTest::gmock)
    target_precompile_headers(test_pch PRIVATE ${standard} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endfunction()

function(berth_use_pch target pch)
  if(BERTH_PCH)
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# --- host libraries ------------------------------------------------------------------------------
# berth_host_library(<folder> SOURCES <file>... [DEPENDS <target>...])
#
# The static library host_<folder>. Includes are "host/<folder>/<file>.h" and <berth/...>.
function(berth_host_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "berth_host_library(${folder} SOURCES <file>... [DEPENDS <target>...]): "
                        "no sources, or unexpected '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  add_library(host_${folder} STATIC ${arg_SOURCES})
  target_include_directories(host_${folder} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(host_${folder} PUBLIC berth::sdk ${arg_DEPENDS} PRIVATE berth_warnings)
  berth_use_pch(host_${folder} host_pch)
endfunction()

# --- tests ---------------------------------------------------------------------------------------
# The labels of GoogleTest binaries. The target tests_<label> builds those that carry it.
set(BERTH_TEST_LABELS unit plugin loader threads integration conformance simulation)
foreach(label IN LISTS BERTH_TEST_LABELS)
  add_custom_target(tests_${label})
endforeach()

# berth_gtest(<name> SOURCES <file>... DEPENDS <target>... LABELS <label>...)
#
# One GoogleTest binary, one ctest test. For tests/; beside the code, use the two functions below.
function(berth_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES OR NOT arg_LABELS)
    message(FATAL_ERROR "berth_gtest(${name} SOURCES <file>... DEPENDS <target>... "
                        "LABELS <label>...): unexpected '${arg_UNPARSED_ARGUMENTS}', or no "
                        "sources, or no labels")
  endif()
  foreach(label IN LISTS arg_LABELS)
    if(NOT label IN_LIST BERTH_TEST_LABELS)
      message(FATAL_ERROR "${name}: label '${label}' is none of ${BERTH_TEST_LABELS}")
    endif()
    add_dependencies(tests_${label} ${name})
  endforeach()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE berth_warnings ${arg_DEPENDS} GTest::gmock
                        GTest::gtest_main)
  berth_use_pch(${name} test_pch)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
endfunction()

# berth_unit_tests(<name> SOURCES <file>... DEPENDS <target>... [LABELS <label>...])
#
# One GoogleTest binary and one ctest test, labelled `unit` and what LABELS adds: `threads` for what
# starts threads (runs under ThreadSanitizer too), `loader` for what loads shared objects.
function(berth_unit_tests name)
  if(NOT BERTH_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LABELS")
  berth_gtest(${name} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS} LABELS unit ${arg_LABELS}
              ${arg_UNPARSED_ARGUMENTS})
endfunction()

# berth_plugin_tests(<name> [LABELS <label>...])
#
# The unit tests of the plugin <name>, from <name>/*_test.cc, as the binary and ctest test
# <name>_test, labelled `plugin`. They link the plugin's own object files and berth::testing, and
# find what lies beside them in BERTH_PLUGIN_FOLDER.
function(berth_plugin_tests name)
  if(NOT BERTH_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LABELS")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cc)
  if(NOT sources)
    message(FATAL_ERROR "berth_plugin_tests(${name}): no ${name}/*_test.cc")
  endif()
  berth_gtest(${name}_test SOURCES ${sources} $<TARGET_OBJECTS:${name}> DEPENDS berth::testing
              LABELS plugin ${arg_LABELS})
  target_compile_definitions(${name}_test PRIVATE
    BERTH_PLUGIN_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/${name}")
endfunction()
