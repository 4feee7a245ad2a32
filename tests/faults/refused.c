// SPDX-License-Identifier: Apache-2.0
// A preloaded shim that plays missing rights, for root too: unlink fails with EACCES if the path contains REFUSED_UNLINK, link if its new name contains
// REFUSED_LINK. Nothing else changes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refused(const char *variable, const char *path) {
	const char *part = getenv(variable);
	if (!part || !strstr(path, part)) return 0;
	errno = EACCES;
	return 1;
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

int unlink(const char *path) {
	return refused("REFUSED_UNLINK", path) ? -1 : NEXT(unlink)(path);
}
int link(const char *from, const char *to) {
	return refused("REFUSED_LINK", to) ? -1 : NEXT(link)(from, to);
}
