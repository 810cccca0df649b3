/* Keeps memory from PreBind or Bind until the function that abi.h promises afterwards: Unreserve,
 * or PostBind. For variants of broken.c, which includes this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_RESERVATIONS_H_
#define BERTH_TESTS_PLUGIN_CHECK_RESERVATIONS_H_

typedef struct Reservation {
  struct Reservation* next;
  char more[200];
} Reservation;

static Reservation* reservations;

static berth_code Keep(void* self, const berth_binding* binding, berth_done done,
                       berth_status* status) {
  Reservation* reservation = calloc(1, sizeof *reservation);
  (void)self, (void)binding, (void)done, (void)status;
  if (reservation == NULL) return BERTH_ERROR;
  reservation->next = reservations;
  reservations = reservation;
  return BERTH_SUCCESS;
}

static void FreeAll(void* self, const berth_binding* binding) {
  (void)self, (void)binding;
  while (reservations != NULL) {
    Reservation* next = reservations->next;
    free(reservations);
    reservations = next;
  }
}

static berth_code Reserve(void* self, const berth_cycle* cycle, const berth_target* target,
                          berth_status* status) {
  (void)self, (void)cycle, (void)target, (void)status;
  return BERTH_SUCCESS;
}

#ifdef BREAKS_NOTHING_AFTER_UNRESERVE
#define FIRST_ID BERTH_POINT_RESERVE
#define SECOND_ID BERTH_POINT_PRE_BIND
static const berth_reserve kFirst = {sizeof(berth_reserve), 0, Reserve, FreeAll};
static const berth_pre_bind kSecond = {sizeof(berth_pre_bind), 0, NULL, Keep};
#else
#define FIRST_ID BERTH_POINT_BIND
#define SECOND_ID BERTH_POINT_POST_BIND
static const berth_bind kFirst = {sizeof(berth_bind), 0, Keep};
static const berth_post_bind kSecond = {sizeof(berth_post_bind), 0, FreeAll};
#endif

#endif /* BERTH_TESTS_PLUGIN_CHECK_RESERVATIONS_H_ */
