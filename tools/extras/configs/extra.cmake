# Needs: checks
# The scripts by which shells ask heed for completions, where bash, zsh and fish look for them. Debian's zsh looks for those
# of packages in a folder of its own.
set(heed_completion ${CMAKE_CURRENT_LIST_DIR})
set(zsh_folder site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
  set(zsh_folder vendor-completions)
endif()
foreach(program heed heed-f64)
  install(FILES ${heed_completion}/heed.bash DESTINATION share/bash-completion/completions RENAME ${program})
  install(FILES ${heed_completion}/heed.fish DESTINATION share/fish/vendor_completions.d RENAME ${program}.fish)
endforeach()
install(FILES ${heed_completion}/heed.zsh DESTINATION share/zsh/${zsh_folder} RENAME _heed)
