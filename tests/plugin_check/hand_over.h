/* HandOver of broken.c: restore refuses what save of the same library wrote, or save fails. For
 * broken.c, which includes this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_HAND_OVER_H_
#define BERTH_TESTS_PLUGIN_CHECK_HAND_OVER_H_

#ifdef HAS_HAND_OVER
static berth_code Save(void* self, berth_hand_over_out* out, berth_status* status) {
  (void)self;
#ifdef BREAKS_FAULTS_OF_SAVE
  status->add_reason(status, (berth_str){"the state is lost", 17});
  return BERTH_BUG;
#endif
#ifdef BREAKS_CODES_OF_SAVE
  return BERTH_WAIT;
#endif
  out->version = 2;
  return out->write(out, (berth_str){"state", 5});
}

static berth_code Restore(void* self, uint32_t version, berth_str bytes, berth_status* status) {
  (void)self;
#ifdef BREAKS_CODES_OF_RESTORE
  --version;
#endif
  if (version == 2 && bytes.len == 5) return BERTH_SUCCESS;
  status->add_reason(status, (berth_str){"expected version 2", 18});
  return BERTH_ERROR;
}

#define FIRST_ID BERTH_POINT_HAND_OVER
static const berth_hand_over kFirst = {sizeof(berth_hand_over), 0, Save, Restore};
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_HAND_OVER_H_ */
