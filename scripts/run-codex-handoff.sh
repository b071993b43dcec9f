#!/usr/bin/env bash
# run-codex-handoff.sh OPTIONS < PROMPT: hands a prompt to Codex, by codex-launch.
#
#   --model M  --effort E  --timeout-seconds N  --progress-file P  --result-file P  --resume ID  --read-only
#
# and any other option of codex-launch (codex-launch --help). The script adds options of its own:
#
#   --force          a progress file that is there is started anew
#   --bypass         no sandbox, so only in a git worktree; not with --read-only or --sandbox
#   --cd TOP         the top of the git worktree that the script is started in; not with --cd
#   --output-schema  codex-handoff-result.schema.json beside this script; not with --output-schema
#   -c notify=[]     the notify program of the user's configuration is not started
#   -c service_tier="default"
#
# A later -c of yours replaces the script's. The result is one JSON object with the fields status, summary,
# changed_files, verification, residual_risks and blockers. With --verify-sign-in the script adds nothing.
# The exit status is codex-launch's.
set -euo pipefail
here="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)"

# The top of the git worktree that this directory is in, by the rule of codex-launch; nothing outside one.
top="$(pwd -P)"
until [[ -z $top || -f $top/.git || -e $top/.git/HEAD ]]; do
    top=${top%/*}
done

rights=(--bypass)
place=(${top:+--cd "$top"})
schema=(--output-schema "$here/codex-handoff-result.schema.json")
settings=(--force -c 'notify=[]' -c 'service_tier="default"')
for word in "$@"; do
    case $word in
    --) break ;;
    # Its own usage: codex-launch's help would name other defaults.
    -h | --help)
        sed -n '2,/^set/s/^# \{0,1\}//p' "$here/run-codex-handoff.sh"
        exit ;;
    --verify-sign-in) rights=() place=() schema=() settings=() ;;
    # Rights that are asked for in so many words are meant.
    --read-only | --bypass | --sandbox | --sandbox=*) rights=() ;;
    --cd | --cd=*) place=() ;;
    --output-schema | --output-schema=*) schema=() ;;
    esac
done

launch="$(command -v codex-launch || true)"
if [[ -z $launch ]]; then
    echo "run-codex-handoff.sh: codex-launch: not found; install it with $here/install" >&2
    exit 69
fi
# Spelled so that bash 3.2 (macOS), too, takes an empty list for no words.
exec "$launch" ${rights[@]+"${rights[@]}"} ${place[@]+"${place[@]}"} ${schema[@]+"${schema[@]}"} \
    ${settings[@]+"${settings[@]}"} "$@"
