// Sleeping for a time: what tilewise-record knows of it and this library asks.
//
// A program that waits for what a callback will say looks, sleeps, and looks again. One that sleeps
// once and goes on has waited for nothing, though it looks the same from outside: a thread asleep.

#pragma once

// How often this thread (of gettid) has begun to sleep for a time since another one did, and
// whether it sleeps now. Not there where another program has loaded this library.
extern "C" __attribute__((weak, visibility("default"))) unsigned tilewise_sleeps_of(int thread,
                                                                                    bool* now);
