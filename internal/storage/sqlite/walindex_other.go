//go:build !unix

package sqlite

type walHeader struct{}

type walIndex struct{}

func (walIndex) read() walHeader { return walHeader{} }

func walIndexOf(string) (walIndex, bool) { return walIndex{}, false }
