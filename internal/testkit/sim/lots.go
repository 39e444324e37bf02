package sim

import "math/rand/v2"

// LotsOf are lots for one of those that a history is about. They depend on nothing but the
// seed and its number.
func LotsOf(seed, number uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, number)) }
