module polykem.example/batch

go 1.19
