# Two processes that MPI connects. Skipped where it is missing, and under sanitizers, which complain of MPI itself.
if(NOT HEED_SANITIZE)
  add_test(NAME mpi COMMAND ${CMAKE_CURRENT_LIST_DIR}/mpi_test.sh --heed $<TARGET_FILE:heed>
           --mpirun "$<IF:$<BOOL:${MPI_CXX_FOUND}>,${MPIEXEC_EXECUTABLE},no-mpirun>")
  set_tests_properties(mpi PROPERTIES TIMEOUT ${seconds} LABELS "f32;tools" SKIP_RETURN_CODE 77 PROCESSORS 2)
endif()
