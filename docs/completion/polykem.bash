# SPDX-License-Identifier: Apache-2.0
# Written by tools/program_docs.py.
_polykem() {
  local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} path=polykem words= kept= i
  COMPREPLY=()
  if [[ $cur == = ]]; then
    cur=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${COMP_WORDS[i]}" in
      'polykem exchange' | 'polykem serve' | 'polykem swarm' | 'polykem list' | 'polykem keygen' | 'polykem encaps' | 'polykem decaps' | 'polykem sign' | 'polykem verify' | 'polykem profile' | 'polykem bench' | 'polykem bench frodo-scaling' | 'polykem kat' | 'polykem doctor' | 'polykem tls-check' | 'polykem top' | 'polykem report') path+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  case "$path $before" in
    'polykem exchange --clients')
      return
      ;;
    'polykem exchange --transport')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'tcp inproc' -- "${cur##*,}")
      return
      ;;
    'polykem exchange --concurrency')
      return
      ;;
    'polykem exchange --client-processes')
      return
      ;;
    'polykem exchange --compare-seconds')
      return
      ;;
    'polykem exchange -s' | 'polykem exchange --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384' -- "${cur##*,}")
      return
      ;;
    'polykem exchange --role')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'server-decaps server-encaps' -- "${cur##*,}")
      return
      ;;
    'polykem exchange --batch')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'auto' -- "${cur##*,}")
      return
      ;;
    'polykem exchange --linger-us')
      return
      ;;
    'polykem exchange --timeout')
      return
      ;;
    'polykem exchange --threads')
      return
      ;;
    'polykem exchange --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem exchange --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem serve --address')
      return
      ;;
    'polykem serve --port')
      return
      ;;
    'polykem serve --clients')
      return
      ;;
    'polykem serve --max-clients')
      return
      ;;
    'polykem serve --metrics')
      return
      ;;
    'polykem serve --broker')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem serve -s' | 'polykem serve --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384' -- "${cur##*,}")
      return
      ;;
    'polykem serve --role')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'server-decaps server-encaps' -- "${cur##*,}")
      return
      ;;
    'polykem serve --batch')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'auto' -- "${cur##*,}")
      return
      ;;
    'polykem serve --linger-us')
      return
      ;;
    'polykem serve --timeout')
      return
      ;;
    'polykem serve --threads')
      return
      ;;
    'polykem serve --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem serve --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem swarm --address')
      return
      ;;
    'polykem swarm --port')
      return
      ;;
    'polykem swarm --clients')
      return
      ;;
    'polykem swarm --concurrency')
      return
      ;;
    'polykem swarm -s' | 'polykem swarm --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384' -- "${cur##*,}")
      return
      ;;
    'polykem swarm --role')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'server-decaps server-encaps' -- "${cur##*,}")
      return
      ;;
    'polykem swarm --batch')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'auto' -- "${cur##*,}")
      return
      ;;
    'polykem swarm --linger-us')
      return
      ;;
    'polykem swarm --timeout')
      return
      ;;
    'polykem swarm --threads')
      return
      ;;
    'polykem swarm --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem swarm --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem list --format')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'text markdown csv' -- "${cur##*,}")
      return
      ;;
    'polykem list --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem keygen -s' | 'polykem keygen --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384 mldsa44 mldsa65 mldsa87' -- "${cur##*,}")
      return
      ;;
    'polykem keygen --pk')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem keygen --sk')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem keygen --count')
      return
      ;;
    'polykem keygen --format')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'armour pem der raw' -- "${cur##*,}")
      return
      ;;
    'polykem keygen --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem keygen --threads')
      return
      ;;
    'polykem keygen --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem keygen --sk-form')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'seed expanded both' -- "${cur##*,}")
      return
      ;;
    'polykem encaps --pk')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem encaps --ct')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem encaps --ss')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem encaps -s' | 'polykem encaps --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384' -- "${cur##*,}")
      return
      ;;
    'polykem encaps --count')
      return
      ;;
    'polykem encaps --format')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'armour raw' -- "${cur##*,}")
      return
      ;;
    'polykem encaps --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem encaps --threads')
      return
      ;;
    'polykem encaps --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem decaps --sk')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem decaps --ct')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem decaps --ss')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem decaps -s' | 'polykem decaps --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384' -- "${cur##*,}")
      return
      ;;
    'polykem decaps --passphrase-file')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem decaps --passphrase-fd')
      return
      ;;
    'polykem decaps --format')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'armour raw' -- "${cur##*,}")
      return
      ;;
    'polykem decaps --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem decaps --threads')
      return
      ;;
    'polykem decaps --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem sign --sk')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem sign --sig')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem sign -s' | 'polykem sign --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'mldsa44 mldsa65 mldsa87' -- "${cur##*,}")
      return
      ;;
    'polykem sign --message-bytes')
      return
      ;;
    'polykem sign --context')
      return
      ;;
    'polykem sign --context-hex')
      return
      ;;
    'polykem sign --prehash')
      return
      ;;
    'polykem sign --passphrase-file')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem sign --passphrase-fd')
      return
      ;;
    'polykem sign --format')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'armour raw' -- "${cur##*,}")
      return
      ;;
    'polykem sign --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem sign --threads')
      return
      ;;
    'polykem sign --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem verify --pk')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem verify --sig')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem verify -s' | 'polykem verify --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'mldsa44 mldsa65 mldsa87' -- "${cur##*,}")
      return
      ;;
    'polykem verify --message-bytes')
      return
      ;;
    'polykem verify --context')
      return
      ;;
    'polykem verify --context-hex')
      return
      ;;
    'polykem verify --prehash')
      return
      ;;
    'polykem verify --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem verify --threads')
      return
      ;;
    'polykem verify --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem profile -s' | 'polykem profile --scheme')
      [[ $cur != *,* ]] || kept="${cur%,*},"
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384 mldsa44 mldsa65 mldsa87 ntru mlkem frodokem saberkem lac hybrid mldsa' -- "${cur##*,}")
      return
      ;;
    'polykem profile --op')
      return
      ;;
    'polykem profile --format')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'text markdown csv' -- "${cur##*,}")
      return
      ;;
    'polykem profile --count')
      return
      ;;
    'polykem profile --batch')
      return
      ;;
    'polykem profile --per')
      return
      ;;
    'polykem profile --seconds')
      return
      ;;
    'polykem profile --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem profile --threads')
      return
      ;;
    'polykem profile --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem bench -s' | 'polykem bench --scheme')
      [[ $cur != *,* ]] || kept="${cur%,*},"
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384 mldsa44 mldsa65 mldsa87 ntru mlkem frodokem saberkem lac hybrid mldsa' -- "${cur##*,}")
      return
      ;;
    'polykem bench --op')
      return
      ;;
    'polykem bench --batch')
      return
      ;;
    'polykem bench --keys')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'per-item shared both' -- "${cur##*,}")
      return
      ;;
    'polykem bench --seconds')
      return
      ;;
    'polykem bench --memory')
      return
      ;;
    'polykem bench --format')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'text markdown csv' -- "${cur##*,}")
      return
      ;;
    'polykem bench --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem bench --threads')
      return
      ;;
    'polykem bench --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem bench frodo-scaling --n')
      return
      ;;
    'polykem bench frodo-scaling --size')
      return
      ;;
    'polykem bench frodo-scaling --width')
      return
      ;;
    'polykem bench frodo-scaling --seconds')
      return
      ;;
    'polykem bench frodo-scaling --svg')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem bench frodo-scaling --format')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'text markdown csv' -- "${cur##*,}")
      return
      ;;
    'polykem bench frodo-scaling --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem kat --accumulated')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem kat -s' | 'polykem kat --scheme')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384 mldsa44 mldsa65 mldsa87' -- "${cur##*,}")
      return
      ;;
    'polykem kat --batch')
      return
      ;;
    'polykem kat --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem kat --threads')
      return
      ;;
    'polykem kat --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem doctor --backend')
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'cuda rtl amx avx512 avx2 neon-sha3 neon ref' -- "${cur##*,}")
      return
      ;;
    'polykem doctor --threads')
      return
      ;;
    'polykem doctor --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem tls-check --groups')
      return
      ;;
    'polykem tls-check --modules')
      return
      ;;
    'polykem tls-check --config')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem tls-check --connect')
      return
      ;;
    'polykem tls-check --timeout')
      return
      ;;
    'polykem tls-check --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem top --metrics')
      return
      ;;
    'polykem top --interval')
      return
      ;;
    'polykem top --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem report -s' | 'polykem report --scheme')
      [[ $cur != *,* ]] || kept="${cur%,*},"
      mapfile -t COMPREPLY < <(compgen -P "$kept" -W 'ntruhps2048509 ntruhps2048677 ntruhps4096821 ntruhrss701 ntruhps40961229 ntruhrss1373 mlkem512 mlkem768 mlkem1024 kyber512 kyber768 kyber1024 frodokem640aes frodokem640shake frodokem976aes frodokem976shake frodokem1344aes frodokem1344shake efrodokem640aes efrodokem640shake efrodokem976aes efrodokem976shake efrodokem1344aes efrodokem1344shake lightsaber saber firesaber lac128 lac192 lac256 lac128_r2_ctrfix lac192_r2_ctrfix lac256_r2_ctrfix x25519mlkem768 secp256r1mlkem768 secp384r1mlkem1024 mlkem768x25519 mlkem768p256 mlkem1024p384 mldsa44 mldsa65 mldsa87 ntru mlkem frodokem saberkem lac hybrid mldsa' -- "${cur##*,}")
      return
      ;;
    'polykem report --seconds')
      return
      ;;
    'polykem report -o' | 'polykem report --output')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem report --from')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem report --add')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem report --program')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    'polykem report --json')
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
  esac
  case $path in
    'polykem') local options='-h --help -V --version' files=
      words='exchange serve swarm list keygen encaps decaps sign verify profile bench kat doctor tls-check top report' ;;
    'polykem exchange') local options='-h --help --clients --transport --concurrency --client-processes --compare-seconds -s --scheme --role --batch --linger-us --timeout --threads --backend --json -f --force -q --quiet' files=
      words='' ;;
    'polykem serve') local options='-h --help --address --port --clients --max-clients --metrics --broker -s --scheme --role --batch --linger-us --timeout --threads --backend --json -f --force -q --quiet' files=
      words='' ;;
    'polykem swarm') local options='-h --help --address --port --clients --concurrency -s --scheme --role --batch --linger-us --timeout --threads --backend --json -f --force -q --quiet' files=
      words='' ;;
    'polykem list') local options='-h --help --format --json -f --force' files=
      words='' ;;
    'polykem keygen') local options='-h --help -s --scheme --pk --sk --count --format --backend --threads --json -f --force -q --quiet --sk-form' files=
      words='' ;;
    'polykem encaps') local options='-h --help --pk --ct --ss -s --scheme --count --format --backend --threads --json -f --force -q --quiet' files=
      words='' ;;
    'polykem decaps') local options='-h --help --sk --ct --ss -s --scheme --passphrase-file --passphrase-fd --format --backend --threads --json -f --force -q --quiet' files=
      words='' ;;
    'polykem sign') local options='-h --help --sk --sig -s --scheme --message-bytes --context --context-hex --prehash --mu --deterministic --passphrase-file --passphrase-fd --format --backend --threads --json -f --force -q --quiet' files=yes
      words='' ;;
    'polykem verify') local options='-h --help --pk --sig -s --scheme --message-bytes --context --context-hex --prehash --mu --backend --threads --json -f --force -q --quiet' files=yes
      words='' ;;
    'polykem profile') local options='-h --help -s --scheme --all --op --format --count --batch --per --seconds --steps --no-merge --backend --threads --json -f --force -q --quiet' files=
      words='' ;;
    'polykem bench') local options='-h --help -s --scheme --all --op --batch --keys --seconds --memory --format --backend --threads --json -f --force -q --quiet' files=
      words='frodo-scaling' ;;
    'polykem bench frodo-scaling') local options='-h --help --n --size --width --seconds --svg --format --json -f --force -q --quiet' files=
      words='' ;;
    'polykem kat') local options='-h --help --accumulated -s --scheme --batch --key-sets --skip-unknown --backend --threads --json -f --force -q --quiet' files=yes
      words='' ;;
    'polykem doctor') local options='-h --help --tune --backend --threads --json -f --force -q --quiet' files=
      words='' ;;
    'polykem tls-check') local options='-h --help --groups --modules --config --connect --timeout --json -f --force -q --quiet' files=
      words='' ;;
    'polykem top') local options='-h --help --metrics --interval --once --json -f --force' files=
      words='' ;;
    'polykem report') local options='-h --help -s --scheme --seconds -o --output --from --add --no-published --program --json -f --force -q --quiet' files=
      words='' ;;
  esac
  if [[ $cur == -* || -z $words ]]; then
    words=$options
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
  if [[ -n $files && $cur != -* ]]; then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -o filenames -F _polykem polykem
