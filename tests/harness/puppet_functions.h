/* The interface between a test and the plugin library puppets.c. The test creates the plugin
 * instances itself; the library finds its functions through the profile name, "stage-<address of
 * puppet_functions in hexadecimal digits>". */
#ifndef BERTH_TESTS_HARNESS_PUPPET_FUNCTIONS_H_
#define BERTH_TESTS_HARNESS_PUPPET_FUNCTIONS_H_

#include <berth/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct puppet_functions {
  void* self;
  berth_plugin* (*create)(void* self, const berth_instance_request* request,
                          const berth_host* host)BERTH_NOEXCEPT;
} puppet_functions;

#ifdef __cplusplus
}
#endif

#endif /* BERTH_TESTS_HARNESS_PUPPET_FUNCTIONS_H_ */
