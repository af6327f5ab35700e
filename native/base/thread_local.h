// Thread-local variables that hot paths read.
#pragma once

// In the block that each thread has from its start: reading it is one instruction, where a shared library's variables
// otherwise take a call. That block is small (glibc keeps some hundred bytes for libraries loaded later), so: pointers.
#define UNJANK_STATIC_TLS __attribute__((tls_model("initial-exec")))
