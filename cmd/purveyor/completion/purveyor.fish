# Completion of purveyor for fish. Load it with: purveyor completion fish | source
function __purveyor_complete
    set -l before (commandline -opc)
    set -l current "$(commandline -ct)"
    set -l flag (string match -r -- '^--[^=]*=' $current)
    set -l value (string replace -r -- '^--[^=]*=' '' $current)
    for line in ($before[1] completion words -- $before[2..] $current 2>/dev/null)
        switch $line
            case :file
                printf "$flag%s\n" (__fish_complete_path "$value")
            case :dir
                printf "$flag%s\n" (__fish_complete_directories "$value")
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c purveyor -f -a '(__purveyor_complete)'
