package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"purveyor/internal/config"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

type copyCommand struct {
	From string `required:"" help:"What to copy: sqlite:PATH, or postgres://USER:PASSWORD@HOST/NAME. Stop its services first." env:"PURVEYOR_COPY_FROM" placeholder:"URL"`
	To   string `required:"" help:"Where to: a database that is empty." env:"PURVEYOR_COPY_TO" placeholder:"URL"`
}

// Run copies all of it, or nothing.
func (c copyCommand) Run() error {
	source, target := config.Database{Database: c.From}, config.Database{Database: c.To}
	if path, err := source.SQLitePath(); err == nil { // opening it would make the file
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	from, err := openEngine(source)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	to, err := openEngine(target)
	if err != nil {
		return errors.Join(fmt.Errorf("--to: %w", err), from.Close())
	}
	rows, err := copyDatabase(context.Background(), from, to)
	if err = errors.Join(err, from.Close(), to.Close()); err != nil {
		return err
	}
	for _, t := range schema.Plains {
		fmt.Printf("%-15s %d\n", t.Name, rows[t.Name])
	}
	fmt.Println("copied", source, "to", target)
	return nil
}

// copyDatabase refuses a source that changes meanwhile: what came after the
// snapshot would be missing in the copy, and no one would know.
func copyDatabase(ctx context.Context, from, to storage.Engine) (rows map[string]int64, err error) {
	err = from.Snapshot(ctx, func(s schema.Snapshot) error {
		return to.Fill(ctx, func(f schema.Filling) error {
			if rows, err = schema.Copy(s, f); err != nil {
				return err
			}
			return unchanged(ctx, from, s)
		})
	})
	if errors.Is(err, schema.ErrNotEmpty) {
		err = fmt.Errorf("%w; name an empty one with --to", err)
	}
	return rows, err
}

func unchanged(ctx context.Context, from storage.Engine, s schema.Snapshot) error {
	before, err := s.State()
	if err != nil {
		return err
	}
	return from.Snapshot(ctx, func(s schema.Snapshot) error {
		after, err := s.State()
		if err == nil && after != before {
			err = errors.New("the database was written to while it was copied, and nothing was kept; stop its services and try again")
		}
		return err
	})
}
