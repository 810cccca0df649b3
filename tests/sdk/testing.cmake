# Tests the test kit (sdk/include/berth/testing) with plugins that violate one rule each, and with
# one plugin that is built by several compilers, in C and C++, and loaded as a shared object.
berth_gtest(sdk_testing_test
  SOURCES testing_api_test.cc testing_as_host_test.cc testing_promises_test.cc
          testing_attempt_test.cc testing_builders_test.cc testing_changed_test.cc
          testing_cluster_test.cc testing_fields_test.cc testing_http_test.cc testing_ids_test.cc
          testing_kit_test.cc
          testing_plugins.cc
          testing_points_test.cc testing_profile_test.cc testing_queue_sort_test.cc
          testing_scheduling_test.cc testing_services_test.cc testing_state_test.cc
          testing_whole_filter_test.cc testing_words_test.cc
  DEPENDS berth::testing
  LABELS unit threads)

# The samples of sdk/testing.md, sdk/services.md and sdk/README.md. Each defines plugins for its own
# process.
foreach(guide IN ITEMS reload services testing)
  berth_gtest(sdk_${guide}_guide_test
    SOURCES ${guide}_guide_test.cc
    DEPENDS berth::testing
    LABELS unit)
endforeach()

# These plugins are not installed, so berth_add_plugin() is not used; the link options are the same.
set(test_plugins ${CMAKE_CURRENT_BINARY_DIR}/testing_plugins)
set(test_plugin_script ${PROJECT_SOURCE_DIR}/sdk/cmake/berth_plugin.version)
file(MAKE_DIRECTORY ${test_plugins})

function(testing_plugin name source)
  add_library(testing_${name} MODULE ${source})
  set_target_properties(testing_${name} PROPERTIES
    OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${test_plugins}
    LINK_DEPENDS ${test_plugin_script})
  target_link_libraries(testing_${name} PRIVATE berth::sdk berth_warnings)
  target_compile_options(testing_${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(testing_${name} PRIVATE LINKER:-z,now,-z,relro LINKER:--exclude-libs,ALL
                      LINKER:--version-script=${test_plugin_script})
endfunction()

testing_plugin(c_host_compiler c_plugin.c)
testing_plugin(cpp_host_compiler cpp_plugin.cc)

# foreign_plugin(<name> <source> <compiler> <option>...): builds a plugin with another compiler than
# this build uses.
set(foreign_plugins)
function(foreign_plugin name source compiler)
  set(library ${test_plugins}/lib${name}.so)
  add_custom_command(
    OUTPUT ${library}
    COMMAND ${compiler} ${ARGN} -O1 -g1 -fPIC -shared -fvisibility=hidden
            -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror
            -I${PROJECT_SOURCE_DIR}/sdk/include ${CMAKE_CURRENT_SOURCE_DIR}/${source}
            -Wl,-z,defs,-z,now,-z,relro -Wl,--version-script=${test_plugin_script}
            -MD -MF ${library}.d -o ${library}
    DEPENDS ${source} ${test_plugin_script}
    DEPFILE ${library}.d
    COMMENT "Building ${name} with ${compiler}"
    VERBATIM)
  set(foreign_plugins ${foreign_plugins} ${library} PARENT_SCOPE)
endfunction()

find_program(BERTH_CLANG NAMES clang clang-14)
find_program(BERTH_CLANGXX NAMES clang++ clang++-14)
if(BERTH_CLANG)
  foreign_plugin(c_clang c_plugin.c ${BERTH_CLANG} -std=c11)
endif()
if(BERTH_CLANGXX)
  foreign_plugin(cpp_clang_libstdcxx cpp_plugin.cc ${BERTH_CLANGXX} -std=c++20)
  # The headers and the library of libc++ are separate packages.
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/libcxx.cc "#include <string>\nint main() { return 0; }\n")
  execute_process(
    COMMAND ${BERTH_CLANGXX} -std=c++20 -stdlib=libc++ ${CMAKE_CURRENT_BINARY_DIR}/libcxx.cc
            -o ${CMAKE_CURRENT_BINARY_DIR}/libcxx
    RESULT_VARIABLE no_libcxx OUTPUT_QUIET ERROR_QUIET)
  if(no_libcxx EQUAL 0)
    foreign_plugin(cpp_clang_libcxx cpp_plugin.cc ${BERTH_CLANGXX} -std=c++20 -stdlib=libc++)
  endif()
endif()
add_custom_target(testing_foreign_plugins DEPENDS ${foreign_plugins})

berth_gtest(sdk_testing_library_test
  SOURCES testing_library_test.cc
  DEPENDS berth::testing
  LABELS unit loader)
target_compile_definitions(sdk_testing_library_test
                           PRIVATE BERTH_TEST_PLUGINS="${test_plugins}")
add_dependencies(sdk_testing_library_test testing_c_host_compiler testing_cpp_host_compiler
                 testing_foreign_plugins)
