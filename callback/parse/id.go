package parse

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IDMax is how many bytes of an identifier the book keeps.
const IDMax = 255

// CheckID holds a number that a shop chose against what can be kept and found again: visible text of at most IDMax bytes. Blanks in it
// are the shop's own business: a payment must not be lost for them. The error says what is wrong, to stand behind the field's name:
// `is missing, empty or no text`, `"a\x00" holds a control character`.
func CheckID(id string) error {
	switch {
	case id == "":
		return errors.New("is missing, empty or no text")
	case len(id) > IDMax:
		return fmt.Errorf("has %d bytes, at most %d are kept", len(id), IDMax)
	case !utf8.ValidString(id) || strings.ContainsRune(id, unicode.ReplacementChar):
		return fmt.Errorf("%q holds bytes that are no text", id)
	case strings.ContainsFunc(id, unicode.IsControl):
		return fmt.Errorf("%q holds a control character", id)
	case !Visible(id):
		return fmt.Errorf("%q shows no character", id)
	}
	return nil
}

// CheckOwnID holds an id that a provider made against its own rules: as CheckID, but without blanks and of at most limit bytes.
func CheckOwnID(id string, limit int) error {
	err := CheckID(id)
	switch {
	case id != "" && len(id) > limit:
		return fmt.Errorf("has %d bytes, an id of the provider has at most %d", len(id), limit)
	case err == nil && strings.ContainsFunc(id, unicode.IsSpace):
		return fmt.Errorf("%q holds a blank", id)
	}
	return err
}
