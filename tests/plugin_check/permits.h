/* Permit of broken.c: misuse of the pods that wait. Every pod waits, and finds those that wait
 * already. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_PERMITS_H_
#define BERTH_TESTS_PLUGIN_CHECK_PERMITS_H_

#ifdef HAS_PERMIT
#define MISUSED_ID BERTH_SERVICE_WAITING
enum { kTimeoutSeconds = 60 };

static int32_t OnWaiting(void* to, const berth_pod* pod) {
#ifdef BREAKS_REJECTION_WITH_A_FLAG
  const Instance* plugin = to;
  const berth_waiting* waiting = plugin->misused;
  const berth_rejection rejection = {sizeof rejection, 0x80, pod->meta->uid, {"no", 2}};
  waiting->reject(plugin->host, &rejection);
  return 1;
#else
  (void)to, (void)pod;
  abort();
#endif
}

static void FindWaiting(void* to) {
  const Instance* plugin = to;
  const berth_waiting* waiting = plugin->misused;
  waiting->each(plugin->host, OnWaiting, to);
}

static berth_code Permit(void* self, const berth_cycle* cycle, const berth_target* target,
                         berth_permit_out* out, berth_status* status) {
  (void)cycle, (void)target, (void)status;
#ifdef BREAKS_SURVIVAL_OF_TIME
  const Instance* plugin = self;
  uint64_t timer = 0;
  plugin->timer->start(plugin->host, (int64_t)kTimeoutSeconds * 1000000000 / 2, FindWaiting, self,
                       &timer);
#else
  FindWaiting(self);
#endif
  out->timeout_ns = (int64_t)kTimeoutSeconds * 1000000000;
  return BERTH_WAIT;
}

#define FIRST_ID BERTH_POINT_PERMIT
static const berth_permit kFirst = {sizeof(berth_permit), 0, Permit};
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_PERMITS_H_ */
