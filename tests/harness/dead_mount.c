/* dead_mount MOUNT-POINT [PROGRAM]
 *
 * Mounts a file system with one program, `file`, of which the first page of PROGRAM can be read and nothing else ever:
 * whoever executes it is held in the midst of that, until this process ends. Without
 * PROGRAM whoever looks anything up in it is held. When it is mounted, a line goes to stdout
 * and the file `mounted` is made; when somebody is held, the file `held`. Needs root. Ends by itself after two minutes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static char in[1 << 20], out[1 << 20];

static void make(const char *name) { close(open(name, O_CREAT | O_WRONLY, 0600)); }

static struct fuse_attr about(unsigned long node, unsigned long size) {
    struct fuse_attr attr = {.ino = node, .size = size, .nlink = 1, .blksize = 4096};
    attr.mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0755;
    return attr;
}

int main(int count, char **words) {
    int device = open("/dev/fuse", O_RDWR), program = open(words[count - 1], O_RDONLY), served = 0;
    char options[128];
    struct stat stat;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", device);
    if (device < 0 || fstat(program, &stat) || mount("dead", words[1], "fuse", 0, options)) return 1;
    make("mounted");
    if (write(1, "\n", 1) < 0) return 1;
    alarm(120);
    for (;;) {
        struct fuse_in_header *asked = (void *)in;
        struct fuse_out_header *answer = (void *)out;
        void *body = out + sizeof *answer, *given = in + sizeof *asked;
        size_t length = 0;
        if (read(device, in, sizeof in) < 0) {
            if (errno == EINTR || errno == ENOENT) continue;
            return 1;
        }
        if (count < 3 && asked->opcode != FUSE_INIT) {
            make("held");
            for (;;) pause();
        }
        memset(out, 0, 4096);
        answer->unique = asked->unique;
        switch (asked->opcode) {
        case FUSE_INIT: {
            struct fuse_init_out *init = body;
            init->major = 7, init->minor = 31, init->max_write = 4096, length = sizeof *init;
            break;
        }
        case FUSE_LOOKUP: {
            struct fuse_entry_out *entry = body;
            if (strcmp(given, "file")) {
                answer->error = -ENOENT;
                break;
            }
            entry->nodeid = 2, entry->entry_valid = entry->attr_valid = 1000, entry->attr = about(2, stat.st_size);
            length = sizeof *entry;
            break;
        }
        case FUSE_GETATTR: {
            struct fuse_attr_out *attr = body;
            attr->attr_valid = 1000, attr->attr = about(asked->nodeid, stat.st_size), length = sizeof *attr;
            break;
        }
        case FUSE_OPEN:
        case FUSE_OPENDIR: length = sizeof(struct fuse_open_out); break;
        case FUSE_READ: {
            struct fuse_read_in *part = given;
            if (served++) {
                make("held");
                for (;;) pause();
            }
            length = pread(program, body, part->size, part->offset);
            break;
        }
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET: continue;
        case FUSE_RELEASE:
        case FUSE_FLUSH: break;
        default: answer->error = -ENOSYS;
        }
        answer->len = sizeof *answer + length;
        if (write(device, out, answer->len) < 0) return 1;
    }
}
