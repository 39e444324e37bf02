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
	"purveyor/internal/storage/schema"
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
		return wrong("--repair needs --reason TEXT: the history of each repaired product shows it")
	case !c.Repair && c.Reason != "":
		return wrong("--reason is for --repair alone")
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
	p := startProgress()
	defer p.end()
	total, err := c.count(ctx, db)
	if err != nil {
		return err
	}
	p.phase("checking stock", total, "products")
	check := stockChecking{stockCheck: c, db: db, progress: p}
	sums, err := db.uses.CheckStock(ctx, service.CheckStock{StoreID: c.Store, All: c.All, Fault: func(f service.StockFault) { p.above(func() { printFault(f) }) },
		Checked: func(sums service.StockSums, product commerce.ProductKey, broken bool) error {
			p.set(int64(sums.Products))
			if !broken {
				return nil
			}
			return check.repair(ctx, product)
		}})
	if p.end(); err != nil {
		return err
	}
	return check.conclude(sums)
}

// count counts the products for the progress; 0: of one store, the number is not known.
func (c stockCheck) count(ctx context.Context, db *database) (n int64, err error) {
	if c.Store != "" {
		return 0, nil
	}
	err = db.Snapshot(ctx, func(s schema.Snapshot) error {
		n, err = schema.CountItems(s)
		return err
	})
	return n, err
}

func printFault(f service.StockFault) {
	if f.Repaired {
		f.Fault += " (repaired since)"
	}
	printf("%s %s: %s\n", f.Product.StoreID, f.Product.ProductID, f.Fault)
}

// stockChecking counts the repairs of a check.
type stockChecking struct {
	stockCheck
	db       *database
	progress *progress
	mended   int
}

func (c *stockChecking) repair(ctx context.Context, key commerce.ProductKey) error {
	if !c.Repair {
		return nil
	}
	move, err := c.db.uses.RepairStock(ctx, operator(), service.RepairStock{Product: key, Reason: commerce.CleanText(c.Reason, maxReason)})
	if err != nil {
		return err
	}
	c.mended++
	c.progress.above(func() {
		printf("%s %s: repaired by move %d, at the quantity %d\n", key.StoreID, key.ProductID, move.Seq, move.QuantityAfter)
	})
	return nil
}

// conclude prints the sums. Repaired products do not count as differences.
func (c *stockChecking) conclude(sums service.StockSums) error {
	printf("%d products, %d moves\n", sums.Products, sums.Moves)
	switch {
	case sums.Broken > c.mended:
		return fmt.Errorf("the moves of %d products do not lead to their quantity; when you know why, `purveyor stock check --repair --reason TEXT` starts a new history", sums.Broken-c.mended)
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
