/* PreBind of broken.c: misuse of promises, and of a service that [bind] calls may not use. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_BINDINGS_H_
#define BERTH_TESTS_PLUGIN_CHECK_BINDINGS_H_

#ifdef HAS_PRE_BIND
#ifdef BREAKS_PROMISE_OF_PRE_BIND
#define MISUSED_ID BERTH_SERVICE_API
static berth_code Misuse(const Instance* plugin, const berth_binding* binding, berth_done done) {
  const berth_api* api = plugin->misused;
  api->bind(plugin->host, binding, done);
  return BERTH_SUCCESS;
}
#elif defined BREAKS_NOMINATOR_IN_BIND
#define MISUSED_ID BERTH_SERVICE_NOMINATOR
static berth_code Misuse(const Instance* plugin, const berth_binding* binding, berth_done done) {
  const berth_nominator* nominator = plugin->misused;
  (void)done;
  nominator->clear(plugin->host, binding->pod->meta->uid);
  return BERTH_SUCCESS;
}
#elif defined BREAKS_NOTHING_IS_COMPLETED
/* Leaves the promise open until the host no longer waits. */
static berth_code Misuse(const Instance* plugin, const berth_binding* binding, berth_done done) {
  (void)plugin, (void)binding, (void)done;
  return BERTH_PENDING;
}
#else
#define MISUSED_ID BERTH_SERVICE_COMPLETION
static berth_code Misuse(const Instance* plugin, const berth_binding* binding, berth_done done) {
  const berth_completion* completion = plugin->misused;
  berth_outcome outcome = {sizeof outcome, BERTH_SUCCESS, {NULL, 0, 0}};
  (void)binding;
#ifdef BREAKS_OUTCOME_TOO_SMALL
  outcome.struct_size = 4;
#elif defined BREAKS_PROMISE_UNKNOWN
  const berth_done unknown = {done.host, done.id + 1000000};
  completion->complete(unknown, &outcome);
#else
  completion->complete(done, &outcome);
#endif
  completion->complete(done, &outcome);
  return BERTH_PENDING;
}
#endif

static berth_code PreBind(void* self, const berth_binding* binding, berth_done done,
                          berth_status* status) {
  (void)status;
  return Misuse(self, binding, done);
}

#define FIRST_ID BERTH_POINT_PRE_BIND
static const berth_pre_bind kFirst = {sizeof(berth_pre_bind), 0, NULL, PreBind};
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_BINDINGS_H_ */
