// Package crosscheck holds our verifiers against the providers' own libraries, so that one reading of a document is not the judge of
// itself. It is a module of its own: what it needs is needed by its tests alone.
package crosscheck
