# This plugin has the name of a default plugin, so it is not in the folder of the other plugins.
berth_add_plugin(test_talker NO_INSTALL SOURCES plugins/talker/talker.cc)
target_link_libraries(test_talker PRIVATE berth_warnings)
set_target_properties(test_talker PROPERTIES
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/talker)

# A plugin that ends the process.
berth_add_plugin(test_quitter NO_INSTALL SOURCES plugins/quitter/quitter.cc)
target_link_libraries(test_quitter PRIVATE berth_warnings Threads::Threads)
set_target_properties(test_quitter PROPERTIES
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/quitter)

# A plugin that imitates the runtime of another language.
berth_add_plugin(test_foreign NO_INSTALL SOURCES plugins/foreign/foreign.c)
target_link_libraries(test_foreign PRIVATE berth_warnings)
target_include_directories(test_foreign PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(test_foreign PRIVATE _DEFAULT_SOURCE)
set_target_properties(test_foreign PROPERTIES
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/foreign)

# A plugin whose pods never get permission.
berth_add_plugin(test_waiter NO_INSTALL SOURCES plugins/waiter/waiter.cc)
target_link_libraries(test_waiter PRIVATE berth_warnings)
set_target_properties(test_waiter PROPERTIES
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/waiter)

# Two versions of one library, which are not in the folder of the other plugins either.
foreach(is_open IN ITEMS 0 1)
  berth_add_plugin(test_door_${is_open} NO_INSTALL SOURCES plugins/door/door.cc)
  target_link_libraries(test_door_${is_open} PRIVATE berth_warnings)
  target_compile_definitions(test_door_${is_open} PRIVATE BERTH_DOOR_IS_OPEN=${is_open})
  set_target_properties(test_door_${is_open} PROPERTIES
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/door)
endforeach()

# The commands with this build's own plugins, found where `berth` finds them.
berth_gtest(cli_test
  SOURCES broken_library_cli_test.cc cli_test.cc files_cli_test.cc final_state_cli_test.cc
          foreign_runtime_cli_test.cc gpu_share_cli_test.cc host_file_cli_test.cc
          hostile_cli_test.cc inter_pod_affinity_cli_test.cc job_gang_cli_test.cc
          json_output_test.cc live_cli_test.cc missing_kinds_cli_test.cc permit_cli_test.cc
          plugin_wait_cli_test.cc profile_arguments_cli_test.cc profile_cli_test.cc profile_convert_test.cc
          profile_trial_cli_test.cc recording_cli_test.cc run_cli_test.cc
          run_cluster_cli_test.cc run_live_test.cc run_process_test.cc run_reload_test.cc
          shadow_cli_test.cc spread_cli_test.cc temporary_directory_test.cc usage_cli_test.cc
          webhook_score_cli_test.cc
          ${PROJECT_SOURCE_DIR}/tests/harness/json_page.cc
  DEPENDS host_cli test_api_server nlohmann_json::nlohmann_json yaml-cpp
  LABELS commands
  SHARDS 4)
target_compile_definitions(cli_test PRIVATE
  BERTH_BINARY_DIR="${PROJECT_BINARY_DIR}"
  BERTH_DATADIR="${CMAKE_INSTALL_DATADIR}"
  BERTH_LIBDIR="${CMAKE_INSTALL_LIBDIR}"
  BERTH_LOADER_VARIANTS="${PROJECT_BINARY_DIR}/tests/loader/variants"
  BERTH_SHUT_DOOR="$<TARGET_FILE:test_door_0>"
  BERTH_OPEN_DOOR="$<TARGET_FILE:test_door_1>"
  BERTH_WAITER="$<TARGET_FILE:test_waiter>"
  BERTH_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
  BERTH_TEST_FOREIGN="$<TARGET_FILE:test_foreign>"
  BERTH_TEST_QUITTER="$<TARGET_FILE:test_quitter>"
  BERTH_TEST_TALKER="$<TARGET_FILE:test_talker>"
  BERTH_TEST_PLUGIN_DIR="$<TARGET_FILE_DIR:test_gang>")
get_property(variants GLOBAL PROPERTY berth_loader_variants)
add_dependencies(cli_test berth berth_plugins test_deaf test_foreign test_gang test_gpu_share test_guest
                 test_job_gang test_later test_probe test_quitter
                 test_shapes test_talker test_thrower test_webhook_score test_door_0 test_door_1 test_waiter
                 ${variants})
