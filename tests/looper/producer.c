/* A C extension as a user would write one: a native thread that posts to a looper without the GIL. */
#include <Python.h>
#include <pthread.h>
#include <stdlib.h>
#include <unjank/looper.h>

static const unjank_looper_api *api;
static long ran, dropped; /* the looper's thread; the remover's, after the producer was joined */

typedef struct {
  unjank_looper *looper;
  long posts, accepted;
  int64_t delay_ns;
} job;

static void on_frame(void *data) {
  ++ran;
  if (data != NULL) PyErr_SetString(PyExc_ValueError, "raised by C");
}

static void on_drop(void *data) {
  (void)data;
  ++dropped;
}

static void *produce(void *argument) {
  job *work = argument;
  for (long i = 0; i < work->posts; ++i) {
    work->accepted += api->post(work->looper, on_frame, on_drop, NULL, work->delay_ns) > 0;
  }
  return NULL;
}

/* produce(looper, posts, delay_ns) -> accepted; the posting thread never has a thread state. */
static PyObject *run_producer(PyObject *self, PyObject *arguments) {
  PyObject *looper;
  job work = {0};
  pthread_t thread;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "OlL", &looper, &work.posts, &work.delay_ns)) return NULL;
  work.looper = api->acquire(looper);
  if (work.looper == NULL) return NULL;
  Py_BEGIN_ALLOW_THREADS
  pthread_create(&thread, NULL, produce, &work);
  pthread_join(thread, NULL);
  Py_END_ALLOW_THREADS
  api->release(work.looper);
  return PyLong_FromLong(work.accepted);
}

/* raise_on(looper): posts a function that leaves an exception set. */
static PyObject *raise_on(PyObject *self, PyObject *looper) {
  unjank_looper *handle = api->acquire(looper);
  (void)self;
  if (handle == NULL) return NULL;
  api->post(handle, on_frame, NULL, &ran, 0);
  api->release(handle);
  Py_RETURN_NONE;
}

/* remove(looper) -> how many */
static PyObject *remove_pending(PyObject *self, PyObject *looper) {
  unjank_looper *handle = api->acquire(looper);
  size_t removed;
  (void)self;
  if (handle == NULL) return NULL;
  removed = api->remove(handle, on_frame, NULL);
  api->release(handle);
  return PyLong_FromSize_t(removed);
}

static PyObject *counts(PyObject *self, PyObject *unused) {
  (void)self;
  (void)unused;
  return Py_BuildValue("(ll)", ran, dropped);
}

static PyMethodDef methods[] = {{"produce", run_producer, METH_VARARGS, NULL},
                                {"raise_on", raise_on, METH_O, NULL},
                                {"remove", remove_pending, METH_O, NULL},
                                {"counts", counts, METH_NOARGS, NULL},
                                {NULL, NULL, 0, NULL}};

static int prepare(PyObject *module) {
  (void)module;
  api = unjank_looper_import();
  return api == NULL ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)prepare},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "producer", NULL, 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_producer(void) { return PyModuleDef_Init(&definition); }
