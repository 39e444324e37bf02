package purveyor

import "time"

// UnixMillis is a time as Unix milliseconds.
type UnixMillis int64

// Millis returns a time as the API takes it.
func Millis(t time.Time) UnixMillis { return UnixMillis(t.UnixMilli()) }

// Time returns the time in UTC.
func (m UnixMillis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// Ptr returns a pointer to a value, for fields that may be left out.
func Ptr[T any](v T) *T { return &v }

// Value returns what a pointer points to, or the zero value if it is nil.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
