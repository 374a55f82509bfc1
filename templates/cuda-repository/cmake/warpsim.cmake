# Tests that run under warpsim: no GPU is needed, and what it finds fails the test.
#
#   include(cmake/warpsim.cmake)
#   warpsim_add_test(NAME scale TARGET scale ARGS 1000)
#
# The test fails where the program fails, where warpsim finds an error or a warning, and where it has
# to refuse something. Each leaves BUILD/warpsim/NAME.sarif; `cmake --build BUILD --target
# warpsim_sarif` makes one file of them, BUILD/warpsim.sarif.
#
# WARPSIM_PROGRAM is the program `warpsim`, found in PATH; without one the tests are skipped.

find_program(WARPSIM_PROGRAM warpsim DOC "warpsim, which runs CUDA programs with no GPU")
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/warpsim)

function(warpsim_add_test)
  cmake_parse_arguments(arg "" "NAME;TARGET;CHECKS" "ARGS" ${ARGN})
  # What warpsim needs of a program: the runtime in a library of its own, PTX (which CMake embeds by
  # default), and line numbers, to say where.
  set_target_properties(${arg_TARGET} PROPERTIES CUDA_RUNTIME_LIBRARY Shared)
  target_compile_options(${arg_TARGET} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo -Xcompiler=-g1>)
  if(NOT arg_CHECKS)
    set(arg_CHECKS all)
  endif()
  set(program ${WARPSIM_PROGRAM})
  if(NOT program)
    set(program ${CMAKE_COMMAND} -E echo)
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${program} run --error-exitcode 1 --checks ${arg_CHECKS}
    --sarif ${CMAKE_BINARY_DIR}/warpsim/${arg_NAME}.sarif --sarif-root ${CMAKE_SOURCE_DIR}
    -- $<TARGET_FILE:${arg_TARGET}> ${arg_ARGS})
  if(NOT WARPSIM_PROGRAM)
    set_tests_properties(${arg_NAME} PROPERTIES DISABLED TRUE)
  endif()
  set_property(GLOBAL APPEND PROPERTY WARPSIM_SARIF ${CMAKE_BINARY_DIR}/warpsim/${arg_NAME}.sarif)
endfunction()

# To be called once, after the last warpsim_add_test.
function(warpsim_add_report)
  get_property(files GLOBAL PROPERTY WARPSIM_SARIF)
  add_custom_target(warpsim_sarif
    COMMAND ${WARPSIM_PROGRAM} merge-sarif --output ${CMAKE_BINARY_DIR}/warpsim.sarif ${files}
    VERBATIM)
endfunction()
