package faultproxy

import (
	"bytes"
	"regexp"
)

// longest bounds how much of a pattern's match may come before the data that ends it.
const longest = 256

// Saved matches the start and the end of PostgreSQL's answer to the commit of a batch.
var Saved = regexp.MustCompile(`(?s)UPDATE \d+\x00.{0,40}COMMIT\x00`)

// fault is the place at which a connection is cut: where a pattern matches, or else
// after some bytes.
type fault struct {
	direction Direction
	bytes     int
	pattern   *regexp.Regexp
	through   bool
	done      chan struct{}
}

// examine returns how many of the next bytes may pass, and the fault that they hit,
// if any. A fault is hit once.
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
	if f.pattern == nil {
		if len(data) < f.bytes {
			f.bytes -= len(data)
			return len(data), false
		}
		return f.bytes, true
	}
	for _, match := range f.pattern.FindAllIndex(append(bytes.Clone(before), data...), -1) {
		pass = match[1] - len(before)
		if pass <= 0 {
			continue // it was forwarded before
		}
		if !f.through {
			pass--
		}
		return pass, true
	}
	return len(data), false
}
