/* bomb KIND COUNT GENERATIONS CGROUP LIMIT END
 *
 * So many processes, each in a session of its own, that never stay the same. KIND `relay`: each starts its successor
 * and ends. KIND `bomb`: each starts others without end, as many as there is room for. GENERATIONS is a file that
 * counts how many were started. CGROUP is the cgroup.procs to enter first, if it is not empty. LIMIT is how many
 * processes the user may have when one of these starts another, if it is not 0. The first process ends after COUNT of
 * them when END is `well`, and else stays. All end by themselves after a minute. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 60 };

static atomic_ulong *generations;
static struct timespec start;

static int is_over(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec - start.tv_sec > SECONDS;
}

static void live(int is_bomb) {
    while (!is_over()) {
        pid_t child = fork();
        if (child == 0) {
            setsid();
            atomic_fetch_add(generations, 1);
        } else if (child > 0 && !is_bomb) {
            _exit(0);
        }
    }
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc != 7) return 64;
    int is_bomb = !strcmp(argv[1], "bomb");
    int file = open(argv[3], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof *generations)) return 66;
    generations = mmap(0, sizeof *generations, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (generations == MAP_FAILED) return 66;
    if (*argv[4]) {
        int cgroup = open(argv[4], O_WRONLY);
        if (cgroup < 0 || write(cgroup, "0", 1) != 1) return 66;
    }
    rlim_t limit = strtoul(argv[5], 0, 10);
    if (limit && setrlimit(RLIMIT_NPROC, &(struct rlimit){limit, limit})) return 66;
    clock_gettime(CLOCK_MONOTONIC, &start);
    unsigned long count = strtoul(argv[2], 0, 10);
    for (unsigned long n = 0; n < count; n++) {
        pid_t child = fork();
        if (child < 0) break; /* The others have taken all the room there is. */
        if (child == 0) {
            setsid();
            live(is_bomb);
        }
    }
    while (atomic_load(generations) < count || strcmp(argv[6], "well"))
        if (usleep(1000) || is_over()) return 70;
    return 0;
}
