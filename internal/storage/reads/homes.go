package reads

import (
	"strings"

	"github.com/maypok86/otter/v2"
)

// Homes keeps the stores of products, which never change, so that a product that was read
// before is one read, and one node of a cluster.
type Homes struct{ cache *otter.Cache[string, string] }

// NewHomes makes an empty one. It takes 20 MiB at most.
func NewHomes() *Homes {
	return &Homes{otter.Must(&otter.Options[string, string]{MaximumSize: 100_000})}
}

func (h *Homes) get(product string) (store string, known bool) {
	if h == nil {
		return "", false
	}
	return h.cache.GetIfPresent(product)
}

func (h *Homes) set(product, store string) {
	if h != nil {
		h.cache.Set(strings.Clone(product), store) // else the key keeps the text of a whole request in memory
	}
}
