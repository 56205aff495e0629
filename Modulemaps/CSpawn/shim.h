#pragma once
// What glibc declares under _GNU_SOURCE alone, without which Swift's Glibc module is built.
#include <spawn.h>
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int pipe2(int ends[2], int flags);
