// Generate writes the types and operations of the SDKs from openapi.yaml:
//
//	go run ./sdk/generate
//
// A test compares what it would write with the files that are there.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := generate("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// generate writes the files of the repository at a path.
func generate(root string) error {
	made, err := files(root)
	if err != nil {
		return err
	}
	for path, content := range made {
		if err := os.WriteFile(filepath.Join(root, path), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files returns what the files of the SDKs should hold.
func files(root string) (map[string][]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, "internal/api/openapi.yaml"))
	if err != nil {
		return nil, err
	}
	d, err := read(text)
	if err != nil {
		return nil, err
	}
	types, codec, err := goTypes(d)
	if err != nil {
		return nil, err
	}
	operations, err := goOperations(d)
	return map[string][]byte{
		"sdk/go/types.gen.go":              types,
		"sdk/go/codec.gen.go":              codec,
		"sdk/go/operations.gen.go":         operations,
		"sdk/typescript/src/types.ts":      tsTypes(d),
		"sdk/typescript/src/operations.ts": tsOperations(d),
	}, err
}
