package postgres

import (
	"testing"

	"purveyor/internal/storage/storagetest"
)

func TestUnreadable(t *testing.T) {
	url := database(t)
	storagetest.RunUnreadable(t, address(url), func(sql string) { run(t, url, sql) })
}
