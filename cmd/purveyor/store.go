package main

import (
	"context"
	"errors"
	"fmt"

	"purveyor/internal/service"
	"purveyor/internal/storage"
)

type storeCommand struct {
	Update storeUpdate `cmd:"" help:"Change the settings of a store that are given."`
}

type storeUpdate struct {
	onDatabase
	ID          string `arg:"" name:"store" help:"Id of the store."`
	HoldMinutes *int64 `help:"Minutes for which checkouts hold their goods until they are paid: 5 to 60, or 0 for not at all." required:"" placeholder:"N"`
}

func (c storeUpdate) Run(ctx context.Context, db *database) error {
	store, err := db.Reader().Store(ctx, c.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("there is no store %s", c.ID)
	} else if err != nil {
		return err
	}
	by := service.Caller{Actor: operator(), Seen: store.UpdatedOn}
	store.HoldMinutes = *c.HoldMinutes
	if store, err = db.uses.UpdateStore(ctx, by, store); err != nil {
		return err
	}
	printf("%s: checkouts hold their goods for %d minutes\n", store.ID, store.HoldMinutes)
	return nil
}
