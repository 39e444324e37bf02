package main

import (
	"context"
	"errors"
	"fmt"

	"purveyor/internal/config"
	"purveyor/internal/storage"
	"purveyor/internal/storage/schema"
)

type copyCommand struct {
	From string `required:"" help:"What to copy: sqlite:PATH, or postgres://USER:PASSWORD@HOST/NAME. Stop its services first." env:"PURVEYOR_COPY_FROM" placeholder:"URL"`
	To   string `required:"" help:"The target, an empty database." env:"PURVEYOR_COPY_TO" placeholder:"URL"`
}

// Run copies all of it, or nothing.
func (c copyCommand) Run() error {
	source, target := config.Database{Database: c.From}, config.Database{Database: c.To}
	from, err := openEngine(source, isRefused)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	to, err := openEngine(target, isMade)
	if err != nil {
		return errors.Join(fmt.Errorf("--to: %w", err), from.Close())
	}
	rows, err := storage.Copy(context.Background(), from, to)
	if errors.Is(err, schema.ErrNotEmpty) {
		err = fmt.Errorf("%w; name an empty one with --to", err)
	}
	if err = errors.Join(err, from.Close(), to.Close()); err != nil {
		return err
	}
	for _, t := range schema.Plains {
		printf("%-15s %d\n", t.Name, rows[t.Name])
	}
	printf("copied %v to %v\n", source, target)
	return nil
}
