module purveyor/sdk/go

go 1.24
