/* Preloaded into the programs of a case: makes one write fail or come up short, or sets the clock.
 *
 * CODEX_FILTERS_FAULT is `eio NAME N` or `short NAME N`: the Nth write to a regular file in the program of that name;
 * or `clock MS SECONDS`: from so many milliseconds after its start on, the clock of each program is off by so much.
 * CODEX_FILTERS_FAULT_SEEN is the file that is made when a write was tampered with. Standard error is left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static enum { NOTHING, EIO_ONCE, SHORT_ONCE, CLOCK } fault;
static atomic_long left;
static long after, step;
static struct timespec start;
static const char *seen;

static void now(clockid_t clock, struct timespec *at) { syscall(SYS_clock_gettime, clock, at); }

__attribute__((constructor)) static void read_fault(void) {
    const char *text = getenv("CODEX_FILTERS_FAULT");
    char kind[8], name[64];
    long number;
    seen = getenv("CODEX_FILTERS_FAULT_SEEN");
    if (!text) return;
    if (sscanf(text, "clock %ld %ld", &after, &step) == 2) {
        fault = CLOCK;
        now(CLOCK_MONOTONIC, &start);
    } else if (sscanf(text, "%7s %63s %ld", kind, name, &number) == 3 && !strcmp(name, program_invocation_short_name)) {
        fault = strcmp(kind, "eio") ? SHORT_ONCE : EIO_ONCE;
        left = number;
    }
}

/* Whether this write is the one. */
static int is_hit(int fd) {
    struct stat about;
    if ((fault != EIO_ONCE && fault != SHORT_ONCE) || fd == 2) return 0;
    if (fstat(fd, &about) || !S_ISREG(about.st_mode) || atomic_fetch_sub(&left, 1) != 1) return 0;
    if (seen) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, seen, O_CREAT | O_WRONLY, 0600));
    return 1;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    if (count > 1 && is_hit(fd)) {
        if (fault == EIO_ONCE) {
            errno = EIO;
            return -1;
        }
        count /= 2;
    }
    return syscall(SYS_write, fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (count > 0 && is_hit(fd)) {
        if (fault == EIO_ONCE) {
            errno = EIO;
            return -1;
        }
        return syscall(SYS_write, fd, parts[0].iov_base, parts[0].iov_len / 2);
    }
    return syscall(SYS_writev, fd, parts, count);
}

#undef fwrite_unlocked
/* What GNU tee writes with. The library underneath makes good for a write that comes up short. */
size_t fwrite_unlocked(const void *bytes, size_t size, size_t count, FILE *file) {
    static size_t (*real)(const void *, size_t, size_t, FILE *);
    if (fault == EIO_ONCE && is_hit(fileno(file))) {
        errno = EIO;
        return 0;
    }
    if (!real) real = (size_t(*)(const void *, size_t, size_t, FILE *))dlsym(RTLD_NEXT, "fwrite_unlocked");
    return real(bytes, size, count, file);
}

static long drift(void) {
    struct timespec at;
    if (fault != CLOCK) return 0;
    now(CLOCK_MONOTONIC, &at);
    return (at.tv_sec - start.tv_sec) * 1000 + (at.tv_nsec - start.tv_nsec) / 1000000 >= after ? step : 0;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    int result = syscall(SYS_clock_gettime, clock, at);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += drift();
    return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    int result = syscall(SYS_gettimeofday, at, zone);
    if (!result) at->tv_sec += drift();
    return result;
}

time_t time(time_t *at) {
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    if (at) *at = real.tv_sec;
    return real.tv_sec;
}
