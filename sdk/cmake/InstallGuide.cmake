# Installs the guide for authors in share/doc/berth: the pages of sdk/, the pages of host/docs to
# which they refer, and the example plugins. The links between them and to installed headers work
# there; a link to any other file of the source tree becomes plain text.
set(guide_pages sdk/README.md sdk/services.md sdk/testing.md)
file(GLOB host_pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/host/docs/*.md)
list(APPEND guide_pages ${host_pages})
file(GLOB_RECURSE example_pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/examples/plugins/*.md)
list(APPEND guide_pages ${example_pages})

# Links are written as "](target)". A list of CMake must not hold a bracket, so that they are found
# by their parentheses.
function(berth_install_page page)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${page})
  file(READ ${PROJECT_SOURCE_DIR}/${page} text)
  cmake_path(GET page PARENT_PATH folder)
  file(RELATIVE_PATH prefix ${CMAKE_INSTALL_FULL_DOCDIR}/${folder} ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" prefix "${prefix}")
  string(REGEX MATCHALL "\\([A-Za-z.][A-Za-z0-9_./-]*(#[a-z-]*)?\\)" links "${text}")
  list(REMOVE_DUPLICATES links)
  foreach(link IN LISTS links)
    string(REGEX REPLACE "[()]|#.*" "" target "${link}")
    cmake_path(SET path NORMALIZE "${folder}/${target}")
    if(path MATCHES "^sdk/include/")
      string(REPLACE "sdk/include/" "${CMAKE_INSTALL_INCLUDEDIR}/" installed "${path}")
    elseif(path MATCHES "^sdk/cmake/")
      string(REPLACE "sdk/cmake/" "${package_dir}/" installed "${path}")
    elseif(path STREQUAL "sdk/rust")
      set(installed ${CMAKE_INSTALL_DATADIR}/berth/rust)
    elseif(path MATCHES "^examples/plugins/" OR path IN_LIST guide_pages)
      continue()
    else()
      string(REGEX REPLACE "([().#])" "[\\1]" pattern "${link}")
      string(REGEX REPLACE "\\[([^][]*)\\]${pattern}" "\\1" text "${text}")
      continue()
    endif()
    string(REPLACE "]${link}" "](${prefix}/${installed})" text "${text}")
  endforeach()
  file(WRITE ${PROJECT_BINARY_DIR}/guide/${page} "${text}")
  install(FILES ${PROJECT_BINARY_DIR}/guide/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder}
          COMPONENT sdk)
endfunction()

foreach(page IN LISTS guide_pages)
  berth_install_page(${page})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/plugins
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT sdk
        PATTERN "*.md" EXCLUDE
        PATTERN "build" EXCLUDE
        PATTERN "target" EXCLUDE
        PATTERN "__pycache__" EXCLUDE)
