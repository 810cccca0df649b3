/* Uses the files and the output of the process, for a variant of broken.c, which includes this file
 * once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_SILENCE_H_
#define BERTH_TESTS_PLUGIN_CHECK_SILENCE_H_

/* Prints, and forks a child process that keeps all its files open until the file that the test
 * names exists. If the child gives up waiting, 30 seconds after its parent ended, it creates a file
 * with the suffix ".late". The duration of the check does not matter. */
static void PrintAndForkChild(void) {
  static int done = 0;
  const char* path = getenv("BERTH_TEST_RELEASE");
  char late[4096];
  if (done++ != 0 || path == NULL) return;
  printf("hello from the plugin\n");
  fflush(stdout);
  const pid_t parent = getpid();
  if (fork() != 0) return;
  for (int i = 0; i < 3000 && access(path, F_OK) != 0; i += getppid() != parent) usleep(10000);
  snprintf(late, sizeof late, "%s.late", path);
  if (access(path, F_OK) != 0) close(open(late, O_WRONLY | O_CREAT, 0600));
  _exit(0);
}

#endif /* BERTH_TESTS_PLUGIN_CHECK_SILENCE_H_ */
