module polykem/hpke

go 1.26
