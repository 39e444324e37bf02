//go:build unix

package config

import "syscall"

// Descriptors returns how many files and connections this process may open.
func Descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return usualDescriptors
	}
	const most = 1 << 30 // "unlimited" does not fit into an int
	return int(min(uint64(limit.Cur), most))
}

// usualDescriptors is assumed if the system does not report its limit.
const usualDescriptors = 1024
