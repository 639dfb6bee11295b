/*
 * Loaded before a server's own libraries: a sync of its files takes as long as the control file of its
 * process says, in milliseconds, and no time without one. Nothing is really synced: only machines lose by that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int slow(void) {
  const char *prefix = getenv("SLOW_DISK_FILE");
  char path[4096];
  FILE *file = NULL;
  int milliseconds = 0;
  if (prefix) {
    snprintf(path, sizeof path, "%s.%d", prefix, (int)getpid());
    file = fopen(path, "r");
  }
  if (file) {
    if (fscanf(file, "%d", &milliseconds) != 1) milliseconds = 0;
    fclose(file);
  }
  if (milliseconds > 0) {
    struct timespec rest = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    nanosleep(&rest, NULL);
  }
  return 0;
}

int fsync(int fd) {
  (void)fd;
  return slow();
}

int fdatasync(int fd) {
  (void)fd;
  return slow();
}
