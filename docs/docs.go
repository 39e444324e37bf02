// Package docs has the documents that are part of the program.
package docs

import _ "embed"

// ImportSchema is the JSON Schema of the file of `purveyor import`.
//
//go:embed import.schema.json
var ImportSchema []byte
