package sim

import (
	"encoding/binary"
	"math/rand/v2"
)

// Random is what all of a world is drawn from.
func Random(seed uint64) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

// LotsOf are lots for one of those that a history is about. They depend on nothing but the
// seed and its number.
func LotsOf(seed, number uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, number)) }
