/* The interface between a test and the plugin library puppets.c. The test creates the plugin
 * instances itself; the library finds its functions through the profile name, "stage-<address of
 * puppet_strings in hexadecimal digits>". */
#ifndef BERTH_TESTS_RUNTIME_PUPPET_STRINGS_H_
#define BERTH_TESTS_RUNTIME_PUPPET_STRINGS_H_

#include <berth/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct puppet_strings {
  void* self;
  berth_plugin* (*create)(void* self, berth_str name, const berth_host* host)BERTH_NOEXCEPT;
} puppet_strings;

#ifdef __cplusplus
}
#endif

#endif /* BERTH_TESTS_RUNTIME_PUPPET_STRINGS_H_ */
