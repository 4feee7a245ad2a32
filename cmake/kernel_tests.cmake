# One test program for the kernel: tests/kernel/*_test.cc.
find_package(GTest REQUIRED)
file(GLOB test_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/kernel/*.cc")
if(test_sources)
  add_executable(braid_kernel_tests ${test_sources})
  target_compile_options(braid_kernel_tests PRIVATE ${braid_warnings})
  target_link_libraries(braid_kernel_tests PRIVATE braid_kernel GTest::gtest_main Threads::Threads)
endif()
