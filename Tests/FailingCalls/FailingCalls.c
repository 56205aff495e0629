// Functions of the C library that fail on request. The program's own definitions take the place of the
// library's, for its code and for the shared libraries that it uses.
//
// Sanitizers do the same with some of them, so there is nothing of it in their builds.

#if !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer) && defined(__linux__)
#define FAILING_CALLS
#endif

#define _GNU_SOURCE
#include "FailingCalls.h"

#ifdef FAILING_CALLS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

static _Atomic(const char *) failing_name;
static atomic_int calls_skipped, calls_to_fail, calls_failed;

void failing_calls_set(const char *name, int skipped, int count) {
  calls_skipped = skipped;
  calls_to_fail = count;
  failing_name = name;
}

int failing_calls_count(void) { return calls_failed; }

static int must_fail(const char *name, const void *caller) {
  const char *failing = failing_name;
  if (!failing || strcmp(failing, name) != 0) return 0;
  // Dispatch ends the process, or waits for a second.
  Dl_info library;
  if (dladdr(caller, &library) && library.dli_fname && strstr(library.dli_fname, "libdispatch")) return 0;
  if (atomic_fetch_sub(&calls_skipped, 1) > 0) return 0;
  if (atomic_fetch_sub(&calls_to_fail, 1) <= 0) return 0;
  atomic_fetch_add(&calls_failed, 1);
  return 1;
}

#define FAIL_IF_WANTED(name) \
  if (must_fail(name, __builtin_return_address(0))) { \
    errno = EMFILE; \
    return -1; \
  }
#define LIBRARY(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int socket(int domain, int type, int protocol) {
  FAIL_IF_WANTED("socket")
  return LIBRARY(socket)(domain, type, protocol);
}

int connect(int socket, const struct sockaddr *address, socklen_t length) {
  FAIL_IF_WANTED("connect")
  return LIBRARY(connect)(socket, address, length);
}

int socketpair(int domain, int type, int protocol, int ends[2]) {
  FAIL_IF_WANTED("socketpair")
  return LIBRARY(socketpair)(domain, type, protocol, ends);
}

int eventfd(unsigned int count, int flags) {
  FAIL_IF_WANTED("eventfd")
  return LIBRARY(eventfd)(count, flags);
}

int timerfd_create(clockid_t clock, int flags) {
  FAIL_IF_WANTED("timerfd_create")
  return LIBRARY(timerfd_create)(clock, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  if (must_fail("pthread_create", __builtin_return_address(0))) return EAGAIN;
  return LIBRARY(pthread_create)(thread, attributes, start, argument);
}

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  if (command == F_DUPFD_CLOEXEC) { FAIL_IF_WANTED("dup") }
  return LIBRARY(fcntl)(descriptor, command, argument);
}
#else
void failing_calls_set(const char *name, int skipped, int count) {}
int failing_calls_count(void) { return 0; }
#endif
