/* Posting to an unjank looper from C, without the GIL (on free-threaded builds: without being attached).
 *
 *   static const unjank_looper_api *api;                   once, attached:  api = unjank_looper_import();
 *   unjank_looper *ui = api->acquire(looper_object);       attached; keep it, it may outlive the Python object
 *   api->post(ui, on_frame, free, frame, 0);               any thread, any time
 *   api->release(ui);                                      any thread
 *
 * Compile with the folder that unjank.looper.get_include() names.
 */
#ifndef UNJANK_LOOPER_H
#define UNJANK_LOOPER_H

#include <Python.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNJANK_LOOPER_API_VERSION 1
#define UNJANK_LOOPER_CAPSULE "unjank._looper._C_API"

typedef struct unjank_looper unjank_looper;

/* `run` is called on the looper's thread, attached to the interpreter; a Python exception that it leaves set goes to
 * the looper's exception hook. `drop`, which may be NULL, is called instead, once, if the message will never run: on
 * the thread that removed it or quit, which may not be attached, so it must not use Python. */
typedef void (*unjank_looper_function)(void *data);

typedef enum {
  UNJANK_POST_NO_MEMORY = -1, /* not posted; `data` is still the caller's */
  UNJANK_POST_QUIT = 0,       /* not posted, the looper has quit; `data` is still the caller's */
  UNJANK_POST_ACCEPTED = 1,
  UNJANK_POST_NOT_WOKEN = 2 /* posted, but the sleeping looper's wake handle could not be written */
} unjank_post_result;

typedef struct {
  unsigned version; /* UNJANK_LOOPER_API_VERSION; members are only ever added at the end */
  /* Attached. NULL with a Python exception set if the object is not a usable Looper. */
  unjank_looper *(*acquire)(PyObject *looper);
  /* Any thread. */
  void (*release)(unjank_looper *looper);
  /* Any thread. Runs after `delay_ns` nanoseconds; 0 or less: as soon as possible. */
  unjank_post_result (*post)(unjank_looper *looper, unjank_looper_function run, unjank_looper_function drop,
                             void *data, int64_t delay_ns);
  /* Any thread. Drops the pending messages with this function and data; returns how many. */
  size_t (*remove)(unjank_looper *looper, unjank_looper_function run, void *data);
  /* Any thread. The looper's clock. */
  int64_t (*now_ns)(unjank_looper *looper);
} unjank_looper_api;

/* Attached. NULL with a Python exception set if unjank is missing or too old. */
static inline const unjank_looper_api *unjank_looper_import(void) {
  const unjank_looper_api *api;
  PyObject *module = PyImport_ImportModule("unjank._looper");
  if (module == NULL) return NULL;
  Py_DECREF(module);
  api = (const unjank_looper_api *)PyCapsule_Import(UNJANK_LOOPER_CAPSULE, 0);
  if (api != NULL && api->version < UNJANK_LOOPER_API_VERSION) {
    PyErr_SetString(PyExc_ImportError, "unjank is older than the header this was compiled with; upgrade unjank");
    return NULL;
  }
  return api;
}

#ifdef __cplusplus
}
#endif

#endif
