package sandbox

import (
	"errors"
	"slices"
	"strings"
)

// Act is what a tester has an object do, in place of a customer, a courier or a bank.
type Act struct {
	Name string
	Key  string // without a space; a repeat with it does nothing more; empty: the act is not repeated
}

// Errors of acts, which then change nothing.
var (
	// ErrWrongState: the object is not in a state in which it could do that.
	ErrWrongState = errors.New("the sandbox object is not in a state for this")
	// ErrKeyReused: the object has done another act under the same key.
	ErrKeyReused = errors.New("the key was used before for another act")
)

// Acts are the latest acts on an object that have keys, each as KEY NAME. They are stored with the object,
// so an act and its key are stored together or not at all.
type Acts []string

// actsKept bounds the acts of an object.
const actsKept = 20

// Has reports whether the object has done the act.
func (k Acts) Has(a Act) (bool, error) {
	for _, done := range k {
		if key, name, _ := strings.Cut(done, " "); a.Key != "" && key == a.Key {
			if name != a.Name {
				return false, ErrKeyReused
			}
			return true, nil
		}
	}
	return false, nil
}

// Add keeps an act that is done.
func (k *Acts) Add(a Act) {
	if a.Key != "" {
		*k = append(slices.Clone((*k)[max(0, len(*k)-actsKept+1):]), a.Key+" "+a.Name)
	}
}
