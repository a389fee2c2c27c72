#include <spawn.h>

// Of glibc 2.34, which shows it to those alone who ask for GNU's extensions.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
