#!/bin/sh
# Runs `retentive hook EVENT ...`. Whatever becomes of it, Claude Code goes on: another exit code than 0 could block a
# prompt. Where retentive is not installed, that is said once, and not again.
PATH="$PATH:$HOME/.local/bin" # where pipx and uv put programs; not in the PATH of everything that starts Claude Code
export PATH

if command -v retentive >/dev/null 2>&1; then
	retentive hook "$@"
elif [ "$1" = session-start ]; then
	said="${CLAUDE_PLUGIN_DATA:-${XDG_CACHE_HOME:-$HOME/.cache}}/retentive-missing"
	if [ ! -e "$said" ]; then
		mkdir -p "$(dirname "$said")" 2>/dev/null && : 2>/dev/null >"$said"
		echo '{"systemMessage": "The retentive plugin has nothing to do: the program is not installed. Try: uv tool install retentive"}'
	fi
fi
exit 0
