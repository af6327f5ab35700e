#include "frame.h"

#define Py_BUILD_CORE 1
#if PY_VERSION_HEX >= 0x030E0000
#include <internal/pycore_interpframe.h>
#else
#include <internal/pycore_frame.h>
#endif
#undef Py_BUILD_CORE

/* What the versions call the same things. */
#if PY_VERSION_HEX >= 0x030F0000
#error "unjank records on CPython 3.11 to 3.14; what a newer one calls its frames goes here"
#elif PY_VERSION_HEX >= 0x030E0000
#define CURRENT_FRAME(state) ((state)->current_frame)
#define FRAME_EXECUTABLE(frame) PyStackRef_AsPyObjectBorrow((frame)->f_executable)
#define FRAME_LOCAL(frame, index) \
  (PyStackRef_IsNull((frame)->localsplus[index]) ? NULL : PyStackRef_AsPyObjectBorrow((frame)->localsplus[index]))
#elif PY_VERSION_HEX >= 0x030D0000
#define CURRENT_FRAME(state) ((state)->current_frame)
#define FRAME_EXECUTABLE(frame) ((frame)->f_executable)
#define FRAME_LOCAL(frame, index) ((frame)->localsplus[index])
#else
#define CURRENT_FRAME(state) ((state)->cframe->current_frame)
#define FRAME_EXECUTABLE(frame) ((PyObject*)(frame)->f_code)
#define FRAME_LOCAL(frame, index) ((frame)->localsplus[index])
#endif

static PyThreadState* thread_state(void) {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

/* Frames that the interpreter puts in between, to get from C to Python or out of a constructor, run no code of
 * the program: CPython itself leaves them out of tracebacks by the same test. */
static int runs_python(struct _PyInterpreterFrame* frame) {
#if PY_VERSION_HEX >= 0x030E0000
  if (frame->owner == FRAME_OWNED_BY_INTERPRETER) return 0;
#elif PY_VERSION_HEX >= 0x030C0000
  if (frame->owner == FRAME_OWNED_BY_CSTACK) return 0;
#endif
  PyObject* executable = FRAME_EXECUTABLE(frame);
  return executable != NULL && PyCode_Check(executable) && !_PyFrame_IsIncomplete(frame);
}

static int describe(struct _PyInterpreterFrame* record, UnjankFrame* frame) {
  while (record != NULL && !runs_python(record)) record = record->previous;
  if (record == NULL) return 0;
  frame->record = record;
  frame->code = (PyCodeObject*)FRAME_EXECUTABLE(record);
  frame->offset = _PyInterpreterFrame_LASTI(record) * (int)sizeof(_Py_CODEUNIT);
  return 1;
}

int unjank_frame_current(UnjankFrame* frame) {
  PyThreadState* state = thread_state();
  return state == NULL ? 0 : describe(CURRENT_FRAME(state), frame);
}

int unjank_frame_outer(UnjankFrame* frame) {
  return describe(((struct _PyInterpreterFrame*)frame->record)->previous, frame);
}

const char* unjank_frame_first_local_type(const UnjankFrame* frame) {
  const struct _PyInterpreterFrame* record = (const struct _PyInterpreterFrame*)frame->record;
  if (frame->code->co_argcount == 0) return NULL;
  PyObject* first = FRAME_LOCAL(record, 0);
  return first == NULL ? NULL : Py_TYPE(first)->tp_name;
}
