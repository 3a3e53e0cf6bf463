// Package ledgertest gives tests a real database with nothing to set up beforehand.
//
//	func TestMain(m *testing.M) { os.Exit(ledgertest.Main(m)) }
//
//	dsn := ledgertest.Postgres(t)             // a fresh, empty database, dropped when the test ends
//	dsn := ledgertest.Postgres(t, migrate)    // a copy of a template that migrate filled once
//	c, err := ledgertest.Start(ledgertest.Options{Durable: true})    // a server of the test's own: kill -9 and come back
//
// Where the server comes from, in this order:
//
//  1. TEST_DATABASE_URL: a server that runs already (its user must be allowed to create databases).
//  2. initdb and postgres found in PG_BINDIR, PATH or the usual folders: one throw-away server a test binary, on a unix
//     socket in a folder of its own, in memory and without fsync, gone on exit.
//
// With neither the test fails and says what to type, so that a missing server is never a green run. Only SQLITE_ONLY=1 leaves
// PostgreSQL out, and REQUIRE_POSTGRES=1 (CI sets it) refuses even that.
//
// Further variables: PG_RUN_AS is the user the server runs as when the tests run as root (default postgres, else nobody:
// PostgreSQL refuses root); PGTEST_DIR is where the throw-away folders go.
package ledgertest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"
)

// Main runs a package's tests and then stops the server they used; the result is for os.Exit.
func Main(m *testing.M) int {
	defer shared.stop()
	return m.Run()
}

// Postgres returns the URL of a fresh database of this test's own, dropped when the test ends. With migrate it is a copy of a
// template database that those functions filled once a test binary: a copy takes a tenth of a second, migrations much more.
// The functions are told apart by their code, so two closures made by one function literal count as the same.
func Postgres(t testing.TB, migrate ...func(dsn string) error) string {
	t.Helper()
	Need(t)
	name, err := shared.create(migrate)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return shared.url(name)
}

// Need leaves a test out that wants PostgreSQL, when that was asked for; asked for both ways, it fails. Tests that start a server of
// their own call it first; Postgres does by itself.
func Need(t testing.TB) {
	t.Helper()
	leaveOut, err := leftOut(os.Getenv("SQLITE_ONLY"), os.Getenv("REQUIRE_POSTGRES"))
	if err != nil {
		t.Fatal(err)
	}
	if leaveOut {
		t.Skip("SQLITE_ONLY is set: the PostgreSQL case is left out")
	}
}

// leftOut says whether PostgreSQL is left out on request. Both requests at once are a mistake in the caller's settings.
func leftOut(sqliteOnly, requirePostgres string) (bool, error) {
	if sqliteOnly != "" && requirePostgres != "" {
		return false, errors.New("SQLITE_ONLY and REQUIRE_POSTGRES are both set: unset one")
	}
	return sqliteOnly != "", nil
}

// shared is the one server of this test binary, started by the first test that asks.
var shared server

type server struct {
	mu        sync.Mutex // also held while a template is copied: nobody may be connected to it then
	started   bool
	err       error
	own       *Cluster // nil: TEST_DATABASE_URL
	admin     *url.URL
	templates map[string]string // key of the migrations → database
}

// create makes a database and returns its name.
func (s *server) create(migrate []func(dsn string) error) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(); err != nil {
		return "", err
	}
	template := "template0"
	if len(migrate) > 0 {
		var err error
		if template, err = s.template(migrate); err != nil {
			return "", err
		}
	}
	name := freshName()
	return name, s.exec("CREATE DATABASE " + name + " TEMPLATE " + template)
}

func (s *server) start() error {
	if s.started {
		return s.err
	}
	s.started, s.templates = true, map[string]string{}
	dsn := os.Getenv("TEST_DATABASE_URL")
	if dsn == "" {
		if s.own, s.err = Start(Options{}); s.err != nil {
			return s.err
		}
		dsn = s.own.DSN("postgres")
	}
	s.admin, s.err = parseURL(dsn)
	return s.err
}

// parseURL never repeats its input: the URL may hold a password.
func parseURL(dsn string) (*url.URL, error) {
	u, err := url.Parse(dsn)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return nil, errors.New("TEST_DATABASE_URL: not of the form postgres://user:password@host:port/database")
	}
	return u, nil
}

func (s *server) template(migrate []func(dsn string) error) (string, error) {
	key := ""
	for _, f := range migrate {
		key += fmt.Sprint(reflect.ValueOf(f).Pointer(), " ")
	}
	if name, ok := s.templates[key]; ok {
		return name, nil
	}
	name := freshName()
	if err := s.exec("CREATE DATABASE " + name + " TEMPLATE template0"); err != nil {
		return "", err
	}
	for _, f := range migrate {
		if err := f(s.url(name)); err != nil {
			return "", fmt.Errorf("fill the template database: %w", errors.Join(err, s.exec("DROP DATABASE "+name+" WITH (FORCE)")))
		}
	}
	s.templates[key] = name
	return name, nil
}

// freshName is unlike any other process's, as several test binaries may share the server of TEST_DATABASE_URL.
func freshName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("paybook_test_%x", b)
}

func (s *server) url(database string) string {
	u := *s.admin
	u.Path = "/" + database
	return u.String()
}

func (s *server) exec(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	db, err := sql.Open("pgx", s.admin.String())
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func (s *server) stop() {
	if s.own != nil {
		s.own.Stop()
		return
	}
	for _, name := range s.templates {
		if err := s.exec("DROP DATABASE IF EXISTS " + name + " WITH (FORCE)"); err != nil {
			fmt.Fprintln(os.Stderr, "ledgertest:", err)
		}
	}
}
