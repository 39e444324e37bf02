package e2e_test

import (
	"strings"
	"testing"
	"time"

	"purveyor/internal/testkit/check"
	"purveyor/internal/testkit/pg"
)

// The drill of docs/OPERATING.md: from a base backup and the archive of its log, a server is restored
// to a moment. All that was answered before it is there, and nothing of what came later.
func TestArchive(t *testing.T) {
	t.Parallel()
	archive, err := pg.NewArchive("")
	check.OK(t, err)
	t.Cleanup(func() { check.OK(t, archive.Close()) })
	server := newPostgres(t, archive.Settings()...)
	check.OK(t, server.SQL("CREATE DATABASE shop"))
	s := &shop{t: t, postgres: server.URL("shop")}
	s.fill()
	p, c := s.serve()
	l := &callLog{shop: s}
	load := func(round int, acked int64) []*attempt {
		return l.loadBy(round, func(a *attempt) (more bool) {
			l.send(c, a)
			return l.acked.Load() < times(acked)
		})()
	}
	before := load(0, 30)
	check.OK(t, archive.BaseBackup(server))
	before = append(before, load(1, 60)...)
	moment := time.Now()
	after := load(2, 90)
	p.kill()
	check.OK(t, archive.Complete(server))
	check.OK(t, server.Kill())

	restored, err := archive.Restore("", moment, "fsync=off", "shared_buffers=32MB")
	check.OK(t, err)
	t.Cleanup(func() { check.OK(t, restored.Close()) })
	s = &shop{t: t, postgres: restored.URL("shop"), partner: s.partner}
	if text := s.operate("jobs", "hold").ok(t); !strings.HasSuffix(text, "jobs were held\n") {
		t.Errorf("printed %s", text)
	}
	s.operate("ledger", "check", "--books").ok(t)
	_, c = s.serve()
	checkAcknowledged(c, before)
	(&callLog{shop: s, all: before}).check(c)
	late := 0
	for _, a := range after {
		if a.external != "" && a.acknowledged() {
			c.must(404, get("/v1/orders/"+a.orderID))
			late++
		}
	}
	if late == 0 {
		t.Error("no order came after the moment")
	}
}
