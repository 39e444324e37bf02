package load

import "fmt"

// poster posts its part of some notices, one after another.
type poster struct{ left [][]byte }

// Posters share requests that are to be answered 200, each once: the first
// Callers of them are each made by another one, and so on.
func Posters(requests [][]byte) []Caller {
	parts := make([]poster, Callers)
	for i, r := range requests {
		part := &parts[i%len(parts)]
		part.left = append(part.left, r)
	}
	list := make([]Caller, len(parts))
	for i := range parts {
		list[i] = &parts[i]
	}
	return list
}

func (p *poster) Next() []byte {
	if len(p.left) == 0 {
		return nil
	}
	next := p.left[0]
	p.left = p.left[1:]
	return next
}

func (p *poster) Answered(status int, body []byte) error {
	if status != 200 {
		return fmt.Errorf("notice: status %d: %.300s", status, body)
	}
	return nil
}
