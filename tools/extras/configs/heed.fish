# Completion of heed in fish. heed itself says what may follow: see cmd_complete.cpp.
function __heed_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    for line in ($words[1] complete -- $words[2..] $typed 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $typed
            case :folders
                __fish_complete_directories $typed
            case '*'
                echo $line
        end
    end
end
complete -c heed -c heed-f64 -f -a '(__heed_complete)'
