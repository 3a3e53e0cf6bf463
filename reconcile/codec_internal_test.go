package reconcile

import (
	"reflect"
	"testing"
	"time"

	"paybook/models"
)

// What goes by way of the disk comes back whole, every field of it: a new one that is forgotten here would be lost on large days only.
func TestCodecKeepsEveryField(t *testing.T) {
	var e models.Entry
	fill := reflect.ValueOf(&e).Elem()
	for i := range fill.NumField() {
		switch f := fill.Field(i); f.Interface().(type) {
		case models.Money:
			f.Set(reflect.ValueOf(models.Money{Minor: int64(-100 - i), Currency: "CN" + string(rune('A'+i))}))
		case []string:
			f.Set(reflect.ValueOf([]string{"one", ""}))
		case time.Time:
			f.Set(reflect.ValueOf(time.Date(2026, 11, 29, 23, 59, 59, 7, time.UTC)))
		default:
			switch f.Kind() {
			case reflect.String:
				f.SetString("text" + string(rune('A'+i)))
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Int:
				f.SetInt(int64(i + 1))
			default:
				t.Fatalf("%s: of a kind this test does not fill", fill.Type().Field(i).Name)
			}
		}
	}
	var c codec
	var back models.Entry
	var at place
	row := c.appendEntry(nil, &e, place{3, 1 << 40})
	if err := c.entry(string(row), &back, &at); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(e, back) || at != (place{3, 1 << 40}) {
		t.Errorf("%+v at %+v\nwas %+v", back, at, e)
	}
}
