#!/bin/sh
# Runs `retentive hook EVENT ...`. Whatever becomes of it, Claude Code goes on: an exit code other than 0 could block a
# prompt. Nobody waits for what is kept: it goes on by itself, even if Claude Code ends meanwhile. Where retentive is not
# installed, that is said once.
PATH="$PATH:$HOME/.local/bin" # where pipx and uv put programs; not in the PATH of everything that starts Claude Code
export PATH

missing() {
	[ "$1" = session-start ] || return
	said="${CLAUDE_PLUGIN_DATA:-${XDG_CACHE_HOME:-$HOME/.cache}/retentive}/missing"
	[ -e "$said" ] && return
	{ mkdir -p "$(dirname "$said")" && : >"$said"; } 2>/dev/null
	echo '{"systemMessage": "The retentive plugin has no effect: the program is not installed. Try: uv tool install retentive"}'
}

alone() {
	if command -v setsid >/dev/null 2>&1; then
		setsid retentive hook "$@"
	else
		nohup retentive hook "$@"
	fi
}

if ! command -v retentive >/dev/null 2>&1; then
	missing "$1"
elif [ "$1" = session-start ] || [ "$1" = prompt ]; then
	retentive hook "$@"
else
	told=$(cat)
	printf '%s' "$told" | alone "$@" >/dev/null 2>&1 &
fi
exit 0
