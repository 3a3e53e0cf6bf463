package parse

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// ToleranceMax is the widest tolerance of a timestamp that a setting may ask for, in seconds: a day. Beyond it, most likely a
// misplaced zero, it protects against nothing.
const ToleranceMax = 24 * 60 * 60

// forPeople are the top-level keys that every account's settings may carry for people and tools; nobody reads them here.
var forPeople = []string{"comment", "provider", "path"}

// Settings reads an account's settings into dst, a pointer to a struct; a field without a json tag is no setting. It refuses
// what encoding/json lets pass: a key in another letter case, a key given twice, a key that dst does not have. Errors begin with
// the full path of the setting and tell no value, which may be a secret.
func Settings(raw json.RawMessage, dst any) error {
	doc, err := StrictJSON(raw)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	keys, ok := doc.v.(map[string]any)
	if !ok {
		return errors.New("settings: an object expected")
	}
	keys = maps.Clone(keys)
	for _, key := range forPeople {
		delete(keys, key)
	}
	if err := checkKeys("settings", keys, reflect.TypeOf(dst).Elem()); err != nil {
		return err
	}
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(raw, dst); errors.As(err, &wrong) {
		given, _, _ := strings.Cut(wrong.Value, " ") // behind the blank stands the value
		return fmt.Errorf("settings.%s: %s expected, not %s", wrong.Field, wrong.Type, given)
	} else if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	return nil
}

// checkKeys walks value and the type it is read into side by side. What does not fit the type is left to encoding/json.
func checkKeys(path string, value any, into reflect.Type) error {
	switch kind := into.Kind(); v := value.(type) {
	case map[string]any:
		switch kind {
		case reflect.Pointer:
			return checkKeys(path, value, into.Elem())
		case reflect.Struct:
			return checkFields(path, v, into)
		case reflect.Map:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if err := checkKeys(path+"."+key, v[key], into.Elem()); err != nil {
					return err
				}
			}
		}
	case []any:
		if kind != reflect.Slice {
			return nil
		}
		for i, item := range v {
			if err := checkKeys(fmt.Sprintf("%s[%d]", path, i), item, into.Elem()); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkFields(path string, keys map[string]any, into reflect.Type) error {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(into) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		field, known := fields[key]
		if !known {
			all := slices.Sorted(maps.Keys(fields))
			return fmt.Errorf("%s.%s: unknown key; the keys here are %s", path, clip(key), strings.Join(all, ", "))
		}
		if err := checkKeys(path+"."+key, keys[key], field); err != nil {
			return err
		}
	}
	return nil
}

// Visible is true for text that shows at least one character. A secret without one (blanks, controls, a zero-width space) is an
// empty field that does not look empty.
func Visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		blank := r == ' ' || r == '\u2800' // the Braille pattern without a dot counts as a symbol
		return unicode.IsPrint(r) && !blank && !unicode.IsMark(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	})
}
