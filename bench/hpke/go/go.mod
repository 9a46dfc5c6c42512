module polykem/bench/hpke

go 1.26
