package postgres

import (
	"testing"

	"purveyor/internal/pgtest"
	"purveyor/internal/storage/storagetest"
)

func TestUnreadable(t *testing.T) {
	url := pgtest.Shared(t).Database(t)
	storagetest.RunUnreadable(t, address(url), func(sql string) { run(t, url, sql) })
}
