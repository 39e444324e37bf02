package memory

import "purveyor/internal/storage/schema"

// Kept are the names of the tables that the engine keeps.
func Kept() (names []string) {
	for _, k := range keepers {
		names = append(names, k.name())
	}
	return names
}

// Registered are the names of the tables of the registry, without those whose rows stand in
// another table or are counted elsewhere.
func Registered() (names []string) {
	for _, d := range schema.All {
		if d != schema.Described(&schema.StockNotes) && d != schema.Described(&schema.StoredReplies) {
			names = append(names, d.Shape().Name)
		}
	}
	return names
}
