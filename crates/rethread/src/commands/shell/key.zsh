# Opens the picker of sessions and puts the command that resumes one into the command line.
__rethread_pick() {
    local picked
    picked="$(rethread tui --inline --print </dev/tty)"
    if [[ -n $picked ]]; then
        BUFFER=$picked
        CURSOR=${#BUFFER}
    fi
    zle reset-prompt
}
if [[ -o interactive ]]; then
    zle -N __rethread_pick
    for __rethread_map in emacs viins vicmd; do
        bindkey -M "$__rethread_map" '@KEY@' __rethread_pick
    done
    unset __rethread_map
fi
