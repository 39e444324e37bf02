package schema

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"purveyor/internal/commerce"

	"github.com/go-json-experiment/json/jsontext"
)

// Columns are the values of a row by the names of their columns, for people. They hold
// no secret.
type Columns map[string]any

// Difference has the rows that a command changes: by table and by key (the parts of a key
// are separated by a slash), with the columns that differ. A new row is in After alone,
// without its empty columns. Deleted rows and logs are left out.
type Difference struct {
	Before, After map[string]map[string]Columns
	LeftOut       int // rows beyond MaxDifferences of a table
}

// MaxDifferences bounds the rows of each table in a Difference.
const MaxDifferences = 50

// DifferenceOf compares changes with the rows that they are about to be applied to.
func DifferenceOf(r *commerce.Rows, c *commerce.Changes) Difference {
	d := Difference{Before: map[string]map[string]Columns{}, After: map[string]map[string]Columns{}}
	for _, t := range Tables {
		t.difference(r, c, &d)
	}
	return d
}

func (t *Table[K, V]) difference(r *commerce.Rows, c *commerce.Changes, d *Difference) {
	if t.Changes == nil {
		return
	}
	list := *t.Changes(c)
	d.LeftOut += max(0, len(list)-MaxDifferences)
	for i := range list[:min(len(list), MaxDifferences)] {
		was, known := t.Rows(r).Get(t.KeyOf(&list[i]))
		stored, next := t.shown(&was), t.shown(&list[i])
		keys, before, after := len(Split(t.Key)), Columns{}, Columns{}
		for i, column := range next.names {
			if i < keys || stored.raw[i] == next.raw[i] {
				continue
			}
			after[column] = next.values[i]
			if known {
				before[column] = stored.values[i]
			}
		}
		key := strings.Join(next.raw[:keys], "/")
		put(d.Before, t.Name, key, before)
		put(d.After, t.Name, key, after)
	}
}

func put(tables map[string]map[string]Columns, table, key string, row Columns) {
	if len(row) == 0 {
		return
	}
	if tables[table] == nil {
		tables[table] = map[string]Columns{}
	}
	tables[table][key] = row
}

// shown returns a row as people may see it.
func (t *Table[K, V]) shown(v *V) *shower {
	s := &shower{names: Split(t.Columns()), secret: Split(t.Secret), hidden: Split(t.Hidden)}
	t.Bind(s, v)
	return s
}

// shower is a Binder that keeps the values of a row, and how people may see them.
type shower struct {
	names, secret, hidden []string
	raw                   []string
	values                []any
}

func (s *shower) add(raw string, v any) Binder {
	if slices.Contains(s.hidden, s.names[len(s.values)]) {
		v = "set"
		if raw == "" || raw == "0" || raw == "[]" || raw == "null" {
			v = ""
		}
	}
	s.raw, s.values = append(s.raw, raw), append(s.values, v)
	return s
}

func (s *shower) Int(v int64) Binder   { return s.add(strconv.FormatInt(v, 10), v) }
func (s *shower) Bool(v bool) Binder   { return s.add(strconv.FormatBool(v), v) }
func (s *shower) JSON(v []byte) Binder { return s.add(string(v), jsontext.Value(v)) }

func (s *shower) Float(v *float64) Binder {
	if v == nil {
		return s.add("", nil)
	}
	return s.add(strconv.FormatFloat(*v, 'g', -1, 64), *v)
}

func (s *shower) Text(v string) Binder {
	if slices.Contains(s.secret, s.names[len(s.values)]) {
		return s.add(v, masked(v))
	}
	return s.add(v, withoutSecrets(v))
}

// Blob shows the beginning of a digest, and of anything else only the size.
func (s *shower) Blob(v []byte) Binder {
	if len(v) == len(commerce.KeyHash{}) {
		return s.add(string(v), "sha256:"+hex.EncodeToString(v[:4]))
	}
	return s.add(string(v), fmt.Sprintf("%d bytes", len(v)))
}

// masked shows the last four characters of a secret that is long enough to spare them.
func masked(secret string) string {
	const longEnough = 16
	switch {
	case secret == "":
		return ""
	case len(secret) < longEnough:
		return "set"
	}
	return "..." + secret[len(secret)-4:]
}

// withoutSecrets leaves out of a URL the password and the query, which may hold a token.
func withoutSecrets(text string) string {
	if scheme, _, ok := strings.Cut(text, "://"); !ok || strings.Contains(scheme, " ") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return "a URL that cannot be read"
	}
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return u.Redacted()
}
