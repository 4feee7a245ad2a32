# The project's kinds of targets. A folder that is still empty makes an interface library, so that the rest builds.
set(braid_warnings -Wall -Wextra -Wno-missing-field-initializers -Wshadow=local -Wnon-virtual-dtor -Werror)

# One or more sources from the dependency folder as a static library: no warnings, nothing exported.
function(braid_third_party name dir)
  list(TRANSFORM ARGN PREPEND "${dir}/" OUTPUT_VARIABLE sources)
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} SYSTEM PUBLIC "${dir}")
  target_compile_options(${name} PRIVATE -w -fvisibility=hidden)
endfunction()

# All .cc files below the given folders as one static library with the project's warnings.
function(braid_library name)
  list(TRANSFORM ARGN PREPEND "${CMAKE_SOURCE_DIR}/")
  list(TRANSFORM ARGN APPEND "/*.cc" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${patterns})
  if(sources)
    add_library(${name} STATIC ${sources})
    target_compile_options(${name} PRIVATE ${braid_warnings})
    target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${CMAKE_SOURCE_DIR}")
  endif()
endfunction()

function(braid_link name)
  get_target_property(kind ${name} TYPE)
  if(kind STREQUAL INTERFACE_LIBRARY)
    target_link_libraries(${name} INTERFACE ${ARGN})
  else()
    target_link_libraries(${name} PUBLIC ${ARGN})
  endif()
endfunction()
