#ifndef FAILING_CALLS_H
#define FAILING_CALLS_H

/// Lets a function of the C library fail in this program, whoever calls it but Dispatch.
///
/// - Parameters:
///   - name: `socket`, `connect`, `socketpair`, `eventfd`, `pthread_create`, or `dup` for `fcntl` with F_DUPFD_CLOEXEC.
///     Not copied.
///   - skipped: How many calls succeed first.
///   - count: How many fail then, for want of descriptors or threads.
void failing_calls_set(const char *name, int skipped, int count);

/// How many calls have failed.
int failing_calls_count(void);

#endif
