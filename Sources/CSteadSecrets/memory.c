#include "CSteadSecrets.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// A chunk is pages for slots of one size. One word has a bit for each slot that is taken, so taking and
// giving are one atomic step each. There is no lock that the child of a fork could find taken, or that a
// caller who has a lock of its own could wait for.
enum { slot_limit = 64, chunk_limit = 1024, class_count = 5 };

typedef struct {
  size_t slot_size;
  unsigned slot_count;
} slot_class;

// Each chunk is 4 to 64 KiB: some systems let a process lock no more than 64 KiB.
static const slot_class classes[class_count] = {
    {64, 64}, {256, 64}, {1024, 16}, {4096, 16}, {16384, 4}};

typedef struct {
  _Atomic(char *) pages;
  _Atomic uint64_t taken;
  _Atomic uint32_t locked_in;
} chunk;

static chunk chunks[class_count][chunk_limit];
// Where a free slot was last seen, so that a search seldom begins at the start.
static _Atomic unsigned hints[class_count];

static _Atomic uint32_t process_number = 1;

static void begin_child(void) { atomic_fetch_add(&process_number, 1); }

static void watch_forks(void) { pthread_atfork(NULL, NULL, begin_child); }

static uint32_t this_process(void) { return atomic_load(&process_number); }

static pthread_once_t watching = PTHREAD_ONCE_INIT;

// Places: 0 for malloc's memory, 1 for pages of its own, and above that a class, a chunk and a slot.
enum { place_heap = 0, place_pages = 1, place_chunks = 1 << 30 };

static uint32_t place_of(unsigned kind, unsigned index, unsigned slot) {
  return place_chunks | kind << 16 | index << 6 | slot;
}

static size_t whole_pages(size_t count) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (count + page - 1) / page * page;
}

static char *map(size_t size) {
  void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return NULL;
#ifdef MADV_DONTDUMP
  madvise(pages, size, MADV_DONTDUMP);
#endif
  return pages;
}

// The process that the pages are locked in from now on, 0 when they could not be.
static uint32_t lock(void *pages, size_t size) {
  uint32_t process = this_process();
  return mlock(pages, size) == 0 ? process : 0;
}

static size_t chunk_size(unsigned kind) {
  return whole_pages(classes[kind].slot_size * classes[kind].slot_count);
}

// The chunk's pages, made when it has none yet.
static char *pages_of(chunk *one, unsigned kind) {
  char *pages = atomic_load(&one->pages);
  if (pages == NULL) {
    char *fresh = map(chunk_size(kind));
    if (fresh == NULL) return NULL;
    if (atomic_compare_exchange_strong(&one->pages, &pages, fresh)) {
      pages = fresh;
    } else {
      munmap(fresh, chunk_size(kind));
    }
  }
  return pages;
}

static uint64_t full(unsigned kind) {
  unsigned count = classes[kind].slot_count;
  return count == slot_limit ? UINT64_MAX : (1ULL << count) - 1;
}

// A slot of a chunk, or one with no bytes when all are taken.
static stead_memory take_slot(unsigned kind, unsigned index) {
  chunk *one = &chunks[kind][index];
  const stead_memory none = {NULL, place_heap, 0};
  uint64_t taken = atomic_load(&one->taken);
  unsigned slot;
  do {
    if (taken == full(kind)) return none;
    slot = (unsigned)__builtin_ctzll(~taken);
  } while (!atomic_compare_exchange_weak(&one->taken, &taken, taken | 1ULL << slot));

  char *pages = pages_of(one, kind);
  if (pages == NULL) {
    atomic_fetch_and(&one->taken, ~(1ULL << slot));
    return none;
  }
  uint32_t locked_in = atomic_load(&one->locked_in);
  // Asked for again with the first secret in a chunk only, so that a process at its limit does not pay
  // for a refusal with each secret.
  if (locked_in != this_process() && (taken == 0 || locked_in != 0)) {
    atomic_store(&one->locked_in, lock(pages, chunk_size(kind)));
  }
  char *bytes = pages + slot * classes[kind].slot_size;
  return (stead_memory){bytes, place_of(kind, index, slot), 0};
}

static stead_memory take_pages(size_t count) {
  size_t size = whole_pages(count);
  char *pages = map(size);
  if (pages != NULL) return (stead_memory){pages, place_pages, lock(pages, size)};
  // Better unlocked than not at all: an address space with limits may have room in the heap still.
  return (stead_memory){calloc(1, count), place_heap, 0};
}

stead_memory stead_memory_take(size_t count) {
  pthread_once(&watching, watch_forks);
  for (unsigned kind = 0; kind < class_count; kind++) {
    if (count > classes[kind].slot_size) continue;
    unsigned start = atomic_load(&hints[kind]);
    for (unsigned step = 0; step < chunk_limit; step++) {
      unsigned index = (start + step) % chunk_limit;
      stead_memory taken = take_slot(kind, index);
      if (taken.bytes == NULL) continue;
      if (index != start) atomic_store(&hints[kind], index);
      return taken;
    }
    break;
  }
  return take_pages(count);
}

static unsigned kind_at(uint32_t place) { return place >> 16 & 0xFF; }
static unsigned index_at(uint32_t place) { return place >> 6 & 0x3FF; }
static unsigned slot_at(uint32_t place) { return place & 0x3F; }

_Bool stead_memory_is_locked(stead_memory memory) {
  uint32_t locked_in = memory.locked_in;
  if (memory.place >= place_chunks) {
    locked_in = atomic_load(&chunks[kind_at(memory.place)][index_at(memory.place)].locked_in);
  }
  return locked_in == this_process();
}

void stead_memory_give(stead_memory memory, size_t count) {
  if (memory.bytes == NULL) return;
  stead_wipe(memory.bytes, count);
  if (memory.place == place_heap) {
    free(memory.bytes);
  } else if (memory.place == place_pages) {
    munmap(memory.bytes, whole_pages(count));
  } else {
    unsigned kind = kind_at(memory.place), index = index_at(memory.place);
    uint64_t slot = 1ULL << slot_at(memory.place);
    atomic_fetch_and(&chunks[kind][index].taken, ~slot);
    // Lower chunks first, so that few pages are in use.
    unsigned hint = atomic_load(&hints[kind]);
    if (index < hint) atomic_store(&hints[kind], index);
  }
}
