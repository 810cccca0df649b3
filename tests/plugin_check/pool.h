/* A thread that a static constructor starts and that Filter waits for, as the pools of numerical
 * libraries are. It does not exist in a process that was forked after the library was loaded.
 * broken.c includes this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_POOL_H_
#define BERTH_TESTS_PLUGIN_CHECK_POOL_H_

static pthread_mutex_t pool_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_changed = PTHREAD_COND_INITIALIZER;
static uint64_t asked;
static uint64_t answered;

static void* AnswerForEver(void* nothing) {
  pthread_mutex_lock(&pool_mutex);
  for (;;) {
    while (answered == asked) pthread_cond_wait(&pool_changed, &pool_mutex);
    answered = asked;
    pthread_cond_broadcast(&pool_changed);
  }
  return nothing;
}

__attribute__((constructor)) static void StartPool(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, AnswerForEver, NULL) != 0) abort();
  pthread_detach(thread);
}

static void WaitForPool(void) {
  pthread_mutex_lock(&pool_mutex);
  const uint64_t mine = ++asked;
  pthread_cond_broadcast(&pool_changed);
  while (answered < mine) pthread_cond_wait(&pool_changed, &pool_mutex);
  pthread_mutex_unlock(&pool_mutex);
}

#endif /* BERTH_TESTS_PLUGIN_CHECK_POOL_H_ */
