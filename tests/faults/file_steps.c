// SPDX-License-Identifier: Apache-2.0
// A preloaded shim that sees each operation on files whose path contains STEPS_PATH: from file_steps_start(log, last, resume) on it writes one line per
// operation to the descriptor `log`. Before the operation number `last` (if that is not 0) the process dies as by kill -9; or, if there is a descriptor
// `resume` (not -1), it writes "paused" and waits until a byte can be read from it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int log_fd = -1, resume_fd = -1;
static long last_step;
static atomic_long steps;

void file_steps_start(int log, long last, int resume) {
	last_step = last;
	resume_fd = resume;
	steps = 0;
	log_fd = log;
}

static void stop_here(void) {
	char byte;
	if (resume_fd < 0) syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
	syscall(SYS_write, log_fd, "paused\n", 7);
	syscall(SYS_read, resume_fd, &byte, 1);
}

static void step(const char *name, const char *path) {
	const char *part = getenv("STEPS_PATH");
	// Leases say what a process reads; they are no step of what it does to the table.
	if (log_fd < 0 || !part || !path || !strstr(path, part) || strstr(path, "/_braid/leases")) return;
	if (atomic_fetch_add(&steps, 1) + 1 == last_step) stop_here();
	char line[4200];
	int length = snprintf(line, sizeof line, "%s %s\n", name, path);
	syscall(SYS_write, log_fd, line, length);
}

static void step_fd(const char *name, int fd) {
	char link[64], path[4096];
	if (log_fd < 0) return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length < 0) return;
	path[length] = 0;
	step(name, path);
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

static const char *opening(int flags) { return flags & O_CREAT ? "create" : flags & O_DIRECTORY ? "list" : "open"; }

#define MODE(flags)                                  \
	mode_t mode = 0;                                 \
	if ((flags) & (O_CREAT | O_TMPFILE)) {           \
		va_list rest;                                \
		va_start(rest, flags);                       \
		mode = va_arg(rest, mode_t);                 \
		va_end(rest);                                \
	}

int open(const char *path, int flags, ...) {
	MODE(flags)
	step(opening(flags), path);
	return NEXT(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
	MODE(flags)
	step(opening(flags), path);
	return NEXT(open64)(path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
	MODE(flags)
	step(opening(flags), path);
	return NEXT(openat)(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
	MODE(flags)
	step(opening(flags), path);
	return NEXT(openat64)(at, path, flags, mode);
}
ssize_t write(int fd, const void *bytes, size_t count) {
	step_fd("write", fd);
	return NEXT(write)(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
	step_fd("write", fd);
	return NEXT(pwrite)(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
	step_fd("write", fd);
	return NEXT(pwrite64)(fd, bytes, count, at);
}
int fsync(int fd) {
	step_fd("sync", fd);
	return NEXT(fsync)(fd);
}
int fdatasync(int fd) {
	step_fd("sync", fd);
	return NEXT(fdatasync)(fd);
}
int link(const char *from, const char *to) {
	step("link", to);
	return NEXT(link)(from, to);
}
int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
	step("link", to);
	return NEXT(linkat)(from_at, from, to_at, to, flags);
}
int rename(const char *from, const char *to) {
	step("rename", to);
	return NEXT(rename)(from, to);
}
int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
	step("rename", to);
	return NEXT(renameat2)(from_at, from, to_at, to, flags);
}
int unlink(const char *path) {
	step("unlink", path);
	return NEXT(unlink)(path);
}
int rmdir(const char *path) {
	step("rmdir", path);
	return NEXT(rmdir)(path);
}
int flock(int fd, int operation) {
	step_fd(operation & LOCK_UN ? "unlock" : "lock", fd);
	return NEXT(flock)(fd, operation);
}
