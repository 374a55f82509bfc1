// Catch2 2.x is header-only: its main() is compiled here, once, for every test executable.
// (Catch2 3 brings a library with main() and does not use this file.)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
