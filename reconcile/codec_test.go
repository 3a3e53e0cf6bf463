package reconcile

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"paybook/models"
)

// fillAll gives every field of a struct another value: one that is forgotten shows.
func fillAll(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(-*n << 40)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillAll(v.Index(0), n)
		fillAll(v.Index(1), n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(9998, 12, 31, 23, 59, 59, int(*n), time.UTC)))
			return
		}
		for i := range v.NumField() {
			fillAll(v.Field(i), n)
		}
	}
}

// TestCodecKeepsEverything: what goes by way of the disk comes back whole, also the fields that an entry will have one day.
func TestCodecKeepsEverything(t *testing.T) {
	var c codec
	var n int64
	for range 3 { // words are new, and known
		var e, back models.Entry
		fillAll(reflect.ValueOf(&e).Elem(), &n)
		e.Kind, e.Status = "a kind", "a status"
		at, place := place{3, 1 << 40}, place{}
		if err := c.entry(string(c.appendEntry(nil, &e, at)), &back, &place); err != nil || !reflect.DeepEqual(back, e) || place != at {
			t.Errorf("entry %+v\nback  %+v\n%v, %v", e, back, place, err)
		}
		l, other := local{kind: "k", id: "i", providerID: "p", parent: "a", money: models.Money{Minor: -7, Currency: "JPY"}, status: "s", outcome: "o"}, local{}
		if fields := reflect.TypeFor[local]().NumField(); fields != 8 {
			t.Errorf("a row of the book has %d fields: the codec knows 7, and leaves out whether it is cloned", fields)
		}
		if err := c.local(string(c.appendLocal(nil, &l)), &other); err != nil || other != l {
			t.Errorf("row %+v, back %+v, %v", l, other, err)
		}
	}
}

// TestCodecOfDamage: a row that was cut or changed on the disk is an error, never another row.
func TestCodecOfDamage(t *testing.T) {
	var c codec
	var n int64
	var e models.Entry
	fillAll(reflect.ValueOf(&e).Elem(), &n)
	whole := string(c.appendEntry(nil, &e, place{}))
	for i := range len(whole) {
		var back models.Entry
		if err := c.entry(whole[:i], &back, &place{}); err == nil {
			t.Errorf("cut at byte %d of %d: no error", i, len(whole))
		}
	}
}

// TestEntriesAreKept: an entry that waits holds on to nothing of its file.
func TestEntriesAreKept(t *testing.T) {
	var e models.Entry
	var n int64
	fillAll(reflect.ValueOf(&e).Elem(), &n)
	h := newHeld(&e, place{})
	if !reflect.DeepEqual(h.Entry, e) {
		t.Errorf("kept as %+v, was %+v", h.Entry, e)
	}
	e.Aliases[0] = "changed"
	if h.Aliases[0] == "changed" {
		t.Error("the further names are still the reader's")
	}
}
