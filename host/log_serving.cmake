# The log, the metrics and the settings of a real cluster, in folders that have other parts, too. The
# CMakeLists.txt of host/ includes this file after it has added the folders; `serve` is one of them.
target_sources(host_base PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/base/log.cc
  ${CMAKE_CURRENT_LIST_DIR}/base/metric_text.cc
  ${CMAKE_CURRENT_LIST_DIR}/base/metrics.cc)
target_sources(host_config PRIVATE ${CMAKE_CURRENT_LIST_DIR}/config/cluster_config.cc)
target_sources(host_queue PRIVATE ${CMAKE_CURRENT_LIST_DIR}/queue/queue_metrics.cc)
target_sources(host_runtime PRIVATE ${CMAKE_CURRENT_LIST_DIR}/runtime/point_metrics.cc)
target_sources(host_cycle PRIVATE ${CMAKE_CURRENT_LIST_DIR}/cycle/cycle_metrics.cc)
target_sources(host_process PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/process/log_format.cc
  ${CMAKE_CURRENT_LIST_DIR}/process/log_output.cc)
# Only log_output.cc includes spdlog.
find_package(spdlog REQUIRED)
target_link_libraries(host_process PRIVATE spdlog::spdlog)

if(BERTH_TESTS)
  target_sources(host_base_test PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/base/log_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/base/metric_text_test.cc
    ${CMAKE_CURRENT_LIST_DIR}/base/metrics_test.cc)
  target_sources(host_base_threads_test PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/base/metrics_threads_test.cc)
  target_sources(host_config_test PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/config/cluster_config_test.cc)
  target_sources(host_cycle_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/cycle/cycle_metrics_test.cc)
  target_sources(host_process_test PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/process/log_format_test.cc)
  target_sources(host_process_threads_test PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/process/log_output_test.cc)
endif()
