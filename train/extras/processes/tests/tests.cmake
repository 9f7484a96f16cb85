# Two processes that MPI connects. Skipped where it is missing, and under sanitizers, which complain of MPI itself.
if(NOT HEED_SANITIZE)
  heed_add_test(mpi "f32;tools" ${CMAKE_CURRENT_LIST_DIR}/mpi_test.sh --heed $<TARGET_FILE:heed>
                --mpirun "$<IF:$<BOOL:${MPI_CXX_FOUND}>,${MPIEXEC_EXECUTABLE},no-mpirun>")
  set_property(TEST mpi PROPERTY PROCESSORS 2)
endif()
