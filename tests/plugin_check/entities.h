/* Entity: a pod has another entity at every second call. For a variant of broken.c, which includes
 * this file once. */
#ifndef BERTH_TESTS_PLUGIN_CHECK_ENTITIES_H_
#define BERTH_TESTS_PLUGIN_CHECK_ENTITIES_H_

static uint64_t entity_calls;

static void Entity(void* self, const berth_pod* pod, berth_put_text put, void* to) {
  (void)self;
  put(to, entity_calls++ % 2 == 0 ? pod->meta->name : pod->meta->uid);
}

#define FIRST_ID BERTH_POINT_ENTITY
static const berth_entity kFirst = {sizeof(berth_entity), 0, Entity};

#endif /* BERTH_TESTS_PLUGIN_CHECK_ENTITIES_H_ */
