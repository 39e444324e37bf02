package main

import "errors"

// A run ends at its first error, as a test does: check and must panic with it,
// and catch returns it at the end of a section, after all deferred cleaning up.

type fatal struct{ error }

func check(err error) {
	if err != nil {
		panic(fatal{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// catch is deferred by functions that return an error again.
func catch(err *error) {
	switch f := recover().(type) {
	case nil:
	case fatal:
		*err = errors.Join(f.error, *err)
	default:
		panic(f)
	}
}

// background runs f on a goroutine. The function that it returns waits for the
// end, and fails if f failed.
func background(f func()) (wait func()) {
	ended := make(chan error, 1)
	go func() {
		var err error
		defer func() { ended <- err }()
		defer catch(&err)
		f()
	}()
	return func() { check(<-ended) }
}
