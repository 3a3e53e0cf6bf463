package ledger_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm/schema"

	"paybook/ledger"
	"paybook/ledger/ledgertest"
	"paybook/models"
)

// Every model is a table, every field a column, every column a field, on both databases.
func TestModelsAreTheSchema(t *testing.T) {
	tables := map[string]any{"orders": models.Order{}, "transactions": models.Transaction{}, "aliases": models.Alias{},
		"transitions": models.Transition{}, "messages": models.Message{}, "callbacks": models.Callback{}, "runs": models.Run{}, "gaps": models.Gap{},
		"stock": models.Stock{}, "items": models.Item{}, "tokens": models.Token{}, "archives": models.Archive{}, "fetches": models.Fetch{},
		"repairs": models.Repair{}, "repair_items": models.RepairItem{}}
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		ledgertest.Open(t, dsn)
		db := openSQL(t, dsn)
		for table, model := range tables {
			want := modelColumns(t, model)
			got := tableColumns(t, db, table)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s\n schema %v\n model  %v", table, got, want)
			}
		}
	})
}

func tableColumns(t *testing.T, db *sql.DB, table string) []string {
	t.Helper()
	rows, err := db.Query("SELECT * FROM " + table + " WHERE 1 = 0")
	if err != nil {
		t.Fatal(table, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || rows.Err() != nil {
		t.Fatal(table, err, rows.Err())
	}
	sort.Strings(columns)
	return columns
}

func modelColumns(t *testing.T, model any) []string {
	t.Helper()
	s, err := schema.Parse(model, &sync.Map{}, schema.NamingStrategy{})
	if err != nil {
		t.Fatal(err)
	}
	columns := append([]string(nil), s.DBNames...)
	sort.Strings(columns)
	return columns
}

func openSQL(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	driver, name := "pgx", dsn
	if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		driver, name = "sqlite", "file:"+file
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// What a distributed PostgreSQL refuses must not enter the migrations or the SQL.
func TestNothingAClusterRefuses(t *testing.T) {
	banned := regexp.MustCompile(`(?i)\b(serial|bigserial|identity|references|trigger|merge into|unnest|for update|for share|clock_timestamp|skip locked|nextval|random\(\))\b`)
	var files []string
	for _, pattern := range []string{"migrations/*/*.sql", "*.go"} {
		m, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, m...)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(raw), "\n") {
			code, _, _ := strings.Cut(line, "//")
			if !strings.HasPrefix(strings.TrimSpace(code), "--") && banned.MatchString(code) {
				t.Errorf("%s:%d: %s", file, i+1, strings.TrimSpace(line))
			}
		}
	}
}

// The keys of the tables that grow with the business allow partitioning by hash, which has the same rule as a cluster: every unique key must
// hold the partition key.
func TestKeysAllowDistribution(t *testing.T) {
	dsn := ledgertest.Postgres(t)
	ledgertest.Open(t, dsn)
	db := openSQL(t, dsn)
	for table, by := range map[string]string{"orders": "order_id", "transitions": "order_id", "messages": "order_id",
		"transactions": "transaction_id", "aliases": "alias", "callbacks": "id", "items": "order_id", "expiries": "order_id", "tokens": "token", "stock": "sku"} {
		_, err := db.Exec(fmt.Sprintf("CREATE TABLE p_%s (LIKE %s INCLUDING ALL) PARTITION BY HASH (%s)", table, table, by))
		if err != nil {
			t.Errorf("%s by %s: %v", table, by, err)
		}
	}
}

// Eight replicas that start at once: the schema is there, nobody fails.
func TestReplicasMigrateAtOnce(t *testing.T) {
	dsn := ledgertest.Postgres(t)
	inParallel(8, func(int) {
		book, err := ledger.Open(t.Context(), dsn, ledger.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestNoMigrateRefusesAnEmptyDatabase(t *testing.T) {
	ledgertest.EachDSN(t, func(t *testing.T, dsn string) {
		if strings.HasPrefix(dsn, "postgres") {
			dsn = ledgertest.Postgres(t) // an empty one
		}
		book, err := ledger.Open(t.Context(), dsn, ledger.Options{NoMigrate: true})
		if err == nil {
			book.Close()
			t.Fatal("an empty database was taken")
		}
		if !strings.Contains(err.Error(), "app migrate up") {
			t.Errorf("the error does not say what to do: %v", err)
		}
	})
}

func TestAddressOfTheDatabaseIsChecked(t *testing.T) {
	for _, dsn := range []string{"", "sqlite:", "sqlite::memory:", "mysql://u:secretword@h/db", "postgres://u:secretword@%zz/db", "app.db"} {
		_, err := ledger.Open(t.Context(), dsn, ledger.Options{})
		if err == nil || strings.Contains(err.Error(), "secretword") {
			t.Errorf("%q: %v", dsn, err)
		}
	}
}
