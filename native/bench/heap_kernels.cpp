#include "bench/heap_kernels.h"

extern "C" {

std::size_t unjank_lesser_branchless(const unjank::deliqueue::HeapEntry* entries, std::size_t i, std::size_t j) {
  return unjank::deliqueue::BranchlessBefore::lesser(entries, i, j);
}

std::size_t unjank_lesser_branchy(const unjank::deliqueue::HeapEntry* entries, std::size_t i, std::size_t j) {
  return unjank::deliqueue::BranchyBefore::lesser(entries, i, j);
}

}  // extern "C"
