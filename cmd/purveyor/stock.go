package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"

	"purveyor/internal/commerce"
	"purveyor/internal/service"
	"purveyor/internal/storage"
)

type stockCommand struct {
	Check stockCheck `cmd:"" help:"Prove for every product that its stock moves lead to its quantity. Exits with 1 if they do not."`
}

type stockCheck struct {
	onDatabase
	Store  string `help:"Check only the products of this store." placeholder:"ID"`
	All    bool   `help:"Also list repaired breaks, which do not count as differences."`
	Repair bool   `help:"Record a repair of each product with a broken chain: its history starts again from the current quantity, which does not change."`
	Reason string `help:"Why the chain is repaired; required with --repair." placeholder:"TEXT"`
}

// maxReason is the maximal length of a reason, in bytes.
const maxReason = 200

func (c stockCheck) prepare() error {
	switch {
	case c.Repair && c.Reason == "":
		return errors.New("--repair needs --reason TEXT: the history of each repaired product shows it")
	case !c.Repair && c.Reason != "":
		return errors.New("--reason is for --repair alone")
	}
	return nil
}

func (c stockCheck) Run(ctx context.Context, db *database) error {
	if c.Store != "" {
		if _, err := db.Reader().Store(ctx, c.Store); errors.Is(err, storage.ErrNotFound) {
			return fmt.Errorf("there is no store %s", c.Store)
		} else if err != nil {
			return err
		}
	}
	check := stockChecking{stockCheck: c, db: db}
	if err := check.run(ctx); err != nil {
		return err
	}
	return check.conclude()
}

// stockChecking counts the results of a check.
type stockChecking struct {
	stockCheck
	db                                 *database
	products, moves, differing, mended int
}

// run checks one product after another. No read is longer than a page.
func (c *stockChecking) run(ctx context.Context) error {
	read := func(after commerce.ProductKey) ([]commerce.Stock, error) {
		return c.db.Reader().StockPage(ctx, c.Store, after, pageSize)
	}
	for stock, err := range rowsOf(commerce.ProductKey{}, read, commerce.Stock.Key) {
		if err != nil {
			return err
		}
		if err := c.product(ctx, stock); err != nil {
			return fmt.Errorf("%s in store %s: %w", stock.ProductID, stock.StoreID, err)
		}
	}
	return nil
}

// product checks one product while the service may be selling it. That works because
// the moves that a stock row counts never change, even if more are added after the
// row was read.
func (c *stockChecking) product(ctx context.Context, stock commerce.Stock) error {
	c.products++
	broken, newest := false, int64(0)
	check := commerce.NewStockCheck(stock.Quantity, stock.Moves, func(fault string, repaired bool) {
		if repaired {
			fault += " (repaired since)"
		}
		broken = broken || !repaired
		printf("%s %s: %s\n", stock.StoreID, stock.ProductID, fault)
	})
	read := func(before commerce.MovePosition) ([]commerce.StockMove, error) {
		return c.db.Reader().StockMoves(ctx, stock.Key(), before, pageSize)
	}
	for m, err := range rowsOf(stock.NewestMove(), read, commerce.StockMove.Before) {
		if err != nil {
			return err
		}
		check.Add(m)
		newest = max(newest, m.Seq)
		c.moves++
		if check.Begun() && !c.All {
			break
		}
	}
	if c.All || !check.Begun() {
		check.End()
	}
	if !broken {
		return nil
	}
	c.differing++
	return c.repair(ctx, stock.Key(), newest)
}

func (c *stockChecking) repair(ctx context.Context, key commerce.ProductKey, newest int64) error {
	if !c.Repair {
		return nil
	}
	move, err := c.db.uses.RepairStock(ctx, operator(), service.RepairStock{
		Product: key, Reason: commerce.CleanText(c.Reason, maxReason), After: newest})
	if err != nil {
		return err
	}
	c.mended++
	printf("%s %s: repaired by move %d, at the quantity %d\n", key.StoreID, key.ProductID, move.Seq, move.QuantityAfter)
	return nil
}

// conclude prints the sums. Repaired products do not count as differences.
func (c *stockChecking) conclude() error {
	printf("%d products, %d moves\n", c.products, c.moves)
	switch {
	case c.differing > c.mended:
		return fmt.Errorf("the moves of %d products do not lead to their quantity; when you know why, `purveyor stock check --repair --reason TEXT` starts a new history", c.differing-c.mended)
	case c.mended > 0:
		printf("%d products were repaired\n", c.mended)
	default:
		printf("every chain is whole\n")
	}
	return nil
}

// operator returns the user of this shell.
func operator() commerce.Actor {
	login := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		login = u.Username
	}
	return commerce.Actor{Kind: commerce.ActorOperator, ID: commerce.CleanText(login, maxReason)}
}
