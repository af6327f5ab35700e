// One comparison of the heap's, alone in a function each, so that a disassembler finds it by name in the built
// module and a pipeline simulator such as llvm-mca can be given exactly these instructions.
#pragma once

#include <cstddef>

#include "deliqueue/heap.h"

// Exported under C names, which also a stripped module keeps.
extern "C" {
[[gnu::visibility("default")]] std::size_t unjank_lesser_branchless(const unjank::deliqueue::HeapEntry* entries,
                                                                    std::size_t i, std::size_t j);
[[gnu::visibility("default")]] std::size_t unjank_lesser_branchy(const unjank::deliqueue::HeapEntry* entries,
                                                                 std::size_t i, std::size_t j);
}
