/* Runs code at load time, for variants of broken.c, which includes this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_LOADING_H_
#define BERTH_TESTS_PLUGIN_CHECK_LOADING_H_

__attribute__((constructor)) static void RunOnLoad(void) {
#ifdef BREAKS_LOADING
  abort();
#elif defined BREAKS_LOADING_BY_EXIT
  exit(0);
#elif defined BREAKS_LOADING_WITHOUT_EXIT
  _exit(0);
#elif defined BREAKS_LOADING_FOR_EVER
  for (;;) pause();
#else
  printf("hello from the constructor\n");
  fflush(stdout);
#endif
}

#endif /* BERTH_TESTS_PLUGIN_CHECK_LOADING_H_ */
