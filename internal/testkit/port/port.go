// Package port finds ports for programs that tests start.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Free returns a port of 127.0.0.1 on which nothing listens. It lies below those that the system
// gives to connections and to listeners on port 0, so only another call of Free may take it, once
// in 20,000 times.
func Free() (int, error) {
	var err error
	for range 20 {
		port := 10_000 + rand.IntN(20_000)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}

// Address returns 127.0.0.1 with a port of Free.
func Address() (string, error) {
	free, err := Free()
	return fmt.Sprintf("127.0.0.1:%d", free), err
}
