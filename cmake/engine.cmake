# What needs DuckDB: the engine, build/braid.duckdb_extension beside build/libduckdb.so, the stock shell build/duckdb, and
# the command build/braid. Never define DEBUG here: it changes the layout of DuckDB's classes.
add_library(duckdb SHARED IMPORTED)
set_target_properties(duckdb PROPERTIES IMPORTED_LOCATION "${deps}/duckdb/libduckdb.so" IMPORTED_SONAME libduckdb.so)
target_include_directories(duckdb SYSTEM INTERFACE "${deps}/duckdb/include")
target_compile_definitions(duckdb INTERFACE _GLIBCXX_USE_CXX11_ABI=1)

braid_library(braid_engine engine)
target_compile_definitions(braid_engine PUBLIC BRAID_VERSION="${PROJECT_VERSION}")
braid_link(braid_engine braid_kernel duckdb)

# The version script keeps every symbol but the entry point local: libduckdb.so has a CRoaring of its own.
add_library(braid_extension MODULE extension/entry.cc)
target_compile_options(braid_extension PRIVATE ${braid_warnings})
target_link_libraries(braid_extension PRIVATE braid_engine)
set_target_properties(braid_extension PROPERTIES
  PREFIX "" OUTPUT_NAME braid SUFFIX .so
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN"
  LINK_DEPENDS "${CMAKE_SOURCE_DIR}/extension/exports.map")
target_link_options(braid_extension PRIVATE
  "-Wl,--version-script=${CMAKE_SOURCE_DIR}/extension/exports.map" -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,--gc-sections)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(footer "${CMAKE_SOURCE_DIR}/extension/append_footer.py")
add_custom_command(
  OUTPUT "${CMAKE_BINARY_DIR}/braid.duckdb_extension"
  COMMAND "${Python3_EXECUTABLE}" "${footer}" "$<TARGET_FILE:braid_extension>"
    "${CMAKE_BINARY_DIR}/braid.duckdb_extension" v${BRAID_DUCKDB_VERSION} v${PROJECT_VERSION}
  DEPENDS braid_extension "${footer}" VERBATIM)
add_custom_target(braid_loadable ALL DEPENDS "${CMAKE_BINARY_DIR}/braid.duckdb_extension")
file(CREATE_LINK "${deps}/duckdb/libduckdb.so" "${CMAKE_BINARY_DIR}/libduckdb.so" SYMBOLIC)
file(CREATE_LINK "${deps}/duckdb/duckdb" "${CMAKE_BINARY_DIR}/duckdb" SYMBOLIC)

add_executable(braid cli/main.cc cli/launcher.cc)
target_compile_options(braid PRIVATE ${braid_warnings})
target_include_directories(braid PRIVATE "${CMAKE_SOURCE_DIR}")
target_compile_definitions(braid PRIVATE
  BRAID_VERSION="${PROJECT_VERSION}" BRAID_DUCKDB_VERSION="${BRAID_DUCKDB_VERSION}")

add_executable(braid-demo cli/demo.cc cli/demo_plan.cc cli/demo_report.cc cli/session_process.cc cli/database.cc
  cli/launcher.cc)
target_compile_options(braid-demo PRIVATE ${braid_warnings})
target_include_directories(braid-demo PRIVATE "${CMAKE_SOURCE_DIR}")
target_link_libraries(braid-demo PRIVATE duckdb)
set_target_properties(braid-demo PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
