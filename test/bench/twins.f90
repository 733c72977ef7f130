! Fortran with OpenMP: numbers, formats, files, threads, a status.
program twins
  implicit none
  integer :: i
  real(8) :: total, roots(1000)
  character(len=80) :: line

  do i = 1, 1000
    roots(i) = sqrt(real(i, 8))
  end do
  total = sum(roots)
  print *, 'sum', total
  write (*, '(A,F12.5)') 'formatted ', total
  open (10, file='/tmp/twins.f', status='replace')
  write (10, *) 'line one', 42
  close (10)
  open (10, file='/tmp/twins.f', status='old')
  read (10, '(A)') line
  print *, trim(line)
  close (10, status='delete')
  !$omp parallel do reduction(+:total)
  do i = 1, 1000
    total = total + roots(i)
  end do
  print '(F12.4)', total
  stop 3
end program
