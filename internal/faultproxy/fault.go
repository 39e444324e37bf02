package faultproxy

import "bytes"

// longest is how much of a sequence may lie in what passed before the data
// that end it.
const longest = 256

// fault is where a connection is to be cut: after some bytes, or at a
// sequence if there is one.
type fault struct {
	direction Direction
	bytes     int
	sequence  string
	through   bool
	done      chan struct{}
}

// examine says how many of the next data may pass, and which fault they hit.
// A fault is hit once.
func (p *Proxy) examine(d Direction, before, data []byte) (pass int, hit *fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault == nil || p.fault.direction != d {
		return len(data), nil
	}
	pass, ok := p.fault.find(before, data)
	if ok {
		hit, p.fault = p.fault, nil
	}
	return pass, hit
}

func (f *fault) find(before, data []byte) (pass int, hit bool) {
	if f.sequence == "" {
		if len(data) < f.bytes {
			f.bytes -= len(data)
			return len(data), false
		}
		return f.bytes, true
	}
	// Only a sequence that ends in the data is one that comes now.
	before = before[max(0, len(before)-len(f.sequence)+1):]
	at := bytes.Index(append(bytes.Clone(before), data...), []byte(f.sequence))
	if at < 0 {
		return len(data), false
	}
	pass = at + len(f.sequence) - len(before)
	if !f.through {
		pass--
	}
	return pass, true
}
