# Catch2, whichever of 3 and 2.13 the system has, behind one target and one function.
#
#   tilewise_catch_main   link a test with it: Catch2 and its main(). Include "tests/catch.h" (from
#                         common/) in place of Catch2's own headers, which moved between 2 and 3.
#   tilewise_add_test(NAME SOURCES a.cpp ... LIBRARIES x ...)
#                         an executable whose every TEST_CASE is one ctest test named NAME.<case>.
#                         Built by the target tilewise_tests, not by "all": students need no tests.

if(TILEWISE_CATCH_VERSION STREQUAL "any")
  find_package(Catch2 3 QUIET)
  if(NOT Catch2_FOUND)
    find_package(Catch2 2.13 REQUIRED)
  endif()
else()
  find_package(Catch2 ${TILEWISE_CATCH_VERSION} REQUIRED)
endif()
message(STATUS "Tests use Catch2 ${Catch2_VERSION}")

if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
  add_library(tilewise_catch_main INTERFACE)
  target_link_libraries(tilewise_catch_main INTERFACE Catch2::Catch2WithMain)
else()
  # Version 2 is a header: compile its main() once for all tests.
  add_library(tilewise_catch_main STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/tests/catch2_main.cpp)
  target_link_libraries(tilewise_catch_main PUBLIC Catch2::Catch2)
endif()
target_include_directories(tilewise_catch_main INTERFACE ${CMAKE_CURRENT_SOURCE_DIR})

include(Catch)  # catch_discover_tests
add_custom_target(tilewise_tests)

function(tilewise_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  add_dependencies(tilewise_tests ${name})
  target_link_libraries(${name} PRIVATE tilewise_catch_main ${arg_LIBRARIES})
  catch_discover_tests(${name} TEST_PREFIX "${name}." PROPERTIES TIMEOUT 120)
endfunction()
