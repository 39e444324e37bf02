module purveyor/examples/go

go 1.26

require purveyor/sdk/go v1.0.0

replace purveyor/sdk/go v1.0.0 => ../../sdk/go
