package pg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	neturl "net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// OutsideVariable names a server to test on: PostgreSQL, or the coordinator of a cluster. Tests
// make databases of their own there, whose names begin with purveyor_test_, drop
// them, and never write to the database of the URL.
const OutsideVariable = "PURVEYOR_TEST_SERVER"

// RunVariable names a run of several test processes. Their databases begin with
// purveyor_test_ and the name, and serve one test after the other. TestServerOfURL drops what is
// left of the run.
const RunVariable = "PURVEYOR_TEST_RUN"

// outsider is a server that was not started here.
type outsider struct {
	url   *neturl.URL
	nodes []string // addresses of a cluster, the coordinator's first; none: a single server
	names string   // begins the names of all databases of this process

	mu   sync.Mutex
	idle map[string][]string // by template, filled databases that were emptied after a test
}

// outside connects to the server of the environment.
func outside(url string) (*Server, error) {
	o := &outsider{idle: map[string][]string{}, names: fmt.Sprintf("%s%08x_", namesOfRun(), rand.Uint32())}
	var err error
	if o.url, err = neturl.Parse(url); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	var may, cluster bool
	err = conn.QueryRow(ctx, `SELECT rolcreatedb OR rolsuper, to_regclass('pg_dist_node') IS NOT NULL FROM pg_roles WHERE rolname = current_user`).Scan(&may, &cluster)
	switch {
	case err != nil:
		return nil, err
	case !may:
		return nil, errors.New("the role of " + OutsideVariable + " may not create databases, and tests write to no other ones; ALTER ROLE ... CREATEDB")
	case !cluster:
		return &Server{outside: o}, nil
	}
	rows, err := conn.Query(ctx, "SELECT nodename, nodeport FROM pg_dist_node WHERE isactive ORDER BY groupid")
	if err != nil {
		return nil, err
	}
	o.nodes, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var host string
		var port int
		err := row.Scan(&host, &port)
		return net.JoinHostPort(host, strconv.Itoa(port)), err
	})
	return &Server{outside: o}, err
}

func namesOfRun() string { return "purveyor_test_" + os.Getenv(RunVariable) + "_" }

// at is the URL of a database on a node.
func (o *outsider) at(node, database string) string {
	u := *o.url
	if node != "" {
		u.Host = node
	}
	u.Path = "/" + database
	return u.String()
}

// Cluster reports whether the server is the coordinator of a cluster. A database of it has the
// extension and the nodes, and no table.
func (s *Server) Cluster() bool { return s.outside != nil && len(s.outside.nodes) > 0 }

// make makes an empty database, on each node of a cluster.
func (o *outsider) make(ctx context.Context, name string) error {
	err := o.everywhere(func(node string) error {
		if err := execAt(ctx, o.at(node, "postgres"), "CREATE DATABASE "+name); err != nil || len(o.nodes) == 0 {
			return err
		}
		return execAt(ctx, o.at(node, name), "CREATE EXTENSION citus")
	})
	if err != nil {
		return err
	}
	for i, node := range o.nodes {
		host, port, err := net.SplitHostPort(node)
		if err != nil {
			return err
		}
		sql := fmt.Sprintf("SELECT citus_add_node('%s', %s)", host, port)
		if i == 0 {
			sql = fmt.Sprintf("SELECT citus_set_coordinator_host('%s', %s)", host, port)
		}
		if err = again(func() error { return execAt(ctx, o.at("", name), sql) }); err != nil {
			return err
		}
	}
	return nil
}

func (o *outsider) drop(ctx context.Context, name string) error {
	return o.everywhere(func(node string) error {
		return again(func() error {
			return execAt(ctx, o.at(node, "postgres"), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		})
	})
}

// lend gives a test a filled database, and gets it back emptied: to make and distribute one takes
// a cluster eight times as long.
func (o *outsider) lend(t testing.TB, template string, fill func(url string) error) string {
	o.mu.Lock()
	name := ""
	if idle := o.idle[template]; len(idle) > 0 {
		last := len(idle) - 1
		name, o.idle[template] = idle[last], idle[:last]
	}
	o.mu.Unlock()
	if name == "" {
		name = fmt.Sprint(o.names, databases.Add(1))
		err := o.make(t.Context(), name)
		if err == nil {
			err = fill(o.at("", name))
		}
		if err != nil {
			t.Fatal(errors.Join(err, o.drop(context.Background(), name)))
		}
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if t.Failed() || o.empty(ctx, name) != nil { // a test may have changed more than rows
			if err := o.drop(context.Background(), name); err != nil {
				t.Error(err)
			}
			return
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.idle[template] = append(o.idle[template], name)
	})
	return o.at("", name)
}

// empty leaves the rows that the schema itself has. A table is younger than those it refers to.
// Of few rows a cluster takes less time to DELETE than to TRUNCATE.
func (o *outsider) empty(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, o.at("", name))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	rows, _ := conn.Query(ctx, `SELECT format('DELETE FROM %I', relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
		AND relname NOT IN ('meta', 'migrations', 'schema_version') ORDER BY oid DESC`) // CollectRows returns the error
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, strings.Join(append(list, "UPDATE meta SET value = 1 WHERE name = 'next_store_no'"), ";"))
	return err
}

// everywhere calls f for all nodes at the same time, as each takes a second. The node of a single
// server has no name.
func (o *outsider) everywhere(f func(node string) error) error {
	nodes := o.nodes
	if len(nodes) == 0 {
		nodes = []string{""}
	}
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, node := range nodes {
		all.Go(func() { errs[i] = f(node) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// left returns the databases of the run on any node. They are left when a test
// process is killed.
func (o *outsider) left(ctx context.Context) (names []string, err error) {
	nodes := o.nodes
	if len(nodes) == 0 {
		nodes = []string{""}
	}
	for _, node := range nodes {
		conn, err := pgx.Connect(ctx, o.at(node, "postgres"))
		if err != nil {
			return nil, err
		}
		rows, _ := conn.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", namesOfRun()) // CollectRows returns the error
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err := errors.Join(err, conn.Close(ctx)); err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// again repeats what nodes of a cluster refuse for a moment: a worker whose database is only just
// there, and a database that the cluster's own processes connect to.
func again(f func() error) error {
	err := f()
	for tries := 1; err != nil && tries < 10; tries++ {
		err = f()
	}
	return err
}

func execAt(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err = conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%s: %w", sql, err)
	}
	return nil
}

// outsideURL is the value of OutsideVariable.
func outsideURL() string { return os.Getenv(OutsideVariable) }
