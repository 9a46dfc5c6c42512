module polykem/tls

go 1.24
