package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"purveyor/internal/commerce"
)

// TestMovesAreBounded: the latest batches are remembered; one that moved too
// many products is not, nor is what came before it.
func TestMovesAreBounded(t *testing.T) {
	var m moves
	batch := func(n int64, products int) {
		b := batchMoves{before: n - 1, stamp: n}
		for range products {
			b.products = append(b.products, move{is: commerce.Stock{ProductID: "prd_1", UpdatedOn: n}})
		}
		m.add(b)
	}
	known := func(after, until int64) bool { return m.unmoved("prd_2", after, until) }
	const many = 4 * mostBatches
	for n := range int64(many) {
		batch(n+1, 1)
		if len(m.batches) > 2*mostBatches {
			t.Fatalf("%d batches are kept", len(m.batches))
		}
	}
	if !known(many-mostBatches, many) || known(0, many) {
		t.Errorf("known since %d: %v; since the first: %v", many-mostBatches, known(many-mostBatches, many), known(0, many))
	}
	batch(many+1, mostMoves+1)
	if len(m.batches) != 0 || known(many, many+1) {
		t.Errorf("%d batches are kept after one that is too large", len(m.batches))
	}
	batch(many+2, mostMoves)
	if !known(many+1, many+2) {
		t.Error("the batch after the one that was too large is not kept")
	}
}

// TestNoWALIndex: what is not there, or cannot be mapped, is no index.
func TestNoWALIndex(t *testing.T) {
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "folder-shm", "so that it has a size"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"nowhere", "folder"} {
		if _, found := walIndexOf(filepath.Join(folder, name)); found {
			t.Errorf("%s has an index", name)
		}
	}
}
