#!/usr/bin/env bash
# run-codex-handoff.sh OPTIONS < PROMPT: hands a prompt to Codex, by codex-launch.
#
#   --model M  --effort E  --timeout-seconds N  --progress-file P  --result-file P  --resume ID  --read-only
#
# and any other option of codex-launch (codex-launch --help). The result is one JSON object, as codex-handoff-result.schema.json beside this
# script says; --output-schema names another. Without --read-only Codex works without a sandbox (--bypass), so only in
# a git worktree. A progress file that is there is started anew (--force). The exit status is codex-launch's.
set -euo pipefail
here="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)"

rights=(--bypass)
schema=(--output-schema "$here/codex-handoff-result.schema.json")
for word in "$@"; do
    case $word in
    --) break ;;
    # Its own usage: codex-launch's help would name other defaults.
    -h | --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$here/run-codex-handoff.sh"
        exit ;;
    # Rights that are asked for in so many words are meant.
    --read-only | --bypass | --sandbox | --sandbox=* | --verify-sign-in) rights=() ;;
    --output-schema | --output-schema=*) schema=() ;;
    esac
done

launch="$(command -v codex-launch || true)"
if [[ -z $launch ]]; then
    echo "run-codex-handoff.sh: codex-launch: not found; install it with $here/install" >&2
    exit 69
fi
# Spelled so that bash 3.2 (macOS), too, takes an empty list for no words.
exec "$launch" --force ${rights[@]+"${rights[@]}"} ${schema[@]+"${schema[@]}"} "$@"
