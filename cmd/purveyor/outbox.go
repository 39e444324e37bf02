package main

import (
	"context"
	"errors"
	"fmt"

	"purveyor/internal/storage"
)

type outboxCommand struct {
	List outboxList `cmd:"" help:"List e-mails and texts that were not sent, newest first."`
	Show outboxShow `cmd:"" help:"Show one of them."`
}

type outboxList struct {
	onDatabase
	asJSON
	Limit  int    `help:"How many." default:"50"`
	Before string `help:"Only messages before this one." placeholder:"ID"`
}

func (c outboxList) Run(ctx context.Context, db *database) error {
	list, err := db.Reader().Outbox(ctx, c.Before, max(c.Limit, 1))
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(listOf(list, listedMessageOf))
	}
	table := newTable("ID", "TIME", "KIND", "TO", "ORDER", "KEPT BECAUSE", "SUBJECT")
	for _, m := range list {
		table.row(m.ID, moment(m.CreatedOn), m.Kind, m.To, m.OrderID, m.Reason, m.Subject)
	}
	return table.flush()
}

type outboxShow struct {
	onDatabase
	ID string `arg:"" help:"The message's id."`
}

func (c outboxShow) Run(ctx context.Context, db *database) error {
	m, err := db.Reader().OutboxMessage(ctx, c.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("there is no message %s; `purveyor outbox list` shows all", c.ID)
	}
	if err != nil {
		return err
	}
	printf("id       %s\nkind     %s\nto       %s\nsubject  %s\norder    %s\ntime     %s\nkept     %s\n\n%s\n",
		m.ID, m.Kind, m.To, orNone(m.Subject), orNone(m.OrderID), moment(m.CreatedOn), m.Reason, m.Text)
	if m.HTML != "" {
		printf("\nHTML:\n%s\n", m.HTML)
	}
	return nil
}
