package models

// Step is one check of a callback's verification, or one thing found on the way to it, for a person who wants to know why a
// callback is refused. It holds no secret, and of a signature no more than its beginning.
type Step struct {
	Name   string `json:"step"`   // signature, timestamp, key, signed text, …
	OK     bool   `json:"ok"`     // false: refused for this, or would be
	Value  string `json:"value"`  // what the callback has
	Detail string `json:"detail"` // what was expected, and by which key
}
