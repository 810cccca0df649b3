# The index over pods and domains.
berth_gtest(sdk_topology_test
  SOURCES topology_cluster.cc topology_guide_test.cc topology_index_test.cc
          topology_journal_test.cc topology_model.cc topology_parts_test.cc topology_random_test.cc
  DEPENDS berth::testing
  LABELS unit
  LONG)

# The C++ layer (sdk/include/berth/*.h).
berth_gtest(sdk_layer_test
  SOURCES args_errors_test.cc args_test.cc bind_column_test.cc claims_test.cc dependence_test.cc
          guard_test.cc lanes_test.cc near_names_test.cc nodes_test.cc object_codes_test.cc
          points_test.cc pre_enqueue_test.cc selectors_test.cc services_test.cc signer_test.cc
          state_test.cc status_test.cc texts_test.cc values_test.cc
  DEPENDS berth::testing
  LABELS unit)

# The precompiled header of the tests is built with exceptions.
berth_gtest(sdk_no_exceptions_test
  SOURCES no_exceptions_test.cc
  DEPENDS berth::sdk
  LABELS unit)
target_compile_options(sdk_no_exceptions_test PRIVATE -fno-exceptions)
set_target_properties(sdk_no_exceptions_test PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)

find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Each snippet contains one mistake, for which the compiler, or the linker, must print a helpful
# message. The snippets share a precompiled header.
set(snippet_flags -std=c++20 -I${PROJECT_SOURCE_DIR}/sdk/include -I${PROJECT_SOURCE_DIR})
set(sample_header tests/sdk/must_not_compile/sample.h)
set(sample_pch ${CMAKE_CURRENT_BINARY_DIR}/snippets/${sample_header}.gch)
cmake_path(GET sample_pch PARENT_PATH sample_pch_folder)
add_custom_command(
  OUTPUT ${sample_pch}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${sample_pch_folder}
  COMMAND ${CMAKE_CXX_COMPILER} ${snippet_flags} -fPIC -x c++-header
          ${PROJECT_SOURCE_DIR}/${sample_header} -MD -MF ${sample_pch}.d -MT ${sample_pch}
          -o ${sample_pch}
  DEPENDS ${PROJECT_SOURCE_DIR}/${sample_header}
  DEPFILE ${sample_pch}.d
  COMMENT "Precompiling ${sample_header}"
  VERBATIM)
add_custom_target(sdk_snippet_header ALL DEPENDS ${sample_pch})

function(sdk_must_fail kind)
  file(GLOB snippets CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${kind}/*.cc)
  foreach(snippet IN LISTS snippets)
    cmake_path(GET snippet STEM stem)
    add_test(NAME sdk_${kind}_${stem}
             COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/must_not_compile.py ${ARGN}
                     ${snippet} ${CMAKE_CXX_COMPILER} -I${CMAKE_CURRENT_BINARY_DIR}/snippets
                     ${snippet_flags} -fPIC)
    set_tests_properties(sdk_${kind}_${stem} PROPERTIES LABELS sdk TIMEOUT 120)
  endforeach()
endfunction()
sdk_must_fail(must_not_compile)
sdk_must_fail(must_not_link --link)

# Tests the exported data of a library that is built as plugin authors build it.
function(sdk_entry_test name)
  add_test(NAME sdk_entry_${name}
           COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/entry_test.py
                   ${PROJECT_SOURCE_DIR}/sdk/cmake/berth_plugin.version
                   ${PROJECT_SOURCE_DIR}/sdk/include ${ARGN})
  set_tests_properties(sdk_entry_${name} PROPERTIES LABELS sdk SKIP_RETURN_CODE 77 TIMEOUT 120)
endfunction()
sdk_entry_test(gcc g++)
sdk_entry_test(gcc_no_exceptions g++ -fno-exceptions)
sdk_entry_test(clang clang++)
sdk_entry_test(clang_no_exceptions clang++ -fno-exceptions)
sdk_entry_test(clang_libcxx clang++ -stdlib=libc++)

# Compiles the macros for C.
add_test(NAME sdk_c_macros COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/c_macros_test.py
                                   ${CMAKE_C_COMPILER})
set_tests_properties(sdk_c_macros PROPERTIES LABELS sdk TIMEOUT 120)

# Tests the crate for Rust, with plugins that use it in right and wrong ways.
add_test(NAME sdk_rust
         COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/rust_test.py
                 $<TARGET_FILE:berth>)
set_tests_properties(sdk_rust PROPERTIES LABELS commands TIMEOUT 600)
add_dependencies(tests_commands berth berth_plugins)
