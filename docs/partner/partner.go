// Package partner has the guides for developers of partner systems. The service shows them
// below /docs.
package partner

import "embed"

// Guides are the guides, as NAME.md.
//
//go:embed *.md
var Guides embed.FS
