#!/bin/sh
# watch-codex-wave.sh OPTIONS: the name of the shell watcher, for scripts that still type it; its options are those of
# wave-watch. The program is looked for in PATH alone, so that an installed copy and this file cannot disagree.
command -v wave-watch >/dev/null || {
    echo 'watch-codex-wave.sh: wave-watch: not found; scripts/install puts it where cargo puts programs' >&2
    exit 127
}
exec wave-watch "$@"
