#include "CSteadFiles.h"

#include <pthread.h>
#include <stdlib.h>

struct stead_lock {
  pthread_mutex_t mutex;
  stead_lock *previous;
  stead_lock *next;
};

uint64_t stead_fork_generation_word = 0;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static stead_lock *first = NULL;

// Whoever forks holds all locks for that moment, so that what they protect is whole in the child.
static void before_fork(void) {
  pthread_mutex_lock(&list_mutex);
  for (stead_lock *lock = first; lock; lock = lock->next) pthread_mutex_lock(&lock->mutex);
  // The last one, since it is taken by those who have a lock of the list.
  stead_mappings_before_fork();
}

static void release_all(void) {
  for (stead_lock *lock = first; lock; lock = lock->next) pthread_mutex_unlock(&lock->mutex);
  pthread_mutex_unlock(&list_mutex);
}

static void in_parent(void) {
  stead_mappings_after_fork();
  release_all();
}

static void in_child(void) {
  __atomic_fetch_add(&stead_fork_generation_word, 1, __ATOMIC_RELAXED);
  stead_mappings_in_child();
  release_all();
}

static void prepare_for_forks(void) { pthread_atfork(before_fork, in_parent, in_child); }

void stead_fork_watch(void) { pthread_once(&once, prepare_for_forks); }

stead_lock *stead_lock_create(void) {
  stead_fork_watch();
  stead_lock *lock = malloc(sizeof *lock);
  if (!lock) abort();
  pthread_mutex_init(&lock->mutex, NULL);
  pthread_mutex_lock(&list_mutex);
  lock->previous = NULL;
  lock->next = first;
  if (first) first->previous = lock;
  first = lock;
  pthread_mutex_unlock(&list_mutex);
  return lock;
}

void stead_lock_destroy(stead_lock *lock) {
  pthread_mutex_lock(&list_mutex);
  if (lock->previous) lock->previous->next = lock->next;
  else first = lock->next;
  if (lock->next) lock->next->previous = lock->previous;
  pthread_mutex_unlock(&list_mutex);
  pthread_mutex_destroy(&lock->mutex);
  free(lock);
}

void stead_lock_acquire(stead_lock *lock) { pthread_mutex_lock(&lock->mutex); }
void stead_lock_release(stead_lock *lock) { pthread_mutex_unlock(&lock->mutex); }
