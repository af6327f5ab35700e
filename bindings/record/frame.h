/* The Python frames of the calling thread, without making frame objects.
 *
 * A lock is taken too often to build a frame object each time. CPython's own frame record is read instead;
 * its layout belongs to the version, so frame.c has what each version calls it. Only ever for the calling
 * thread, whose frames cannot change while it is in here. */
#ifndef UNJANK_BINDINGS_RECORD_FRAME_H
#define UNJANK_BINDINGS_RECORD_FRAME_H

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  void* record;       /* CPython's frame record: for unjank_frame_outer */
  PyCodeObject* code; /* borrowed: alive as long as the frame runs */
  int offset;         /* of the instruction it is in, in bytes from the start of the bytecode */
} UnjankFrame;

/* The innermost Python frame of the calling thread; 0 if it runs none. */
int unjank_frame_current(UnjankFrame* frame);
/* The frame that called `frame`; 0 at the outermost. */
int unjank_frame_outer(UnjankFrame* frame);

/* The class name of the frame's first local variable, `self` in a method; NULL if it has none. */
const char* unjank_frame_first_local_type(const UnjankFrame* frame);

#ifdef __cplusplus
}
#endif

#endif
