# Opens the picker of sessions and puts the command that resumes one into the command line.
__rethread_pick() {
    local picked
    picked="$(rethread tui --inline --print </dev/tty)" || return
    [[ -n $picked ]] || return
    READLINE_LINE=$picked
    READLINE_POINT=${#picked}
}
if [[ $- == *i* ]]; then
    for __rethread_map in emacs-standard vi-insert vi-command; do
        bind -m "$__rethread_map" -x '"@KEY@": __rethread_pick'
    done
    unset __rethread_map
fi
