# What `make bench` measures of the kernel alone: tests/bench/kernel_bench.cc. Not built by default.
if(TARGET braid_simdjson AND EXISTS "${CMAKE_SOURCE_DIR}/kernel/txn/committer.cc")
  add_executable(braid_bench EXCLUDE_FROM_ALL tests/bench/kernel_bench.cc)
  target_compile_options(braid_bench PRIVATE ${braid_warnings})
  target_link_libraries(braid_bench PRIVATE braid_kernel Threads::Threads)
endif()
