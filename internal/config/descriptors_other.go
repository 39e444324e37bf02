//go:build !unix

package config

// Descriptors is how many files and connections this process may have open:
// this system has no bound of its own.
func Descriptors() int { return 1 << 20 }
