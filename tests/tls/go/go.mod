module polykem/tests/tls

go 1.24
