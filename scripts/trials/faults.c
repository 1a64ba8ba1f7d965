/* Preloaded into a process, this makes a file system full, failing or slow for it, below one directory.
 *
 * FAULT_DIR   the directory, without a slash at its end
 * FAULT_KIND  full: writes from the given one on fail with ENOSPC
 *             spent: so do they, and what makes files or directories
 *             broken: each operation fails with EIO, one in so many, at random
 *             slow: each operation takes so many microseconds longer, and short reads and writes are usual
 * FAULT_AT    which write, one in how many, or how many microseconds
 * FAULT_SEED  decides what is random
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))real(#name))

enum { NONE, FULL, SPENT, BROKEN, SLOW };
enum { READS, WRITES, MAKES };

static char directory[PATH_MAX];
static int kind;
static long at;
static atomic_long count;
static atomic_ulong state;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
    const char *chosen = getenv("FAULT_KIND"), *below = getenv("FAULT_DIR");
    const char *number = getenv("FAULT_AT"), *seed = getenv("FAULT_SEED");
    if (!chosen || !below || !number || strlen(below) >= sizeof directory) return;
    strcpy(directory, below);
    at = atol(number);
    atomic_store(&state, (seed ? strtoul(seed, 0, 10) : 1) * 2654435761u + (unsigned long)getpid());
    static const char *const names[] = {"none", "full", "spent", "broken", "slow"};
    for (int one = FULL; one <= SLOW; one++)
        if (!strcmp(chosen, names[one])) kind = one;
}

static unsigned long drawn(void) {
    unsigned long x = atomic_fetch_add(&state, 0x9E3779B97F4A7C15ul) + 0x9E3779B97F4A7C15ul;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ul;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBul;
    return x ^ (x >> 31);
}

static int is_below(const char *path) {
    size_t length = strlen(directory);
    return length && !strncmp(path, directory, length) && (path[length] == '/' || !path[length]);
}

static int is_ours(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!kind) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_path_ours(int folder, const char *path) {
    char link[64], base[PATH_MAX];
    if (!kind || !path) return 0;
    if (path[0] == '/') return is_below(path);
    if (folder == AT_FDCWD) return getcwd(base, sizeof base) && is_below(base);
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, base, sizeof base - 1);
    if (length <= 0) return 0;
    base[length] = 0;
    return is_below(base);
}

/* Whether an operation fails now; a slow one waits here. */
static int fails(int what) {
    if (kind == SLOW) {
        usleep(drawn() % (2 * at + 1));
    } else if ((kind == FULL && what == WRITES) || (kind == SPENT && what != READS)) {
        if (atomic_fetch_add(&count, 1) + 1 >= at) { errno = ENOSPC; return 1; }
    } else if (kind == BROKEN && drawn() % at == 0) {
        errno = EIO;
        return 1;
    }
    return 0;
}

/* What a read or a write of so many bytes moves: on a slow file system, often less. */
static size_t moved(size_t size) {
    return kind == SLOW && size > 1 && drawn() % 4 == 0 ? 1 + drawn() % size : size;
}

#define TRANSFER(name, constant, what, type, parameters, arguments)                      \
    ssize_t name(int descriptor, constant void *bytes, size_t size parameters) {         \
        if (is_ours(descriptor)) {                                                       \
            if (fails(what)) return -1;                                                  \
            size = moved(size);                                                          \
        }                                                                                \
        return REAL(name)(descriptor, bytes, size arguments);                            \
    }
#define COMMA ,
TRANSFER(write, const, WRITES, , , )
TRANSFER(read, , READS, , , )
TRANSFER(pwrite, const, WRITES, , COMMA off_t offset, COMMA offset)
TRANSFER(pwrite64, const, WRITES, , COMMA off64_t offset, COMMA offset)
TRANSFER(pread, , READS, , COMMA off_t offset, COMMA offset)
TRANSFER(pread64, , READS, , COMMA off64_t offset, COMMA offset)

ssize_t writev(int descriptor, const struct iovec *pieces, int number) {
    if (is_ours(descriptor) && fails(WRITES)) return -1;
    return REAL(writev)(descriptor, pieces, number);
}

#define ON_DESCRIPTOR(name, what, failed, parameters, arguments) \
    int name(int descriptor parameters) {                        \
        if (is_ours(descriptor) && fails(what)) return failed;   \
        return REAL(name)(descriptor arguments);                 \
    }
ON_DESCRIPTOR(fsync, WRITES, -1, , )
ON_DESCRIPTOR(fdatasync, WRITES, -1, , )
ON_DESCRIPTOR(fallocate, WRITES, -1, COMMA int mode COMMA off_t offset COMMA off_t size, COMMA mode COMMA offset COMMA size)
ON_DESCRIPTOR(fallocate64, WRITES, -1, COMMA int mode COMMA off64_t offset COMMA off64_t size,
              COMMA mode COMMA offset COMMA size)
ON_DESCRIPTOR(posix_fallocate, WRITES, errno, COMMA off_t offset COMMA off_t size, COMMA offset COMMA size)
ON_DESCRIPTOR(posix_fallocate64, WRITES, errno, COMMA off64_t offset COMMA off64_t size, COMMA offset COMMA size)

/* To make a file shorter needs no room, to make it longer does. */
#define TRUNCATE(name, type)                                                                          \
    int name(int descriptor, type size) {                                                             \
        struct stat now;                                                                              \
        if (is_ours(descriptor) && !fstat(descriptor, &now) && now.st_size < size && fails(WRITES)) return -1; \
        return REAL(name)(descriptor, size);                                                          \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define OPEN(name, parameters, arguments, folder)                                              \
    int name(parameters const char *path, int flags, ...) {                                    \
        va_list rest;                                                                          \
        va_start(rest, flags);                                                                 \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;              \
        va_end(rest);                                                                          \
        if (is_path_ours(folder, path) && fails(flags & O_CREAT && access(path, F_OK) ? MAKES : READS)) return -1; \
        return REAL(name)(arguments path, flags, mode);                                        \
    }
OPEN(open, , , AT_FDCWD)
OPEN(open64, , , AT_FDCWD)
OPEN(openat, int folder COMMA, folder COMMA, folder)
OPEN(openat64, int folder COMMA, folder COMMA, folder)

int mkdir(const char *path, mode_t mode) {
    if (is_path_ours(AT_FDCWD, path) && fails(MAKES)) return -1;
    return REAL(mkdir)(path, mode);
}

int rename(const char *from, const char *to) {
    if (is_path_ours(AT_FDCWD, to) && fails(MAKES)) return -1;
    return REAL(rename)(from, to);
}
