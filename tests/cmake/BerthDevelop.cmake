# Build settings and functions for Berth's own tree, which third parties do not need: warnings,
# sanitizers, the compiler cache, precompiled headers, host libraries and tests.
include_guard(GLOBAL)

# --- warnings ------------------------------------------------------------------------------------
add_library(berth_warnings INTERFACE)
if(BERTH_WARNINGS)
  target_compile_options(berth_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${BERTH_WERROR}>:-Werror>)
else()
  target_compile_options(berth_warnings INTERFACE -w)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports false positives in inlined std::string code (GCC bug 105651). The sanitizer
  # builds find real errors of this kind.
  target_compile_options(berth_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds
                         -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
endif()
if(BERTH_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC reports uninitialised reads in its own instrumentation. Builds without sanitizers keep the
  # warning.
  target_compile_options(berth_warnings INTERFACE -Wno-maybe-uninitialized)
endif()

if(CMAKE_UNITY_BUILD)
  # A name that shadows a name of another file of the same batch is not an error. GCC treats every
  # .cc file of a batch as a header, whose classes must not use an unnamed namespace.
  target_compile_options(berth_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow>
                         $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()

# The files of a test are compiled about as often as they are run, so that optimising them costs more
# time than it saves; so does debug information, except in a debug build. The code that a test tests
# is compiled as the preset says.
add_library(berth_test_options INTERFACE)
target_compile_options(berth_test_options INTERFACE -O0 $<$<NOT:$<CONFIG:Debug>>:-g0>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND BERTH_SANITIZE)
  # GCC defines these macros itself.
  if(BERTH_SANITIZE STREQUAL "thread")
    target_compile_definitions(berth_test_options INTERFACE __SANITIZE_THREAD__)
  elseif(BERTH_SANITIZE MATCHES "address")
    target_compile_definitions(berth_test_options INTERFACE __SANITIZE_ADDRESS__)
  endif()
endif()

# --- linker of tests -----------------------------------------------------------------------------
# lld links the large programs of tests in a fifth of the time. The default linker links the files
# that are installed.
add_library(berth_test_linker INTERFACE)
target_link_libraries(berth_test_options INTERFACE berth_test_linker)
find_program(BERTH_LLD ld.lld)
if(BERTH_LLD)
  target_link_options(berth_test_linker INTERFACE -fuse-ld=lld)
endif()

# --- sanitizers ----------------------------------------------------------------------------------
if(BERTH_SANITIZE)
  add_compile_options(-fsanitize=${BERTH_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BERTH_SANITIZE})
  if(BERTH_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # A plugin must have no undefined symbol, so that it needs the runtime as a shared library. That
    # of ThreadSanitizer ends every process in clang 14; that of clang 16 does not. The check
    # `function` compares types of functions by address, which differ between libraries.
    if(BERTH_SANITIZE STREQUAL "thread")
      set(runtime_name libclang_rt.tsan-x86_64.so)
    else()
      set(runtime_name libclang_rt.asan-x86_64.so)
      add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=function>)
    endif()
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${runtime_name}
                    OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET runtime PARENT_PATH runtime_folder)
    add_link_options(-shared-libsan LINKER:-rpath,${runtime_folder})
  endif()
endif()
if(BERTH_SANITIZE STREQUAL "thread")
  # ThreadSanitizer does not know fences. The locks of Asio order everything without them.
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()

# --- compiler cache ------------------------------------------------------------------------------
# "OFF" uses none: the first build of everything only loses time by it.
find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache only caches objects built with a precompiled header if CCACHE_SLOPPINESS contains
  # pch_defines and time_macros. CCACHE_BASEDIR makes paths relative to the tree, so that another
  # checkout uses the same objects.
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
set(BERTH_STANDARD_HEADERS
    <algorithm> <array> <atomic> <chrono> <compare> <condition_variable> <cstddef> <cstdint> <deque>
    <functional> <limits> <map> <memory> <mutex> <optional> <span> <string> <string_view> <thread>
    <tuple> <type_traits> <unordered_map> <utility> <variant> <vector>)

# berth_add_pch(<name> HEADERS <header>... [DEPENDS <target>...] [OPTIONS <compile option>...])
#
# Precompiles headers for the targets that are given to berth_use_pch with this name. Those targets
# need the same compile options.
function(berth_add_pch name)
  if(NOT BERTH_PCH)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS;DEPENDS;OPTIONS")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pch.cc CONTENT "// Carries a precompiled header.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/pch.cc)
  target_link_libraries(${name} PRIVATE berth_warnings ${arg_DEPENDS})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${arg_HEADERS})
endfunction()

function(berth_use_pch target pch)
  if(BERTH_PCH)
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# --- host libraries ------------------------------------------------------------------------------
# berth_host_library(<folder> SOURCES <file>... [DEPENDS <target>...])
#
# Adds the static library host_<folder>. Its sources include "host/<folder>/<file>.h" and
# <berth/...>.
function(berth_host_library folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR "berth_host_library(${folder} SOURCES <file>... [DEPENDS <target>...]): "
                        "SOURCES is missing, or unexpected arguments '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  add_library(host_${folder} STATIC ${arg_SOURCES})
  target_include_directories(host_${folder} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(host_${folder} PUBLIC berth::sdk ${arg_DEPENDS} PRIVATE berth_warnings)
  # The host has everything that the header declares.
  target_compile_definitions(host_${folder} PRIVATE BERTH_OPTIONAL_MINOR=BERTH_ABI_MINOR)
  berth_use_pch(host_${folder} host_pch)
endfunction()

# --- tests ---------------------------------------------------------------------------------------
# The labels of GoogleTest binaries. The target tests_<label> builds all binaries with the label.
# The tests with the label `commands` run whole commands, most of them hundreds of times.
set(BERTH_TEST_LABELS unit plugin loader threads integration commands conformance simulation)
# A sanitizer build runs the first five seeds, with the numbers 0 to 4, of a test that is instantiated
# for many: the others, which other builds run, reach the same code, and each takes ten times as long.
set(BERTH_TEST_FILTER)
if(BERTH_SANITIZE)
  set(BERTH_TEST_FILTER "GTEST_FILTER=-Seeds/*/5:Seeds/*/6:Seeds/*/7:Seeds/*/8:Seeds/*/9:Seeds/*/??:Seeds/*/???")
endif()
foreach(label IN LISTS BERTH_TEST_LABELS)
  add_custom_target(tests_${label})
endforeach()

# berth_gtest(<name> SOURCES <file>... DEPENDS <target>... LABELS <label>... [SHARDS <count>] [LONG])
#
# Adds a GoogleTest binary as one ctest test, or, with SHARDS, as <count> tests <name>_0, <name>_1
# and so on that share its tests: a test that takes minutes would reach its time limit on a slow
# machine. With LONG, a release build optimises the files of the test, too, because they run for much
# longer than they are compiled. Use it in tests/. For tests beside the code, use the two functions
# below.
function(berth_gtest name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "SHARDS" "SOURCES;DEPENDS;LABELS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES OR NOT arg_LABELS)
    message(FATAL_ERROR "berth_gtest(${name} SOURCES <file>... DEPENDS <target>... "
                        "LABELS <label>... [SHARDS <count>] [LONG]): SOURCES or LABELS is missing, or "
                        "unexpected arguments '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  foreach(label IN LISTS arg_LABELS)
    if(NOT label IN_LIST BERTH_TEST_LABELS)
      message(FATAL_ERROR "${name}: unknown label '${label}'; expected one of ${BERTH_TEST_LABELS}")
    endif()
    add_dependencies(tests_${label} ${name})
  endforeach()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE berth_warnings ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  if(arg_LONG AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_link_libraries(${name} PRIVATE berth_test_linker)
    berth_use_pch(${name} host_pch)
  else()
    target_link_libraries(${name} PRIVATE berth_test_options)
    berth_use_pch(${name} test_pch)
  endif()
  if(NOT arg_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300
      ENVIRONMENT "${BERTH_TEST_FILTER}")
    return()
  endif()
  math(EXPR last "${arg_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}_${shard} COMMAND ${name})
    set_tests_properties(${name}_${shard} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${shard};${BERTH_TEST_FILTER}")
  endforeach()
endfunction()

# berth_unit_tests(<name> SOURCES <file>... DEPENDS <target>... [LABELS <label>...])
#
# Adds a GoogleTest binary as one ctest test with the label `unit` and those of LABELS. Use
# `threads` for tests that start threads (they also run under ThreadSanitizer), and `loader` for
# tests that load shared objects.
function(berth_unit_tests name)
  if(NOT BERTH_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LABELS")
  berth_gtest(${name} SOURCES ${arg_SOURCES} DEPENDS ${arg_DEPENDS} LABELS unit ${arg_LABELS}
              ${arg_UNPARSED_ARGUMENTS})
endfunction()

# berth_plugin_tests(<name> [LABELS <label>...] [SHARDS <count>] [LONG])
#
# Adds the unit tests of the plugin <name>, from <name>/*_test.cc, as the binary and ctest test
# <name>_test with the label `plugin`, or as several ctest tests; see berth_gtest. They link the
# plugin's object files and berth::testing. The macro BERTH_PLUGIN_FOLDER is the path of the
# plugin's folder.
function(berth_plugin_tests name)
  if(NOT BERTH_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "LONG" "SHARDS" "LABELS")
  set(long)
  if(arg_LONG)
    set(long LONG)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cc)
  if(NOT sources)
    message(FATAL_ERROR "berth_plugin_tests(${name}): there is no file ${name}/*_test.cc")
  endif()
  berth_gtest(${name}_test SOURCES ${sources} $<TARGET_OBJECTS:${name}> DEPENDS berth::testing
              LABELS plugin ${arg_LABELS} SHARDS ${arg_SHARDS} ${long})
  # Most plugins have one file of tests. The files of the others use the same short names for
  # different objects.
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD OFF)
  target_compile_definitions(${name}_test PRIVATE
    BERTH_PLUGIN_FOLDER="${CMAKE_CURRENT_SOURCE_DIR}/${name}")
endfunction()
