package storagetest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"purveyor/internal/commerce"
	"purveyor/internal/storage/schema/schematest"
)

func keyHolder(t *testing.T, db Database) {
	e := db.Open(t, time.Now)
	c := sample()
	Change(t, e, schematest.Needs(c), func(*commerce.Rows, commerce.Millis) commerce.Changes { return c })
	p, key, err := e.Reader().KeyHolder(context.Background(), commerce.HashKey("k"))
	if err != nil || p.ID != "ptn_1" || !reflect.DeepEqual(key, c.APIKeys[1]) {
		t.Errorf("holder %s of %+v, %v", p.ID, key, err)
	}
	if _, _, err := e.Reader().KeyHolder(context.Background(), commerce.HashKey("K")); err == nil {
		t.Error("a wrong key has a holder")
	}
	keys, err := e.Reader().APIKeys(context.Background(), "ptn_1")
	if err != nil || !reflect.DeepEqual(keys, c.APIKeys) {
		t.Errorf("keys %+v, %v; want %+v", keys, err, c.APIKeys)
	}
	if keys, err := e.Reader().APIKeys(context.Background(), "ptn_0"); err != nil || len(keys) > 0 {
		t.Errorf("another partner has keys %+v, %v", keys, err)
	}
	for until, want := range map[commerce.Millis]int{14: 0, 15: 1, 99: 1} { // key_1 ends at 15, the other never
		if ending, err := e.Reader().EndingKeys(context.Background(), 13, until); err != nil || len(ending) != want || want == 1 && !reflect.DeepEqual(ending[0], c.APIKeys[1]) {
			t.Errorf("keys that end until %d: %+v, %v", until, ending, err)
		}
	}
	if ending, err := e.Reader().EndingKeys(context.Background(), 15, 99); err != nil || len(ending) > 0 {
		t.Errorf("keys that have ended: %+v, %v", ending, err)
	}
	if faults, err := e.Reader().Faults(context.Background(), "ptn_1"); err != nil || !reflect.DeepEqual(faults, c.Faults[0]) {
		t.Errorf("faults %+v, %v; want %+v", faults, err, c.Faults[0])
	}
	if faults, err := e.Reader().Faults(context.Background(), "ptn_0"); err != nil || len(faults.List) > 0 {
		t.Errorf("another partner has faults %+v, %v", faults, err)
	}
	if certified, err := e.Reader().Certification(context.Background(), "ptn_1"); err != nil || certified != c.Certified[0] {
		t.Errorf("certification %+v, %v; want %+v", certified, err, c.Certified[0])
	}
	if certified, err := e.Reader().Certification(context.Background(), "ptn_0"); err != nil || certified != (commerce.Certification{}) {
		t.Errorf("another partner has the certification %+v, %v", certified, err)
	}
	for range 2 {
		list, err := e.Reader().Partners(context.Background())
		if err != nil || len(list) != 1 || list[0].Name != c.Partners[0].Name {
			t.Errorf("partners %+v, %v", list, err)
		}
		clear(list) // which is the caller's
	}
}
