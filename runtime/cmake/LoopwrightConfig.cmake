# SPDX-License-Identifier: 0BSD
# find_package(Loopwright), after `make install`:
#
#     loopwright_add_model(NAME MODEL [TARGET T] [OPTIONS WORD...])
#
# adds the static library NAME with NAME.c and NAME.h, which the compiler writes at build time from the file MODEL
# (relative to the source folder), and writes again when MODEL changes. Symbols begin with NAME. A WORD that is a file
# of the source folder, alone or after a `=`, is written with its full path, and the C is written again when it changes.
# Without a build type, and without an -O in the flags of the project or toolchain, the C is compiled with -O2;
# target_compile_options(NAME PRIVATE ...) adds flags after it.
get_filename_component(_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(Loopwright_RUNTIME_DIR "${_prefix}/share/loopwright/runtime")
find_program(Loopwright_EXECUTABLE loopwright HINTS "${_prefix}/bin" NO_DEFAULT_PATH)
unset(_prefix)
if(NOT Loopwright_EXECUTABLE)
    set(Loopwright_FOUND FALSE)
    set(Loopwright_NOT_FOUND_MESSAGE "bin/loopwright is not beside lib/cmake; `make install` puts both under one prefix")
endif()

function(loopwright_add_model name model)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "TARGET" "OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "loopwright_add_model: '${arg_UNPARSED_ARGUMENTS}'; use TARGET T, OPTIONS WORD...")
    endif()
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT "C" IN_LIST languages)
        message(FATAL_ERROR "loopwright_add_model: models are C, which project() does not enable; accepted: "
                            "project(... LANGUAGES C CXX), or enable_language(C) after it")
    endif()
    if(NOT arg_TARGET)
        set(arg_TARGET generic)
    endif()
    get_filename_component(model "${model}" ABSOLUTE)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/loopwright/${name}")
    file(MAKE_DIRECTORY "${folder}")
    set(words "")
    set(files "")
    foreach(word IN LISTS arg_OPTIONS)
        string(REGEX MATCH "^[^=]*=" before "${word}")
        string(REGEX REPLACE "^[^=]*=" "" after "${word}")
        if(NOT after STREQUAL "" AND EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${after}"
           AND NOT IS_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/${after}")
            set(word "${before}${CMAKE_CURRENT_SOURCE_DIR}/${after}")
            list(APPEND files "${CMAKE_CURRENT_SOURCE_DIR}/${after}")
        elseif(IS_ABSOLUTE "${after}" AND EXISTS "${after}" AND NOT IS_DIRECTORY "${after}")
            list(APPEND files "${after}")
        endif()
        list(APPEND words "${word}")
    endforeach()
    add_custom_command(
        OUTPUT "${folder}/${name}.c" "${folder}/${name}.h"
        COMMAND "${Loopwright_EXECUTABLE}" "${model}" --target ${arg_TARGET} --name ${name} ${words}
                -o "${folder}/${name}.c"
        DEPENDS "${model}" "${Loopwright_EXECUTABLE}" ${files}
        COMMENT "Compiling ${model} for ${arg_TARGET}"
        VERBATIM)
    add_library(${name} STATIC "${folder}/${name}.c" "${folder}/${name}.h")
    target_include_directories(${name} PUBLIC "${folder}" PRIVATE "${Loopwright_RUNTIME_DIR}")
    set_target_properties(${name} PROPERTIES C_STANDARD 99)
    if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
        get_directory_property(flags COMPILE_OPTIONS)
        set(optimize "$<$<CONFIG:>:-O2>")
        if("${CMAKE_C_FLAGS};${flags}" MATCHES "(^|[ ;])-O")
            set(optimize "")
        endif()
        target_compile_options(${name} PRIVATE -ffp-contract=off ${optimize})
    endif()
    if(NOT MSVC)
        target_link_libraries(${name} PUBLIC m)
    endif()
endfunction()
