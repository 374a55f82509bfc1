// The one header through which tests see Catch2: version 3 where the system has it, otherwise 2.13.
// Use what both offer: TEST_CASE, SECTION, REQUIRE, CHECK, CAPTURE, INFO, GENERATE, Approx
// (unqualified).
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;  // as version 2 has it
#else
#include <catch2/catch.hpp>
#endif
