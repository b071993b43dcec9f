#!/usr/bin/env bash
# pipeline.sh LIMIT PROGRESS RESULT PROMPT: a run of Codex as careful people script it today, for comparison.
#
# Events go to PROGRESS and to stdout, the answer to RESULT, and a trap adds the sentinel, whatever ends the script.
set -uo pipefail
limit=$1 progress=$2 result=$3 prompt=$4
tmp=$(mktemp -d) || exit 125
child='' group='' tee=''

# shellcheck disable=SC2317 # A trap calls it.
finish() {
    status=$?
    trap '' INT TERM HUP
    trap - EXIT
    if [[ -n $child ]] && kill -0 "$child" 2>/dev/null; then
        kill -TERM "$child" # timeout hands it on to Codex and its group
        wait "$child"
    fi
    # timeout has made the group, and it may be gone while members of it are not.
    [[ -z $group ]] || kill -KILL -- "-$group" 2>/dev/null
    # A background process of Codex may hold the pipe open for ever.
    for _ in {1..20}; do
        kill -0 "$tee" 2>/dev/null || break
        sleep 0.05
    done
    [[ -z $tee ]] || kill -TERM "$tee" 2>/dev/null
    # A line that was cut short must not swallow the sentinel.
    if [[ -s $progress && -n $(tail -c 1 "$progress") ]]; then
        echo >>"$progress"
    fi
    if [[ $status -eq 0 ]] && mv "$tmp/last" "$result"; then
        printf '{"type":"handoff.completed","elapsed_seconds":%d}\n' "$SECONDS" >>"$progress"
    elif [[ $status -eq 124 ]]; then
        printf '{"type":"handoff.failed","reason":"timeout","elapsed_seconds":%d}\n' "$SECONDS" >>"$progress"
    else
        [[ $status -ne 0 ]] || status=1
        printf '{"type":"handoff.failed","reason":"error","rc":%d,"elapsed_seconds":%d}\n' \
            "$status" "$SECONDS" >>"$progress"
    fi || status=74
    rm -rf "$tmp"
    exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

exec 3> >(exec tee -p -- "$progress")
tee=$!
# In the background, so that a trap runs as soon as its signal comes.
timeout --kill-after 5 "$limit" "$CODEX" exec --json -o "$tmp/last" - <"$prompt" >&3 &
child=$! group=$!
exec 3>&-
wait "$child"
status=$?
child=''
exit "$status"
