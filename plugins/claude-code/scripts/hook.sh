#!/bin/sh
# Runs `retentive hook EVENT ...`. The exit code is always 0, because another one could block a prompt. Recording is
# detached: Claude Code does not wait for it, and it goes on if Claude Code ends. A missing program is reported once.
PATH="$PATH:$HOME/.local/bin" # where pipx and uv put programs; not in the PATH of everything that starts Claude Code
export PATH

report_missing_program() {
	[ "$1" = session-start ] || return
	marker="${CLAUDE_PLUGIN_DATA:-${XDG_CACHE_HOME:-$HOME/.cache}/retentive}/missing"
	[ -e "$marker" ] && return
	{ mkdir -p "$(dirname "$marker")" && : >"$marker"; } 2>/dev/null
	echo '{"systemMessage": "The retentive plugin has no effect: the program is not installed. Try: uv tool install retentive"}'
}

run_in_own_session() {
	if command -v setsid >/dev/null 2>&1; then
		setsid retentive hook "$@"
	else
		nohup retentive hook "$@"
	fi
}

if ! command -v retentive >/dev/null 2>&1; then
	report_missing_program "$1"
elif [ "$1" = session-start ] || [ "$1" = prompt ]; then
	retentive hook "$@"
else
	input=$(cat)
	# The braces redirect the background shell, too: else it would keep our output open, which Claude Code waits for.
	{ printf '%s' "$input" | run_in_own_session "$@"; } >/dev/null 2>&1 &
fi
exit 0
