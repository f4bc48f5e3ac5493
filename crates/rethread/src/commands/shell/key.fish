# Opens the picker of sessions and puts the command that resumes one into the command line.
function __rethread_pick
    set -l picked (rethread tui --inline --print </dev/tty | string collect)
    if test -n "$picked"
        commandline --replace -- $picked
    end
    commandline -f repaint
end
if status is-interactive
    for __rethread_map in default insert
        bind -M $__rethread_map @KEY@ __rethread_pick
    end
    set -e __rethread_map
end
