package config

import "fmt"

// Half of the descriptors are for connections, and a quarter of these for one address, so
// that with the least number an address has 32. With the good number a service takes as many
// connections as it can use.
const (
	leastDescriptors = 256
	goodDescriptors  = 2 * MostConnections
)

// MostConnections is how many connections a service takes at most: an idle one takes about
// 18 KiB.
const MostConnections = 8192

// CheckDescriptors looks at how many files and connections the process may open. Too few
// are an error, and few are a warning; no warning: there are enough.
func CheckDescriptors(n int) (warning string, err error) {
	const way = "raise the limit (ulimit -n, LimitNOFILE= of a systemd unit, --ulimit nofile= of a container)"
	switch {
	case n < leastDescriptors:
		return "", fmt.Errorf("this process may open %d files, and a service needs %d: %s", n, leastDescriptors, way)
	case n < goodDescriptors:
		return fmt.Sprintf("this process may open %d files, so it takes %d connections at a time; for up to %d, %s to %d", n, n/2, MostConnections, way, goodDescriptors), nil
	}
	return "", nil
}
