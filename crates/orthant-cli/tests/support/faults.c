/* Loaded before the C library, it makes file-changing calls fail, or the process end, at a chosen call.
   ORTHANT_FAULT is count (tell their number at the end), kill:N (SIGKILL before call N), fail:N (call N fails
   with EIO) or full:N (from call N on, whatever needs room fails with ENOSPC). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;
static char mode;   /* 0 nothing, c count, k kill, e fail, f full */
static int when;

__attribute__((constructor)) static void begin(void) {
  const char *fault = getenv("ORTHANT_FAULT");
  if (!fault) return;
  if (!strncmp(fault, "count", 5)) mode = 'c';
  if (!strncmp(fault, "kill:", 5)) mode = 'k';
  if (!strncmp(fault, "fail:", 5)) mode = 'e';
  if (!strncmp(fault, "full:", 5)) mode = 'f';
  if (mode && mode != 'c') when = atoi(fault + 5);
}

__attribute__((destructor)) static void end(void) {
  if (mode == 'c') dprintf(2, "calls %d\n", atomic_load(&calls));
}

/* Whether the call is to fail; errno says how. */
static int fault(int needs_room) {
  if (!mode) return 0;
  int now = atomic_fetch_add(&calls, 1) + 1;
  if (mode == 'k' && now == when) kill(getpid(), SIGKILL);
  if (mode == 'e' && now == when) { errno = EIO; return 1; }
  if (mode == 'f' && now >= when && needs_room) { errno = ENOSPC; return 1; }
  return 0;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                            \
  int name(const char *path, int flags, ...) {                                \
    va_list list; va_start(list, flags); mode_t how = va_arg(list, mode_t); va_end(list); \
    if ((flags & (O_CREAT | O_TRUNC)) && fault(1)) return -1;                 \
    return NEXT(name)(path, flags, how);                                      \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                                          \
  int name(int at, const char *path, int flags, ...) {                        \
    va_list list; va_start(list, flags); mode_t how = va_arg(list, mode_t); va_end(list); \
    if ((flags & (O_CREAT | O_TRUNC)) && fault(1)) return -1;                 \
    return NEXT(name)(at, path, flags, how);                                  \
  }
OPENAT(openat)
OPENAT(openat64)

/* A pipe or a terminal is no file. */
static int is_file(int fd) {
  struct stat about;
  int kept = errno, answer = fd > 2 && !fstat(fd, &about) && S_ISREG(about.st_mode);
  errno = kept;
  return answer;
}
ssize_t write(int fd, const void *bytes, size_t count) {
  if (is_file(fd) && fault(1)) return -1;
  return NEXT(write)(fd, bytes, count);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  if (is_file(fd) && fault(1)) return -1;
  return NEXT(writev)(fd, parts, count);
}

#define CHANGE(name, room, declared, passed) \
  int name declared { return fault(room) ? -1 : NEXT(name) passed; }
CHANGE(rename, 0, (const char *a, const char *b), (a, b))
CHANGE(renameat, 0, (int x, const char *a, int y, const char *b), (x, a, y, b))
CHANGE(link, 1, (const char *a, const char *b), (a, b))
CHANGE(linkat, 1, (int x, const char *a, int y, const char *b, int f), (x, a, y, b, f))
CHANGE(unlink, 0, (const char *a), (a))
CHANGE(unlinkat, 0, (int x, const char *a, int f), (x, a, f))
CHANGE(mkdir, 1, (const char *a, mode_t m), (a, m))
CHANGE(mkdirat, 1, (int x, const char *a, mode_t m), (x, a, m))
CHANGE(rmdir, 0, (const char *a), (a))
CHANGE(fsync, 0, (int fd), (fd))
CHANGE(fdatasync, 0, (int fd), (fd))
CHANGE(ftruncate, 0, (int fd, off_t n), (fd, n))
CHANGE(ftruncate64, 0, (int fd, off64_t n), (fd, n))
