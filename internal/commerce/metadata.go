package commerce

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Metadata are notes of a partner on its order, by their names. No map is changed once it is
// part of an order; an order without notes has none.
type Metadata map[string]string

// Bounds of metadata.
const (
	maxMetadata      = 50 // names
	maxMetadataName  = 40
	maxMetadataValue = 500   // characters
	maxMetadataBytes = 8_192 // names and values together
)

// With returns the metadata with changes; a nil removes its name. It refuses names and values
// that are too long, and what would be too much together. The error names the first name at
// fault, in their order.
func (m Metadata) With(changes map[string]*string) (Metadata, error) {
	merged, size := Metadata{}, 0
	for name, value := range m {
		if _, changed := changes[name]; !changed {
			merged[name] = value
			size += len(name) + len(value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		refuse := func(reason string, args ...any) (Metadata, error) {
			field := "metadata." + name[:min(len(name), 2*maxMetadataName)]
			field = strings.ToValidUTF8(field, "")
			return nil, Invalid(field, field+" "+reason, args...)
		}
		if !metadataName(name) {
			return refuse("must be named by 1 to %d of the characters A-Z a-z 0-9 _ . -", maxMetadataName)
		}
		value := changes[name]
		if value == nil {
			continue
		}
		merged[name] = *value
		size += len(name) + len(*value)
		switch {
		case utf8.RuneCountInString(*value) > maxMetadataValue:
			return refuse("is longer than %d characters", maxMetadataValue)
		case len(merged) > maxMetadata:
			return refuse("is one name more than the %d that an order may have", maxMetadata)
		case size > maxMetadataBytes:
			return refuse("makes the metadata longer than %d bytes", maxMetadataBytes)
		}
	}
	if len(merged) == 0 {
		return nil, nil
	}
	return merged, nil
}

func metadataName(name string) bool {
	return name != "" && len(name) <= maxMetadataName && !strings.ContainsFunc(name, func(r rune) bool {
		return !('A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '.' || r == '-')
	})
}
