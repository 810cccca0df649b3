# berth_add_plugin(<name> [SOURCES <file>...] [MIN_HOST_MINOR <n>] [NO_INSTALL])
#
# Adds the plugin <name> as the module lib<name>.so and installs it to <libdir>/berth/plugins.
#
#   SOURCES         C or C++ files; by default <name>/*.cc and <name>/*.c, without *_test.*
#   MIN_HOST_MINOR  the lowest minor version of the host's ABI that can run the plugin (default 0)
#   NO_INSTALL      builds the plugin without installing it, for plugins that only tests use
#
# A plugin includes only the SDK and exports only its entry, so that plugins built by different
# compilers and against different standard libraries can run in one process.
#   -fno-gnu-unique   prevents unique symbols, which plugins would share in spite of RTLD_LOCAL
#   --exclude-libs    does not export the symbols of static libraries
#   -z defs           an undefined symbol fails at link time, not when an operator loads the plugin
#   -z now, relro     symbols are resolved at load time and are read-only afterwards
include_guard(GLOBAL)

# This path is relative to this file, so that it is valid in the source tree and after installation.
set(BERTH_PLUGIN_VERSION_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/berth_plugin.version)

function(berth_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_INSTALL" "MIN_HOST_MINOR" "SOURCES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "berth_add_plugin(${name}): unexpected ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc
         ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.c)
    list(FILTER arg_SOURCES EXCLUDE REGEX "_test\\.(cc|c)$")
  endif()
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "berth_add_plugin(${name}): no sources: list them after SOURCES, "
                        "or put them into ${CMAKE_CURRENT_SOURCE_DIR}/${name}/")
  endif()
  if(NOT arg_MIN_HOST_MINOR)
    set(arg_MIN_HOST_MINOR 0)
  endif()
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/berth_plugin.version)

  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE berth::sdk)
  target_compile_definitions(${name} PRIVATE BERTH_MIN_HOST_MINOR=${arg_MIN_HOST_MINOR})
  set_target_properties(${name} PROPERTIES
    PREFIX "lib"
    SUFFIX ".so"
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    LINK_DEPENDS ${script})
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE LINKER:-z,defs,-z,now,-z,relro LINKER:--exclude-libs,ALL
                      LINKER:--version-script=${script})

  if(NOT arg_NO_INSTALL)
    include(GNUInstallDirs)
    install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/berth/plugins)
  endif()
endfunction()

# berth_add_test_kit(<name>)
#
# Compiles the test kit with the settings of this project, as the static library <name>. Link it
# instead of berth::testing if the tests use another standard library than libstdc++ (-stdlib=libc++)
# or change its layout (-D_GLIBCXX_DEBUG).
function(berth_add_test_kit name)
  file(GLOB sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/testing/*.cc)
  if(NOT sources)
    message(FATAL_ERROR "berth_add_test_kit(${name}): there are no sources in "
                        "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/testing/")
  endif()
  add_library(${name} STATIC EXCLUDE_FROM_ALL ${sources})
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PUBLIC berth::sdk)
endfunction()
