//go:build unix

package config

import "syscall"

// Descriptors is how many files and connections this process may have open.
func Descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return leastDescriptors
	}
	const most = 1 << 30 // "unlimited" is more than an int may hold
	return int(min(uint64(limit.Cur), most))
}

// leastDescriptors is what systems allow if they do not say.
const leastDescriptors = 1024
