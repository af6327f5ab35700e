#include "reference_cache.h"

#ifdef Py_GIL_DISABLED

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/atomic_policy.h"
#include "base/thread_local.h"
#include "types.h"

namespace unjank::looper::references {

namespace {

constexpr Py_ssize_t kBulk = 512;
constexpr std::uint32_t kPurchasesOfShared = 8;  // so many by foreign threads show that a handler is shared

#if PY_VERSION_HEX >= 0x030E0000
bool is_immortal(PyObject* object) { return PyUnstable_IsImmortal(object); }
#else
bool is_immortal(PyObject* object) { return _Py_IsImmortal(object); }
#endif

std::atomic_ref<Py_ssize_t> shared_count(PyObject* object) {
  return std::atomic_ref<Py_ssize_t>(object->ob_ref_shared);
}

bool is_own(PyObject* object) {
  return std::atomic_ref<std::uintptr_t>(object->ob_tid).load(std::memory_order_relaxed) == _Py_ThreadId();
}

// The caller has a reference. Relaxed, as every increment of a count is.
void buy(PyObject* object, Py_ssize_t count) {
  shared_count(object).fetch_add(count << _Py_REF_SHARED_SHIFT, std::memory_order_relaxed);
}

// In one step if more than `count` remain in the shared half. Else one by one: then the interpreter decides between
// freeing the object and telling its owner.
void give_back(PyObject* object, Py_ssize_t count) {
  if (count == 0 || is_immortal(object)) return;
  std::atomic_ref<Py_ssize_t> shared = shared_count(object);
  Py_ssize_t seen = shared.load(std::memory_order_relaxed);
  while ((seen >> _Py_REF_SHARED_SHIFT) > count) {
    // Release: what this thread did with the object comes before its end, as with Py_DECREF.
    if (shared.compare_exchange_weak(seen, seen - (count << _Py_REF_SHARED_SHIFT), std::memory_order_release,
                                     std::memory_order_relaxed)) {
      return;
    }
  }
  for (; count > 0; --count) Py_DECREF(object);
}

struct Spare {
  PyObject* object = nullptr;
  Py_ssize_t count = 0;
};

// One thread's spare references, by object; a place that is needed for another object is emptied.
// Written by its thread, and emptied by any: under `busy`, which nobody else wants for as long as a post takes.
class Stock {
 public:
  bool take(PyObject* object) {
    const Lock lock(busy_);
    Spare& spare = place(object);
    if (spare.object != object || spare.count == 0) return false;
    --spare.count;
    return true;
  }

  // What has to be given back is returned: not under the lock, since it may run destructors that post.
  Spare put(PyObject* object, Py_ssize_t count) {
    const Lock lock(busy_);
    Spare& spare = place(object);
    if (spare.object != object) return std::exchange(spare, {object, count});
    spare.count += count;
    if (spare.count < 2 * kBulk) return {};
    spare.count -= kBulk;
    return {object, kBulk};
  }

  std::array<Spare, 64> empty() {
    const Lock lock(busy_);
    return std::exchange(spares_, {});
  }

 private:
  class Lock {
   public:
    explicit Lock(std::atomic_flag& busy) : busy_(busy) {
      while (busy_.test_and_set(std::memory_order_acquire)) StdPolicy::pause();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() { busy_.clear(std::memory_order_release); }

   private:
    std::atomic_flag& busy_;
  };

  Spare& place(PyObject* object) {
    const auto address = reinterpret_cast<std::uintptr_t>(object);
    return spares_[(address >> 5 ^ address >> 11) % spares_.size()];
  }

  std::atomic_flag busy_;
  std::array<Spare, 64> spares_;
};

struct Stocks {
  std::mutex mutex;
  std::vector<std::shared_ptr<Stock>> all;
};
// Never destroyed: threads may outlive static destruction.
Stocks& stocks() {
  static Stocks* const stocks = new Stocks;
  return *stocks;
}

constexpr const char* kStockOfThread = "unjank.looper.references";
// The thread's own stock, which `stocks()` keeps; null before its first use and after the thread's end.
constinit thread_local Stock* own UNJANK_STATIC_TLS = nullptr;

void give_back_all(const std::array<Spare, 64>& spares) {
  for (const Spare& spare : spares) {
    if (spare.object != nullptr) give_back(spare.object, spare.count);
  }
}

// In the thread's own dictionary, so that it ends while the thread may still use Python.
void end_stock(PyObject*) {
  Stock* const ending = std::exchange(own, nullptr);
  if (ending == nullptr) return;
  const std::array<Spare, 64> left = ending->empty();
  {
    // Another thread that is emptying it at this moment keeps it alive.
    const std::lock_guard lock(stocks().mutex);
    std::erase_if(stocks().all, [ending](const std::shared_ptr<Stock>& stock) { return stock.get() == ending; });
  }
  give_back_all(left);
}

// Null if the thread cannot have one, at its end for instance.
Stock* make_stock() {
  PyObject* const dictionary = PyThreadState_GetDict();
  PyObject* const capsule = dictionary == nullptr ? nullptr : PyCapsule_New(&stocks(), kStockOfThread, end_stock);
  if (capsule == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  {
    const std::lock_guard lock(stocks().mutex);
    own = stocks().all.emplace_back(std::make_shared<Stock>()).get();
  }
  if (PyDict_SetItemString(dictionary, kStockOfThread, capsule) < 0) PyErr_Clear();
  Py_DECREF(capsule);
  return own;
}

Stock* own_stock() { return own != nullptr ? own : make_stock(); }

// A handler that other threads keep buying references to is worth not being counted by the interpreter either.
void note_purchase(PyObject* object) {
#if PY_VERSION_HEX >= 0x030E0000
  if (!PyObject_TypeCheck(object, types().handler)) return;
  if (as_handler(object)->foreign_purchases.fetch_add(1, std::memory_order_relaxed) + 1 == kPurchasesOfShared) {
    share(object);
  }
#else
  static_cast<void>(object);
  static_cast<void>(kPurchasesOfShared);
#endif
}

}  // namespace

// Looking at an object costs nothing as long as nobody writes its counts; that is what stocks are for.
void take(PyObject* object, bool& pooled) {
  Stock* const stock = is_immortal(object) || is_own(object) ? nullptr : own_stock();
  pooled = stock != nullptr;
  if (stock == nullptr) {
    Py_INCREF(object);
    return;
  }
  if (stock->take(object)) return;
  buy(object, kBulk);
  const Spare surplus = stock->put(object, kBulk - 1);
  note_purchase(object);
  if (surplus.object != nullptr) give_back(surplus.object, surplus.count);
}

void drop(PyObject* object, bool pooled) {
  Stock* const stock = pooled && !is_immortal(object) ? own_stock() : nullptr;
  if (stock == nullptr) {
    Py_DECREF(object);
    return;
  }
  const Spare surplus = stock->put(object, 1);
  if (surplus.object != nullptr) give_back(surplus.object, surplus.count);
}

void empty_own_stock() {
  if (own != nullptr) give_back_all(own->empty());
}

void empty_all_stocks() {
  std::vector<std::shared_ptr<Stock>> all;
  {
    const std::lock_guard lock(stocks().mutex);
    all = stocks().all;
  }
  for (const std::shared_ptr<Stock>& stock : all) give_back_all(stock->empty());
}

bool share(PyObject* object) {
  if (is_immortal(object)) return true;
#if PY_VERSION_HEX >= 0x030E0000
  PyUnstable_Object_EnableDeferredRefcount(object);  // 0: it is shared already, or the collector does not know it
  return true;
#else
  // As the interpreter itself does with functions and classes. The owner writes its half of the count without
  // atomics, so nobody else may.
  if (!is_own(object)) return false;
  if (PyObject_IS_GC(object)) PyObject_GC_UnTrack(object);
  std::atomic_ref<std::uint32_t>(object->ob_ref_local).store(_Py_IMMORTAL_REFCNT_LOCAL, std::memory_order_relaxed);
  return true;
#endif
}

}  // namespace unjank::looper::references

#endif  // Py_GIL_DISABLED
