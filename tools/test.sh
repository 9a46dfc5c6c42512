#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs the tests, one phase after the other, says every ten seconds how far it has come, and adds up.
#
#   tools/test.sh PHASE...
#
#   tests    everything that needs no GPU, in build-test/: library, programs, the Python package, the constant-time
#            checks (label ct), format and links of the sources (lint), the documentation site (docs), the Cortex-M4 on
#            QEMU (arm); of the CUDA code the host side. The library is optimised like a release, with the hooks of the
#            constant-time check. Code for AVX-512 is compiled where this CPU can run it; elsewhere its syntax and types
#            are checked, and test-full compiles it
#   sanitize the quick tests under AddressSanitizer and most of UndefinedBehaviorSanitizer, without vector code, in
#            build-sanitize/; sanitize-full: all of them, with vector code
#   threads  tests of threads under ThreadSanitizer, in build-tsan/
#
#   full     all CUDA code, the simulated hardware core and the long tests of the release build, in build/: label full
#   ct-full  the other constant-time checks: three optimisation levels, a second compiler
#   threads-full  every test of the API and of the CUDA module's host side under ThreadSanitizer
#   python-full  the long tests of the Python package
#   python-sanitize  the quick ones under both sanitizers, bulk jobs left out, in build-sanitize/
#   program  the program's tests under both sanitizers, faulty network clients included, in build-sanitize/
#   ubsan    the quick tests under all of UndefinedBehaviorSanitizer, in build-ubsan/
#   fuzz     every fuzzer for POLYKEM_FUZZ_SECONDS (10), in build-fuzz/, from its seeds and from what earlier runs have
#            kept in POLYKEM_FUZZ_CORPUS (build-fuzz/corpus)
#   mutants  faults planted one at a time, each of which a test must find: tools/mutants.py
#   modes    known answers, zeroization and constant time of -O2 without PIE, of link-time optimisation and of Debian's
#            flags, and known answers of a debug build, in build-modes/
#   tidy     clang-tidy over all sources, in build-tidy/
#   compilers  no warning of the oldest and the newest GCC and Clang found here, in build-compilers/
#
#   exhaustive  parsers against every input that differs from a seed by a cut or a byte: an hour of one core
#   traces   step-by-step traces of every set and every arrangement of items at -O3: five hours of one core
#
#   coverage the lines of C++ that the quick tests run, as a table, in build-coverage/
#   fuzz-coverage  the lines of each parser that the fuzzers' inputs reach, as a table, in build-fuzz-coverage/
#
# The last line is "N passed, N failed"; the exit status is 0 only when something ran and nothing failed.
# A phase that does not build counts as one failure, and the other phases still run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
launcher=()
if command -v ccache >/dev/null 2>&1; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_DEPEND=${CCACHE_DEPEND:-1} # no second run of the preprocessor
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros} # of precompiled headers
fi

sanitizer_labels='^(quick|unit|kat|lanes)$' # of them a phase leaves out what tests/CMakeLists.txt says

# CPU seconds of each step with an empty compiler cache, on two quiet cores of a Zen 4; for test-full's own steps
# rough figures. The estimate of the time left goes by their ratios.
declare -A typical=([tests.build]=620 [tests.test]=610 [sanitize.build]=155 [sanitize.test]=98 [threads.build]=71
  [threads.test]=44 [python-full.build]=6 [python-full.test]=600 [python-sanitize.build]=60
  [python-sanitize.test]=330 [full.build]=690 [full.test]=6000 [ct-full.build]=900
  [ct-full.test]=2700 [sanitize-full.build]=660 [sanitize-full.test]=1200 [program.build]=750 [program.test]=600
  [threads-full.build]=240 [threads-full.test]=900 [ubsan.build]=1200 [ubsan.test]=900 [fuzz.build]=600
  [fuzz.test]=360 [fuzz-coverage.build]=600 [fuzz-coverage.test]=60 [mutants.test]=900 [tidy.test]=5000
  [exhaustive.build]=690 [exhaustive.test]=3600
  [traces.build]=300 [traces.test]=18000 [compilers.build]=1700 [coverage.build]=610 [coverage.test]=1180)

passed=0
failed=0
summary=()
skips=()
weight_all=0  # of every step of this run, and of those that are done
weight_done=0
watcher=

rewrite=no # one line of progress, written again and again, where there is a terminal that can do so
[[ -t 1 && ${TERM:-dumb} != dumb ]] && rewrite=yes

clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# CPU seconds of everything that this script has started and waited for.
cpu_seconds() {
  awk '{ sub(/^.*\) /, ""); print int(($14 + $15) / hertz) }' hertz="$(getconf CLK_TCK)" "/proc/$$/stat"
}

# watch STEP LOG: says every ten seconds, on a terminal every second, how far LOG has come. Ninja writes [N/M] there,
# ctest N/M.
watch() {
  local step=$1 log=$2 said=$SECONDS place count total done_by_now left
  while sleep 1; do
    [[ $rewrite == yes ]] || ((SECONDS - said >= 10)) || continue
    said=$SECONDS
    place=$(tail -c 20000 "$log" 2>/dev/null | grep -aoE '^ *\[?[0-9]+/[0-9]+' | tail -n 1 | tr -d '[ ')
    count=${place%/*} total=${place#*/}
    done_by_now=$((100 * weight_done + 100 * ${typical[$step]:-0} * ${count:-0} / ${total:-1}))
    left=
    if ((done_by_now > 0)); then
      left=", about $(clock $((SECONDS * (100 * weight_all - done_by_now) / done_by_now))) left"
    fi
    [[ $rewrite == no ]] || printf '\r\e[K'
    printf '   %-15s %s, %s%s' "$step" "${place:+${place/\// of }}" "$(clock "$SECONDS")" "$left"
    [[ $rewrite == yes ]] || echo
  done
}

stop_watching() {
  [[ -n $watcher ]] || return 0
  kill "$watcher" 2>/dev/null
  wait "$watcher" 2>/dev/null
  watcher=
  [[ $rewrite == no ]] || printf '\r\e[K'
}
trap stop_watching EXIT

# step STEP LOG COMMAND...: runs COMMAND with its output in LOG, says how far it is, and notes the time that it took.
# A command that fails shows the end of its output, unless it is ctest, whose failures are shown by failures().
step() {
  local name=$1 log=$2 begun=$SECONDS cpu status=0
  shift 2
  cpu=$(cpu_seconds)
  : >"$log"
  watch "$name" "$log" </dev/null &
  watcher=$!
  "$@" >"$log" 2>&1 || status=$?
  stop_watching
  weight_done=$((weight_done + ${typical[$name]:-0}))
  step_wall=$((SECONDS - begun))
  step_cpu=$(($(cpu_seconds) - cpu))
  return "$status"
}

# note STEP PASSED FAILED SKIPPED
note() {
  passed=$((passed + $2))
  failed=$((failed + $3))
  summary+=("$(printf '  %-15s %6d %6d %7d %8s %6d s' "$1" "$2" "$3" "$4" "$(clock "$step_wall")" "$step_cpu")")
}

# build PHASE DIRECTORY CMAKE-ARGUMENTS... [-- TARGET...]
build() {
  local phase=$1 dir=$2 configure=() targets=() log
  shift 2
  while (($#)) && [[ $1 != -- ]]; do
    configure+=("$1")
    shift
  done
  (($# < 2)) || targets=(--target "${@:2}")
  mkdir -p "$dir"
  log=$dir/$phase.build.log
  if step "$phase.build" "$log" build_quietly; then
    note "$phase.build" 0 0 0
    return 0
  fi
  grep -nE 'error|Error|FAILED|undefined reference' "$log" | head -n 20
  tail -n 20 "$log"
  echo "  the whole output: $log"
  note "$phase.build" 0 1 0
  return 1
}

# The command of build(), with its variables.
build_quietly() {
  cmake -B "$dir" "${configure[@]}" "${launcher[@]}" && cmake --build "$dir" -j "$jobs" "${targets[@]}"
}

# What ctest says of tests that failed.
failures() {
  grep -vE ' +Passed +|\*\*\*Skipped|\((Skipped|Not Run)\)$|^ +Start |^Internal ctest|^Test project|^$' "$1" |
    grep -vE 'sec\*proc|^Label Time|^Total Test time|^The following tests did not run|tests passed, 0 tests failed'
}

# count STATUS FILE: how many test cases of that status a JUnit file has.
count() { grep -cE "<testcase .*status=\"($1)\"" "$2"; }

# What failed because the machine was busy is tried again, alone, at most twice. Adds to tried_again what passed then,
# and at which try.
tried_again=()
passed_now=0
try_again() {
  local phase=$1 dir=$2 report=$3 log=$4 try names
  passed_now=0
  for try in second third; do
    names=$(tools/try_again.py "$dir" "$report" "$log") && [[ -n $names ]] || return 0
    report=$PWD/$dir/$phase.$try.junit.xml
    log=$dir/$phase.$try.log
    rm -f "$report"
    ctest --test-dir "$dir" --output-on-failure -R "$names" --output-junit "$report" >"$log" 2>&1
    failures "$log"
    passed_now=$((passed_now + $(count run "$report")))
    mapfile -t -O "${#tried_again[@]}" tried_again \
      < <(sed -n "s/.*<testcase name=\"\([^\"]*\)\".*status=\"run\".*/\1 ($try)/p" "$report")
  done
}

# check PHASE DIRECTORY CTEST-ARGUMENTS...: runs the tests of a build.
check() {
  local phase=$1 dir=$2 report=$PWD/$2/$1.junit.xml log=$2/$1.test.log
  shift 2
  rm -f "$report"
  step "$phase.test" "$log" ctest --test-dir "$dir" --output-on-failure --no-tests=error -j "$jobs" \
    --output-junit "$report" "$@"
  failures "$log"
  if [[ ! -f "$report" ]]; then
    note "$phase.test" 0 1 0
    return
  fi
  mapfile -t -O "${#skips[@]}" skips < <(sed -n 's/.*<testcase name="\([^"]*\)".*status="notrun".*/\1/p' "$report")
  try_again "$phase" "$dir" "$report" "$log"
  note "$phase.test" $(($(count run "$report") + passed_now)) $(($(count fail "$report") - passed_now)) \
    "$(count 'notrun|disabled' "$report")"
}

# outcome STEP DIRECTORY COMMAND...: what passes or fails as a whole.
outcome() {
  local log=$2/${1%.*}.log
  mkdir -p "$2"
  if step "$1" "$log" "${@:3}"; then
    note "$1" 1 0 0
  else
    tail -n 30 "$log"
    note "$1" 0 1 0
  fi
}

# A clang that has llvm-cov and llvm-profdata of its version.
coverage_compiler() {
  local clang
  for clang in $(compgen -c clang++ | grep -xE 'clang\+\+(-[0-9]+)?' | sort -Vu); do
    if command -v "${clang/clang++/llvm-cov}" >/dev/null && command -v "${clang/clang++/llvm-profdata}" >/dev/null; then
      echo "$clang"
      return
    fi
  done
}

fuzz_compiler() { compgen -c clang++ | grep -xE 'clang\+\+(-[0-9]+)?' | sort -V | head -n 1; }

# CUDA code is compiled with a compiler that is fetched where there is none. Without one the tests of what it made are
# skipped, and the summary says why.
cuda_problem=
find_cuda_compiler() {
  [[ ${POLYKEM_TEST_CUDA:-yes} == yes ]] || {
    cuda_problem='POLYKEM_TEST_CUDA says so'
    return
  }
  mkdir -p build
  tools/progress.sh build/cuda_toolchain.log sh -c 'tools/setup.sh cuda && tools/cuda_toolchain.sh' 2>/dev/null ||
    cuda_problem=$(tail -n 1 build/cuda_toolchain.log)
}

# The package is built by an interpreter that has nanobind and pytest.
python='' python_problem='' hw_problem=''
find_python() {
  mkdir -p build
  python=$(python/tests/venv.sh 2>build/python_venv.log) || python_problem=$(tail -n 1 build/python_venv.log)
}

kernels=OFF # of CUDA: a GPU will want them
! command -v nvidia-smi >/dev/null 2>&1 || kernels=ON
vectors=avx512 syntax=() # of x86-64 both vector backends, elsewhere NEON
if [[ $(uname -m) == x86_64 ]] && ! grep -q avx512_vbmi2 /proc/cpuinfo; then
  vectors=avx2 syntax=(polykem_syntax)
fi
test_build=(--preset test "-DPOLYKEM_VECTORS=$vectors" "-DPOLYKEM_CUDA_KERNELS=$kernels")
fuzz_build=(-G Ninja -DCMAKE_BUILD_TYPE=None -DPOLYKEM_BUILD_FUZZERS=ON -DPOLYKEM_VECTORS=none
  -DPOLYKEM_BUILD_EXAMPLES=OFF -DPOLYKEM_CUDA=OFF -DPOLYKEM_CKKS=ON)
release_build=(--preset release -DPOLYKEM_BUILD_TESTS=ON -DPOLYKEM_PYTHON=OFF -DPOLYKEM_CKKS=ON)

run() {
  local clang rtl=ON
  case "$1" in
    tests)
      find_cuda_compiler
      find_python
      build tests build-test "${test_build[@]}" -DPOLYKEM_PYTHON="$([[ -z $python ]] && echo OFF || echo ON)" \
        -DPython_EXECUTABLE="$python" -- all "${syntax[@]}" && check tests build-test -LE '^(gpu|full)$'
      ;;
    full) # the simulated hardware core too
      mkdir -p build
      find_cuda_compiler
      hw/tools/setup.sh >build/hw_setup.log 2>&1 || {
        rtl=OFF
        hw_problem=$(tail -n 1 build/hw_setup.log)
      }
      build full build "${release_build[@]}" -DPOLYKEM_CUDA_KERNELS=ON -DPOLYKEM_RTL=$rtl \
        -DPOLYKEM_PCH=OFF &&
        check full build -L '^(full|rtl)$' -LE '^(gpu|ct|exhaustive)$'
      ;;
    ct-full)
      build ct-full build "${release_build[@]}" -- ct_all && check ct-full build -L '^ct$' -L '^full$' -LE '^traces$'
      ;;
    exhaustive) build exhaustive build "${release_build[@]}" && check exhaustive build -L '^exhaustive$' ;;
    traces) build traces build "${release_build[@]}" -- ct_O3 && check traces build -L '^traces$' ;;
    # No vector code, half of the time to compile and no reader of foreign bytes. CKKS, known answers, the core's driver
    # and the embedded library are left to sanitize-full too.
    sanitize)
      build sanitize build-sanitize --preset sanitize &&
        check sanitize build-sanitize -L "$sanitizer_labels" -LE '^(gpu|slow-sanitizer|slow-asan)$'
      ;;
    sanitize-full)
      build sanitize-full build-sanitize --preset sanitize-full &&
        check sanitize-full build-sanitize -L "$sanitizer_labels" -LE gpu
      ;;
    ubsan)
      build ubsan build-ubsan --preset ubsan -DPOLYKEM_BUILD_CLI=OFF -DPOLYKEM_CKKS=ON &&
        check ubsan build-ubsan -L "$sanitizer_labels" -LE '^(gpu|slow-sanitizer)$'
      ;;
    threads)
      build threads build-tsan --preset tsan -- threads &&
        check threads build-tsan -L '^threads$' -LE '^slow-tsan$'
      ;;
    threads-full)
      build threads-full build-tsan --preset tsan &&
        check threads-full build-tsan -L '^(unit|cuda_module|batcher|broker)$' -LE '^slow-sanitizer$'
      ;;
    program) # each source by itself here, so that it names all that it includes
      build program build-sanitize --preset sanitize-full -DPOLYKEM_BUILD_CLI=ON -DPOLYKEM_UNITY=OFF &&
        check program build-sanitize -L '^(quick|cli)$' -LE gpu
      ;;
    python-full)
      find_python
      [[ -z $python ]] || {
        build python-full build-test "${test_build[@]}" -DPOLYKEM_PYTHON=ON -DPython_EXECUTABLE="$python" \
          -- polykem_python polykem_failing_memory polykem_simulated_device polykem_fake_rtl &&
          check python-full build-test -L '^python$' -L '^full$'
      }
      ;;
    python-sanitize)
      find_python
      [[ -z $python ]] || {
        build python-sanitize build-sanitize --preset sanitize-full -DPOLYKEM_PYTHON=ON -DPython_EXECUTABLE="$python" \
          -- polykem_python polykem_simulated_device polykem_fake_rtl &&
          check python-sanitize build-sanitize -L '^python$'
      }
      ;;
    fuzz)
      clang=$(fuzz_compiler)
      build fuzz build-fuzz "${fuzz_build[@]}" -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_C_COMPILER="${clang/++/}" \
        -- fuzzers && check fuzz build-fuzz -L fuzz
      ;;
    fuzz-coverage)
      clang=$(coverage_compiler)
      [[ -n $clang ]] || {
        echo "  no clang here has llvm-cov and llvm-profdata of its version: apt-get install llvm"
        step_wall=0 step_cpu=0
        note fuzz-coverage.build 0 1 0
        return
      }
      build fuzz-coverage build-fuzz-coverage "${fuzz_build[@]}" -DPOLYKEM_FUZZ_COVERAGE=ON \
        -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_C_COMPILER="${clang/++/}" -- fuzzers &&
        outcome fuzz-coverage.test build-fuzz-coverage tests/fuzz/coverage.py build-fuzz-coverage &&
        cat build-fuzz-coverage/fuzz-coverage.log
      ;;
    mutants)
      mkdir -p build-mutants
      local log=build-mutants/mutants.log survived=0
      step mutants.test $log tools/mutants.py --build build-mutants || survived=1
      ((survived == 0)) || grep -v '] killed ' $log
      note mutants.test "$(grep -c '] killed ' $log)" "$survived" "$(sed -n 's/^\([0-9]*\) skipped: .*/\1/p' $log)"
      ;;
    modes)
      local mode flags=() programs=(kat_test) labels=kat without=()
      export DEB_BUILD_MAINT_OPTIONS='hardening=+all optimize=-lto' # as debian/rules
      for mode in debug relwithdebinfo lto dpkg; do
        [[ $mode != dpkg ]] ||
          flags=("-DCMAKE_CXX_FLAGS=$(dpkg-buildflags --get CPPFLAGS) $(dpkg-buildflags --get CXXFLAGS)"
            "-DCMAKE_C_FLAGS=$(dpkg-buildflags --get CPPFLAGS) $(dpkg-buildflags --get CFLAGS)")
        # Neither constant time nor zeroized memory is promised of a debug build, nor a zeroized stack where the linker
        # makes one frame of many.
        [[ $mode != lto ]] && without=() || without=(-E 'Stack\.IsWiped')
        [[ $mode == debug ]] ||
          programs=(kat_test secrets_test ct_check ct_sign ct_batcher ct_hpke ct_leak ct_sets) labels='kat|secrets|ct'
        build modes "build-modes/$mode" --preset "mode-$mode" "-DPOLYKEM_VECTORS=$vectors" "${flags[@]}" \
          -- "${programs[@]}" &&
          check modes "build-modes/$mode" -L "^($labels)$" -LE '^(gpu|full)$' "${without[@]}"
      done
      ;;
    tidy) outcome tidy.test build-tidy tools/tidy.sh ;;
    compilers) outcome compilers.build build-compilers tools/compilers.sh ;;
    coverage) # counts of an earlier run would be added
      [[ ! -d build-coverage ]] || find build-coverage -name '*.gcda' -delete
      build coverage build-coverage --preset coverage &&
        check coverage build-coverage -L '^(quick|unit|kat|lanes|cli)$' -LE '^(gpu|full)$' &&
        tools/coverage.py build-coverage
      ;;
    *)
      echo "test: unknown phase '$1'; the head of tools/test.sh lists them" >&2
      exit 2
      ;;
  esac
}

(($#)) || set -- tests sanitize threads
for phase in "$@"; do
  for name in "${!typical[@]}"; do
    [[ ${name%.*} != "$phase" ]] || weight_all=$((weight_all + typical[$name]))
  done
done
for phase in "$@"; do
  echo "== $phase"
  run "$phase"
done

echo
printf '  %-15s %6s %6s %7s %8s %8s\n' step passed failed skipped time CPU
printf '%s\n' "${summary[@]}"
printf '  %-15s %6d %6d %7s %8s %6d s\n' all "$passed" "$failed" '' "$(clock "$SECONDS")" "$(cpu_seconds)"
if ((${#skips[@]})); then
  echo "  skipped, because this machine or build lacks what they test:"
  printf '%s\n' "${skips[@]}" | sort -u | head -n 30 | paste -sd ' ' | fold -s -w 100 | sed 's/^/    /'
fi
if ((${#tried_again[@]})); then
  echo "  passed at a second or third try, alone; they depend on when this machine runs threads (label timed):"
  printf '%s\n' "${tried_again[@]}" | paste -sd ' ' | fold -s -w 100 | sed 's/^/    /'
fi
[[ -z $cuda_problem ]] || echo "  skipped: compiling the CUDA code ($cuda_problem)"
[[ -z $hw_problem ]] || echo "  skipped: the hardware core ($hw_problem)"
[[ -z $python_problem ]] || echo "  skipped: the Python package ($python_problem)"
if command -v nvidia-smi >/dev/null 2>&1; then
  echo "  tests with the label gpu are run by: ctest --test-dir build-test -L gpu"
else
  echo "  tests with the label gpu did not run: there is no NVIDIA driver on this machine"
fi
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
