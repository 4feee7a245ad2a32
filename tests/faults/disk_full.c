// SPDX-License-Identifier: Apache-2.0
// A preloaded shim that plays a full disk: once DISK_FULL_AFTER bytes have been written to files whose path contains DISK_FULL_PATH,
// every further write to such a file fails with ENOSPC. Nothing else changes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long written;

static int full(int fd, size_t count) {
	const char *part = getenv("DISK_FULL_PATH");
	const char *after = getenv("DISK_FULL_AFTER");
	char link[64], path[4096];
	if (!part || !after) return 0;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t length = readlink(link, path, sizeof path - 1);
	if (length < 0) return 0;
	path[length] = 0;
	if (!strstr(path, part)) return 0;
	if (atomic_fetch_add(&written, (long)count) + (long)count <= atol(after)) return 0;
	errno = ENOSPC;
	return 1;
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t count) {
	return full(fd, count) ? -1 : NEXT(write)(fd, bytes, count);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
	return full(fd, count) ? -1 : NEXT(pwrite)(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
	return full(fd, count) ? -1 : NEXT(pwrite64)(fd, bytes, count, at);
}
ssize_t writev(int fd, const struct iovec *parts, int n) {
	size_t count = 0;
	for (int i = 0; i < n; i++) count += parts[i].iov_len;
	return full(fd, count) ? -1 : NEXT(writev)(fd, parts, n);
}
